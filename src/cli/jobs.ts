import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';
import type { Dataset } from '../eval/index.ts';

/** Of as many threads as an engine of evaluations takes. */
export function parseJobs(value: string): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= 1 && number <= 64) return number;
  throw new InvalidArgumentError('It must be a whole number from 1 to 64.');
}

/** A thread has spaces of its own, so that more threads than spaces would have nothing to do. */
export function jobsFor(datasets: readonly Dataset[], jobs: number | undefined): number {
  const most = Math.max(1, ...datasets.map(({ spaces }) => spaces.size));
  return Math.min(most, jobs ?? Math.min(4, availableParallelism()));
}
