import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IndexProgress } from '../index.ts';
import { createProgress, type Progress } from './progress.ts';

const CHANNEL = 'salience:index';

/** Shows progress while an index must be built. Returns a function that stops this. */
export function showIndexProgress(
  stream: Parameters<typeof createProgress>[1],
  clock?: () => number,
): () => void {
  let progress: Progress | undefined;
  const show = (message: unknown) => {
    const { done, total } = message as IndexProgress;
    progress ??= createProgress('building the index', stream, clock);
    progress.update(done, done / total);
    if (done < total) return;
    progress.finish();
    progress = undefined;
  };
  subscribe(CHANNEL, show);
  return () => {
    unsubscribe(CHANNEL, show);
    progress?.finish();
  };
}
