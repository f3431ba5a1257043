import { availableParallelism } from 'node:os';
import type { Dataset } from '../eval/index.ts';

/** A thread has spaces of its own, so that more threads than spaces would have nothing to do. */
export function jobsFor(datasets: readonly Dataset[], jobs: number | undefined): number {
  const most = Math.max(1, ...datasets.map(({ spaces }) => spaces.size));
  return Math.min(most, jobs ?? Math.min(4, availableParallelism()));
}
