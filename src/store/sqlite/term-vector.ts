/**
 * The terms of one memory as bytes: pairs of term id and count, each a varint (seven bits a byte, lowest first, the
 * high bit set on all but the last), by ascending id.
 */
export function encodeTermVector(pairs: readonly (readonly [id: number, count: number])[]): Uint8Array {
  const sorted = [...pairs].sort((a, b) => a[0] - b[0]);
  const bytes: number[] = [];
  for (const [id, count] of sorted) {
    pushVarint(bytes, id);
    pushVarint(bytes, count);
  }
  return Uint8Array.from(bytes);
}

/** Calls `visit` with each pair, in order. */
export function decodeTermVector(bytes: Uint8Array, visit: (id: number, count: number) => void): void {
  let position = 0;
  const next = () => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[position++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  };
  while (position < bytes.length) visit(next(), next());
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}
