/** A node with the size of its label, all in one unit. */
export interface Labelled {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  /** The width of its label. */
  readonly width: number;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * Returns how far below the middle of its node the middle of each label stands. A label stands above its node, or else
 * below it. It is left out if it would cover another label or node in both places. Earlier nodes choose first, and the
 * first one always has its label.
 */
export function placeLabels(nodes: readonly Labelled[], height: number): ReadonlyMap<string, number> {
  const taken = boxes(4 * height);
  for (const { x, y, radius } of nodes) taken.add(around(x, y, radius, radius));
  const places = new Map<string, number>();
  for (const [index, { id, x, y, radius, width }] of nodes.entries()) {
    const away = radius + height / 2;
    const boxAt = (below: number) => around(x, y + below, width / 2, height / 2);
    const free =
      [-away, away].find((below) => !taken.covers(boxAt(below))) ?? (index === 0 ? -away : undefined);
    if (free === undefined) continue;
    taken.add(boxAt(free));
    places.set(id, free);
  }
  return places;
}

function around(x: number, y: number, halfWidth: number, halfHeight: number): Box {
  return { left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
}

/** A set of boxes that looks for overlaps only in nearby cells: a drawing may have 10,000 nodes. */
function boxes(cell: number) {
  const cells = new Map<string, Box[]>();
  const cellsOf = ({ left, right, top, bottom }: Box) => {
    const keys: string[] = [];
    for (let x = Math.floor(left / cell); x <= right / cell; x++) {
      for (let y = Math.floor(top / cell); y <= bottom / cell; y++) keys.push(`${x} ${y}`);
    }
    return keys;
  };
  return {
    add(box: Box) {
      for (const key of cellsOf(box)) {
        const inside = cells.get(key);
        if (inside) inside.push(box);
        else cells.set(key, [box]);
      }
    },
    covers: (box: Box) => cellsOf(box).some((key) => cells.get(key)?.some((each) => overlap(box, each))),
  };
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
