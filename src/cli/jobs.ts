import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';
import type { Dataset } from '../eval/index.ts';

/** Parses a number of threads, 1 to 64. */
export function parseJobs(value: string): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= 1 && number <= 64) return number;
  throw new InvalidArgumentError('It must be a whole number from 1 to 64.');
}

/** Returns the number of threads. Each thread evaluates whole spaces, so more threads than spaces would be idle. */
export function jobsFor(datasets: readonly Dataset[], jobs: number | undefined): number {
  const most = Math.max(1, ...datasets.map(({ spaces }) => spaces.size));
  return Math.min(most, jobs ?? Math.min(4, availableParallelism()));
}
