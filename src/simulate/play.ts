import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { formatInstant, type Instant, parseInstant } from '../domain/time.ts';
import {
  type EmbedderChoice,
  type Memory,
  type MemoryEngine,
  type MemoryLink,
  openMemory,
} from '../index.ts';
import { retention } from '../scoring/index.ts';
import { type Action, type Moment, scheduleOf } from './schedule.ts';
import type { LifeScript } from './script.ts';

export interface SimulateOptions {
  /** Default is `builtin`. */
  readonly embedder?: EmbedderChoice | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called as days pass. */
  readonly progress?: ((day: number, days: number) => void) | undefined;
}

/** What became of the watched memories of a script. The same script gives the same, bit for bit. */
export interface Simulation {
  readonly start: string;
  readonly days: number;
  readonly recalls: number;
  readonly memories: readonly Development[];
}

/** One memory in the course of time. */
export interface Development {
  readonly id: string;
  readonly content: string;
  readonly type: string;
  /**
   * The id of an earlier memory that says the same or has its topic, where it was stored as that one. Then nothing
   * develops under its own id. Default is its own.
   */
  readonly storedAs?: string | undefined;
  /** In the order of time; at a moment that changes its retention, one before and one after. */
  readonly samples: readonly Sample[];
  readonly events: readonly LifeEvent[];
}

export interface Sample {
  readonly day: number;
  /** R, 0–1. */
  readonly retention: number;
  readonly stability: number;
  readonly tier: Memory['tier'];
  readonly core: boolean;
  readonly accessCount: number;
  /** What is left of its strongest association; absent while it has none. */
  readonly strongestLink?:
    | { readonly id: string; readonly kind: string; readonly weight: number }
    | undefined;
}

/** A turn in the life of a memory. `ended`: its validity; `forgotten`: it is in the store no longer. */
export interface LifeEvent {
  readonly day: number;
  readonly event: 'remembered' | 'core' | 'cold' | 'warm' | 'stub' | 'ended' | 'forgotten';
}

/**
 * Plays a script on the engine itself, in a store of its own in a temporary directory, with a clock that goes from
 * moment to moment. Throws what remembering and recalling throw, naming the place in the script; `aborted`.
 */
export async function simulateLife(script: LifeScript, options: SimulateOptions = {}): Promise<Simulation> {
  const directory = await mkdtemp(join(tmpdir(), 'salience-simulate-'));
  let now = script.start;
  let made = 0;
  try {
    await using memory = await openMemory({
      path: directory,
      space: 'simulation',
      fading: 'retention',
      embedder: options.embedder,
      synchronous: 'normal',
      clock: () => now,
      // What maintenance makes is named in its order: ids by chance would make every run another.
      newId: () => `simulated-${++made}`,
    });
    const tracks = script.watch.map((id): Track => ({ id, samples: [], events: [] }));
    const storedAs = new Map<string, string>();
    let recalls = 0;
    for (const moment of scheduleOf(script)) {
      // An interrupt is heard only between turns of the event loop.
      await setImmediate();
      throwIfAborted(options.signal);
      now = moment.at;
      const before = await snapshotsOf(memory, script.watch, now);
      for (const action of moment.actions) {
        await act(memory, action, script.consolidate, storedAs);
        if (action.kind === 'recall') recalls++;
      }
      const after = moment.actions.length === 0 ? before : await snapshotsOf(memory, script.watch, now);
      tracks.forEach((track, index) => void follow(track, moment, before[index], after[index]));
      options.progress?.(moment.day, script.days);
    }
    return {
      start: formatInstant(script.start),
      days: script.days,
      recalls,
      memories: tracks.map(({ id, memory: found, samples, events }) => ({
        id,
        content: found?.content ?? '',
        type: found?.type ?? '',
        ...(storedAs.has(id) && { storedAs: storedAs.get(id) }),
        samples,
        events,
      })),
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What has been seen of a memory so far. */
interface Track {
  readonly id: string;
  /** As it was when it was first seen. */
  memory?: Memory;
  last?: Snapshot | undefined;
  readonly samples: Sample[];
  readonly events: LifeEvent[];
}

interface Snapshot {
  readonly memory: Memory;
  readonly ended: boolean;
  readonly state: Omit<Sample, 'day'>;
}

async function snapshotsOf(
  engine: MemoryEngine,
  ids: readonly string[],
  now: Instant,
): Promise<readonly (Snapshot | undefined)[]> {
  const snapshots: (Snapshot | undefined)[] = [];
  for (const id of ids) {
    const memory = await engine.get(id);
    const [strongest] = memory ? await engine.links(id) : [];
    snapshots.push(memory && snapshotOf(memory, strongest, now));
  }
  return snapshots;
}

function snapshotOf(memory: Memory, strongest: MemoryLink | undefined, now: Instant): Snapshot {
  const { type, importance, stability, tier, core, createdAt, lastAccessedAt, accessCount, validUntil } =
    memory;
  const signals = { type, importance, stability, tier, core, createdAt, lastAccessedAt };
  const state = { retention: retention(signals, { now }), stability, tier, core, accessCount };
  const link = strongest && { id: strongest.id, kind: strongest.kind, weight: strongest.weight };
  return {
    memory,
    ended: validUntil !== undefined && parseInstant(validUntil) < now,
    state: link ? { ...state, strongestLink: link } : state,
  };
}

/** Notes what a moment has made of a memory. */
function follow(
  track: Track,
  { day }: Moment,
  before: Snapshot | undefined,
  after: Snapshot | undefined,
): void {
  // A jump is seen only where both its sides are known.
  if (before && before.state.retention !== after?.state.retention)
    track.samples.push({ day, ...before.state });
  if (after) {
    track.memory ??= after.memory;
    track.samples.push({ day, ...after.state });
  }
  for (const event of turnsOf(track.last, after)) track.events.push({ day, event });
  track.last = after;
}

function turnsOf(before: Snapshot | undefined, after: Snapshot | undefined): readonly LifeEvent['event'][] {
  if (!after) return before ? ['forgotten'] : [];
  if (!before) return ['remembered'];
  const turns: LifeEvent['event'][] = [];
  if (!before.ended && after.ended) turns.push('ended');
  if (!before.state.core && after.state.core) turns.push('core');
  if (before.state.tier !== after.state.tier) {
    turns.push(after.state.tier === 'hot' ? 'warm' : after.state.tier);
  }
  return turns;
}

async function act(
  engine: MemoryEngine,
  action: Action,
  consolidate: boolean,
  storedAs: Map<string, string>,
): Promise<void> {
  switch (action.kind) {
    case 'remember': {
      const { where, input } = action.memory;
      const [stored] = await inScript(where, () => engine.rememberMany([input]));
      if (stored && stored.id !== input.id) storedAs.set(input.id, stored.id);
      return;
    }
    case 'recall': {
      const { where, query, strategy, limit, types } = action.recall;
      const options = { strategy, limit, types, sessionId: action.session };
      await inScript(where, () => engine.recall(query, options));
      return;
    }
    case 'maintain':
      await engine.maintain({ consolidate });
  }
}

/** An error of the engine about something that the script says names its place in the script. */
async function inScript<Result>(where: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!SalienceError.isInstance(cause)) throw cause;
    const { field } = cause.details;
    const known = typeof field === 'string' && cause.message.startsWith(`${field}: `);
    throw new SalienceError(cause.code, `${where}${known ? '.' : ': '}${cause.message}`, {
      details: { ...cause.details, field: known ? `${where}.${field}` : where },
      cause,
    });
  }
}
