import { createHash } from 'node:crypto';
import { invalidArgument, text, wholeNumber } from '../../domain/check.ts';
import { formatInstant } from '../../domain/time.ts';
import type { ActivityPart, ActivityPlace, StampedPlace } from '../../store/activity.ts';
import type { MemoryEvent, Usage, Verb } from '../../store/store.ts';
import { type Dependencies, limitOf } from '../dependencies.ts';
import type { OperationOptions } from '../types.ts';

export interface ActivityOptions extends Pick<OperationOptions, 'signal'> {
  /** Milliseconds to wait for an entry, at most 60,000. Default is 0. */
  readonly wait?: number | undefined;
  /** 1–1,000. Default is 100. */
  readonly limit?: number | undefined;
}

/** A page of what happened in a space. */
export interface Activity {
  /** In the order in which it happened. Empty if nothing happened, or not in time. */
  readonly entries: readonly (WriteActivity | UseActivity)[];
  /** Pass this to the next call to continue. */
  readonly position: string;
}

/** Memories were written. A large operation may be split into several consecutive entries. */
export interface WriteActivity {
  readonly kind: 'write';
  readonly at: string;
  /** The number of the operation, for `undo`. */
  readonly operation: number;
  readonly verb: Verb;
  /** The ids of the memories that were written or linked; empty for a change of settings. */
  readonly ids: readonly string[];
  readonly run?: string | undefined;
  /** For an undo: the operation that it reverted. */
  readonly undoes?: number | undefined;
}

/** Memories were used, and the use was written. */
export interface UseActivity {
  readonly kind: 'use';
  readonly at: string;
  /** The strategy of the recall. */
  readonly strategy: string;
  /** What the use changed. */
  readonly effect: Usage['effect'];
  /** The ids of the memories that it returned, in order, without those that were forgotten since. */
  readonly ids: readonly string[];
  readonly sessionId?: string | undefined;
}

/** The longest wait, in milliseconds. */
export const LONGEST_WAIT = 60_000;

/**
 * Returns what happened after a position, by any process. Throws `invalid_argument` for a position of another space, or
 * of this one before it was deleted and made again, or restored.
 */
export async function activity(
  { space, watch }: Dependencies,
  after = 'start',
  { wait = 0, limit, signal }: ActivityOptions = {},
): Promise<Activity> {
  wholeNumber(wait, 'wait', 0, LONGEST_WAIT);
  const most = limitOf(limit, 100, 1000);
  const positionOf = (place: StampedPlace) => `${place.sequence}.${place.usage}.${markOf(space.name, place)}`;
  // An empty string is reported as an unknown position.
  let position = after === '' ? after : text(after, 'after');
  const found = await watch.until(
    async () => {
      const place = placeFrom(position);
      const part = await space.activity(place, most);
      if (!WORDS.includes(position) && positionOf(part.from) !== position) throw unknownPosition(position);
      position = positionOf(part.place);
      return part.entries.length > 0 ? part : undefined;
    },
    wait,
    signal,
  );
  return { entries: entriesOf(found?.entries ?? []), position };
}

/** The named positions: before the first entry, and after the last. */
const WORDS: readonly string[] = ['start', 'end'];

/** Returns a mark for a place in the logs of this space. */
function markOf(space: string, { stamp }: StampedPlace): string {
  return createHash('sha256')
    .update(JSON.stringify([space, stamp]))
    .digest('hex')
    .slice(0, 8);
}

/** Returns the place of a position; `undefined` for `end`. */
function placeFrom(position: string): ActivityPlace | undefined {
  if (position === 'end') return undefined;
  if (position === 'start') return { sequence: 0, usage: 0 };
  const [, sequence, usage] = /^(\d{1,15})\.(\d{1,15})\.[0-9a-f]{8}$/.exec(position) ?? [];
  if (sequence === undefined) throw unknownPosition(position);
  return { sequence: Number(sequence), usage: Number(usage) };
}

function unknownPosition(position: string) {
  return invalidArgument(
    'after',
    `${JSON.stringify(position.slice(0, 60))} is not a valid position of this space: give one that activity returned, or go on from "start" or "end" if the space was deleted or restored since`,
  );
}

function entriesOf(entries: ActivityPart['entries']): Activity['entries'] {
  const told: (WriteActivity | UseActivity)[] = [];
  for (const entry of entries) {
    const last = told.at(-1);
    if ('used' in entry) told.push(useOf(entry));
    else if (last?.kind === 'write' && last.operation === entry.operation) {
      told[told.length - 1] = { ...last, ids: [...new Set([...last.ids, ...idsOf(entry)])] };
    } else told.push(writeOf(entry));
  }
  return told;
}

function writeOf(event: MemoryEvent): WriteActivity {
  const { at, operation, verb, run, undoes } = event;
  return {
    kind: 'write',
    at: formatInstant(at),
    operation,
    verb,
    ids: idsOf(event),
    ...(run === undefined ? {} : { run }),
    ...(undoes === undefined ? {} : { undoes }),
  };
}

function idsOf({ memoryId, link, settings }: MemoryEvent): readonly string[] {
  return settings ? [] : (link?.link.ids ?? [memoryId]);
}

function useOf({ at, strategy, effect, used, sessionId }: Usage): UseActivity {
  return {
    kind: 'use',
    at: formatInstant(at),
    strategy,
    effect,
    ids: used.map(({ id }) => id),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}
