/** Says how to take back a run of `maintain` or `curate`. A space is named only if the command ran on several. */
export function undoLine(run: string, space?: string): string {
  return `to take it back: salience undo --run ${run}${space === undefined ? '' : ` --space ${JSON.stringify(space)}`}`;
}
