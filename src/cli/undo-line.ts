/** Says how to take back a run of `maintain` or `curate`. */
export function undoLine(run: string): string {
  return `to take it back: salience undo --run ${run}`;
}
