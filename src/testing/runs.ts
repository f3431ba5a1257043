const SCALE = Number(process.env['SALIENCE_RUNS'] ?? 1);

/** Returns the number of cases of a long property test. `SALIENCE_RUNS=10` draws ten times as many as usual, `0.25` a quarter. */
export const scaledRuns = (usual: number): number => Math.max(1, Math.ceil(usual * SCALE));
