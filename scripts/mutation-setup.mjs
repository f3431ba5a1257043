import fc from 'fast-check';

// A fixed seed, because the drawn values must not decide which mutants are detected. Shrinking would be wasted time.
fc.configureGlobal({
  seed: Number(process.env.MUTATION_SEED),
  numRuns: Number(process.env.MUTATION_RUNS),
  endOnFailure: true,
});
