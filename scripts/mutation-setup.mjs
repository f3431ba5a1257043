import fc from 'fast-check';

// Which values are drawn must not decide what is killed; and nobody reads the smallest example.
fc.configureGlobal({
  seed: Number(process.env.MUTATION_SEED),
  numRuns: Number(process.env.MUTATION_RUNS),
  endOnFailure: true,
});
