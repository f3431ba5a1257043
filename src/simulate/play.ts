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
  /** Called as simulated days pass. */
  readonly progress?: ((day: number, days: number) => void) | undefined;
}

/** The development of the watched memories of a script. The same script always gives exactly the same result. */
export interface Simulation {
  readonly start: string;
  readonly days: number;
  readonly recalls: number;
  readonly memories: readonly Development[];
}

/** The development of one memory over time. */
export interface Development {
  readonly id: string;
  readonly content: string;
  readonly type: string;
  /**
   * The id of an earlier memory with the same text or topic that it was stored as. It then has no development under its
   * own id. Default is its own id.
   */
  readonly storedAs?: string | undefined;
  /** Ordered by time. A moment that changes the retention has one sample before and one after. */
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
  /** Its strongest association with the current weight; absent while it has none. */
  readonly strongestLink?:
    | { readonly id: string; readonly kind: string; readonly weight: number }
    | undefined;
}

/** A change of state of a memory. `ended`: its validity ended; `forgotten`: it is no longer in the store. */
export interface LifeEvent {
  readonly day: number;
  readonly event: 'remembered' | 'core' | 'cold' | 'warm' | 'stub' | 'ended' | 'forgotten';
}

/**
 * Simulates a script on the real engine, with a separate store in a temporary directory and a clock that jumps from
 * moment to moment. Throws the errors of `remember` and `recall` with the place in the script; `aborted`.
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
      // Memories that maintenance creates get numbered ids, because random ids would make every run different.
      newId: () => `simulated-${++made}`,
    });
    const tracks = script.watch.map((id): Track => ({ id, samples: [], events: [] }));
    const storedAs = new Map<string, string>();
    let recalls = 0;
    for (const moment of scheduleOf(script)) {
      // An interrupt is handled only between turns of the event loop.
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

/** The observations of a memory so far. */
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

/** Records how a moment has changed a memory. */
function follow(
  track: Track,
  { day }: Moment,
  before: Snapshot | undefined,
  after: Snapshot | undefined,
): void {
  // A jump needs a sample on both sides.
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

/** Runs `work` and adds the place in the script to errors of the engine. */
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
