/**
 * Returns a function that resolves colour tokens for a canvas, which supports neither custom properties nor
 * `light-dark()`.
 */
export function coloursOf(place: HTMLElement): (token: string) => string {
  const found = new Map<string, string>();
  return (token) => {
    const known = found.get(token);
    if (known !== undefined) return known;
    const probe = document.createElement('i');
    probe.style.color = `var(${token})`;
    place.append(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    found.set(token, colour);
    return colour;
  };
}
