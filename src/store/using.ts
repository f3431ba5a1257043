import { invalidArgument } from '../model/check.ts';
import type { MemoryRecord } from '../model/memory.ts';
import type { NewUsage, UseDecision } from './store.ts';

/** What a use may change of a memory. */
export const DYNAMICS = [
  'stability',
  'accessCount',
  'lastAccessedAt',
  'sessions',
  'tier',
  'core',
  'coldSince',
  'consolidatedAt',
] as const satisfies readonly (keyof MemoryRecord)[];

/** Throws `invalid_argument` for a memory that the usage does not name. */
export function checkUsed(usage: NewUsage, { memories }: UseDecision): void {
  const used = new Set(usage.used.map(({ id }) => id));
  for (const { id } of memories) {
    if (!used.has(id))
      throw invalidArgument('memories', `${JSON.stringify(id)} is changed by a use that does not name it`);
  }
}
