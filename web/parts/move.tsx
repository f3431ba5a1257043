/** Shows how far a memory moved between two rankings. `from` and `to` are positions from 0; -1 means not ranked. */
export function Move({ from, to }: { readonly from: number | undefined; readonly to: number }) {
  if (from === -1) return <span class="tag good">new</span>;
  if (to === -1) return <span class="tag warn">gone</span>;
  if (from === undefined || from === to) return <span />;
  return <span class="tag">{from > to ? `↑ ${from - to}` : `↓ ${to - from}`}</span>;
}
