import type { MaintenanceReport } from '../index.ts';

/** Says how to take back a run of `maintain` or `curate`. */
export function undoLine(run: string): string {
  return `to take it back: salience undo --run ${run}`;
}

/** Whether the newer memory of a judged pair now supersedes the older one. */
export function isSuperseding({ verdict }: MaintenanceReport['judged'][number]): boolean {
  return verdict === 'CONTRADICTION' || verdict === 'UPDATE';
}
