import type * as Fills from '../search/fill.ts';
import type { Fill } from '../search/fill.ts';

/** How many rows each fill gave since the last {@link clearLooked}: of those without shortcuts, and of the others. */
export const looked: { readonly listed: number[]; readonly picked: number[] } = { listed: [], picked: [] };

export function clearLooked(): void {
  looked.listed.length = 0;
  looked.picked.length = 0;
}

/**
 * Returns `fill.ts` with fills that count. Use it in
 * `vi.mock('./fill.ts', async (original) => (await import('../testing/looked-rows.ts')).counting(await original()))`.
 */
export function counting(fills: typeof Fills): typeof Fills {
  const counted = <Arguments extends readonly unknown[]>(
    counts: number[],
    make: (...given: Arguments) => Fill,
  ) => {
    return (...given: Arguments): Fill => {
      const fill = make(...given);
      const place = counts.push(0) - 1;
      return (block, most) => {
        const before = block.count;
        const isMore = fill(block, most);
        counts[place]! += block.count - before;
        return isMore;
      };
    };
  };
  return {
    ...fills,
    picked: counted(looked.picked, fills.picked),
    listed: counted(looked.listed, fills.listed),
  };
}
