const SCALE = Number(process.env['SALIENCE_RUNS'] ?? 0.25);

/** Returns the number of cases of a long property test: a quarter of those of CI, unless `SALIENCE_RUNS` is another share of them. */
export const scaledRuns = (inCi: number): number => Math.max(1, Math.ceil(inCi * SCALE));
