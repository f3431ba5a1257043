import { invalidArgument, text, wholeNumber } from '../../domain/check.ts';
import { describe } from '../../domain/describe.ts';
import { SalienceError } from '../../domain/errors.ts';
import { formatInstant, type Instant } from '../../domain/time.ts';
import type { RecordedHit, Recording } from '../../store/recording.ts';
import type { PastSpace, SearchRequest } from '../../store/store.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Memory, OperationOptions } from '../types.ts';
import { deriveTexts } from '../write/derive.ts';
import { type ContextOptions, context } from './context.ts';
import { memoriesAmong, recall } from './recall.ts';
import { type Circumstances, keepOf, vectorHashOf, watchSearches } from './recording.ts';
import type { Arm, Trace } from './trace.ts';

export interface RecallsOptions extends Pick<OperationOptions, 'signal'> {
  /** 1–1,000. Default is 20. */
  readonly limit?: number | undefined;
  /** Only recalls before this one: pass the last `recallId` of the previous page. */
  readonly before?: string | undefined;
  readonly strategy?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** A recall that was recorded. */
export interface RecordedRecall {
  readonly recallId: string;
  readonly verb: 'recall' | 'context';
  /** When it was recorded. */
  readonly at: string;
  /** The time for which it was computed. */
  readonly now: string;
  readonly strategy: string;
  /** The hash of the formula and its parameters. */
  readonly profileHash: string;
  readonly sessionId?: string | undefined;
  /** The name of the token that asked a server; absent where a program asked the library. */
  readonly caller?: string | undefined;
  /** Absent if there was none, its text was not recorded, or it is redacted. */
  readonly query?: string | undefined;
  /** The first 64 bits of its SHA-256, in hexadecimal digits; absent if there was none, or it is redacted. */
  readonly queryHash?: string | undefined;
  /** How many distinct terms the query has. */
  readonly terms?: number | undefined;
  /** The options of the caller. */
  readonly options: Readonly<Record<string, unknown>>;
  /**
   * The memories that it returned, or that were in the context, in order. Without relations and without memories that
   * were forgotten since.
   */
  readonly hits: readonly RecordedHit[];
  /** The sequence of the last write that it took into account; `usage` is that of the last use. */
  readonly sequence: number;
  readonly usage: number;
  readonly completeness: Trace['completeness'];
  readonly arms: readonly Arm[];
  readonly durationMs: number;
  /** Whether a memory that it returned or named was forgotten since. Its query and options were erased then. */
  readonly redacted: boolean;
}

/** Why a replay may give another answer. */
export type ReplayReason =
  | 'forgotten'
  | 'reranked'
  | 'profile'
  | 'embedder'
  | 'analyzer'
  | 'arms'
  | 'pairs'
  | 'texts'
  | 'moved'
  | 'unknown';

/** The result of repeating a recorded recall. */
export interface Replay {
  readonly recallId: string;
  /** Whether it returned the same memories in the same order, with the same scores to the bit. */
  readonly equal: boolean;
  /** Everything that may explain a difference; empty if it is equal. */
  readonly reasons: readonly { readonly reason: ReplayReason; readonly message: string }[];
  readonly recorded: readonly RecordedHit[];
  /** The memories that it returns now, in the space as it was then; without relations, as in the recording. */
  readonly hits: readonly { readonly memory: Memory; readonly score: number }[];
}

/** Lists the recalls that were recorded, newest first. Throws `invalid_argument`. */
export async function recalls(
  engine: Dependencies,
  options: RecallsOptions = {},
): Promise<readonly RecordedRecall[]> {
  const { before, strategy, sessionId } = options;
  const limit = wholeNumber(options.limit ?? 20, 'limit', 1, 1000);
  const found = await engine.space.recordings({
    limit,
    before: before === undefined ? undefined : sequenceOf(before, 'before'),
    strategy: strategy === undefined ? undefined : text(strategy, 'strategy'),
    sessionId: sessionId === undefined ? undefined : text(sessionId, 'sessionId'),
    since: await sinceOf(engine),
  });
  return found.map(recordedRecall);
}

/**
 * Repeats a recall in the space as it was then. Throws `not_found`, `redacted`, and `unsupported` if its query was not
 * recorded.
 */
export async function replay(
  engine: Dependencies,
  recallId: string,
  options: OperationOptions = {},
): Promise<Replay> {
  const sequence = sequenceOf(recallId, 'recallId');
  const since = await sinceOf(engine);
  const [recording] = await engine.space.recordings({ limit: 1, sequence, since });
  if (!recording) {
    throw new SalienceError(
      'not_found',
      `recall ${JSON.stringify(recallId)} is not recorded, or was removed; recalls lists the recorded ones`,
      { details: { recallId } },
    );
  }
  const details = circumstancesOf(recording);
  checkRepeatable(recording, details);
  const repeated = await repeat(engine, recording, details, options);
  const { hits } = repeated;
  const equal =
    hits.length === recording.hits.length &&
    hits.every(({ memory, score }, at) => {
      const then = recording.hits[at];
      return then?.id === memory.id && Object.is(then.score, score);
    });
  return {
    recallId,
    equal,
    reasons: equal ? [] : reasonsOf(details, repeated),
    recorded: recording.hits,
    hits,
  };
}

function checkRepeatable({ redacted, query, sequence }: Recording, { queryHash }: Circumstances): void {
  const details = { recallId: String(sequence) };
  if (redacted) {
    throw new SalienceError(
      'redacted',
      `recall ${sequence} cannot be replayed: a memory that it returned was forgotten since, and what was asked went with it`,
      { details },
    );
  }
  if (queryHash !== undefined && query === undefined) {
    throw new SalienceError(
      'unsupported',
      `recall ${sequence} cannot be replayed: its query was not recorded. Set texts to true in the setting recordRecalls (salience configure --record-texts): later recalls can then be replayed`,
      { details },
    );
  }
}

/** The answer of a repeated recall, and what may explain a difference. */
interface Repeated {
  readonly hits: Replay['hits'];
  readonly trace: Trace;
  readonly request: SearchRequest | undefined;
  readonly redacted: number;
  /** How many pairs waited to be judged; unknown if the recall itself looked back. */
  readonly waiting: number | undefined;
  /** How many texts were analysed again, because the memories have different texts now. */
  readonly derived: number;
  readonly model: string | undefined;
  readonly analyzer: string | undefined;
}

async function repeat(
  engine: Dependencies,
  { query, at }: Recording,
  { verb, options, now, place }: Circumstances,
  { signal }: OperationOptions,
): Promise<Repeated> {
  let derived = 0;
  let past: PastSpace | undefined;
  let request: SearchRequest | undefined;
  const watched = watchSearches((asked) => {
    request ??= asked;
  });
  const openPast = async (known: Instant | undefined): Promise<PastSpace> => {
    past = await engine.space.asKnown({ at: known, place: { ...place, at } }, async (memories) => {
      derived += memories.length;
      return deriveTexts(memories, engine, { signal });
    });
    const { snapshot } = past;
    return { ...past, snapshot: (work) => snapshot((read) => work(watched(read))) };
  };
  const { asOf, rerank: _, ...chosen } = options as ContextOptions;
  const looksBack = asOf?.known !== undefined;
  // A recall with `asOf.known` looks back again, from where it was.
  const space = looksBack
    ? { ...engine.space, asKnown: async (known: unknown) => openPast(known as Instant) }
    : await openPast(undefined);
  try {
    const then = { ...engine, space, readOnly: true };
    const given = { ...chosen, asOf, now: new Date(now), signal, track: false };
    const { hits, trace } = await (verb === 'recall'
      ? recall(then, query, given).then(({ hits, trace }) => ({ hits: memoriesAmong(hits), trace }))
      : context(then, query, given as ContextOptions).then(({ items, trace }) => ({ hits: items, trace })));
    const { embedding, analyzer } = await engine.space.derivation();
    return {
      hits: hits.map(({ memory, score }) => ({ memory, score: score.value })),
      trace,
      request,
      redacted: past?.redacted ?? 0,
      waiting: looksBack ? undefined : (await past?.place())?.waiting,
      derived,
      model: embedding?.model,
      analyzer,
    };
  } finally {
    await past?.close();
  }
}

function reasonsOf(then: Circumstances, now: Repeated): Replay['reasons'] {
  const { model, analyzer, vectorHash } = then;
  const vector = vectorHashOf(now.request);
  const arms = armsThatDiffer(then.arms, now.trace.arms);
  const found: Replay['reasons'][number][] = [];
  const say = (holds: boolean, reason: ReplayReason, message: string) => {
    if (holds) found.push({ reason, message });
  };
  say(
    now.redacted > 0,
    'forgotten',
    `${now.redacted} of the memories that were known then were forgotten since`,
  );
  say(
    then.options['rerank'] === true,
    'reranked',
    'a language model put the first hits in order; a replay asks none',
  );
  say(
    then.profileHash !== now.trace.profileHash,
    'profile',
    'the formula of the strategy, its parameters or the calibration of the embedder is another one now',
  );
  say(
    model !== now.model || (vectorHash !== vector && vectorHash !== undefined && vector !== undefined),
    'embedder',
    model === now.model
      ? 'the embedder gives the query another vector now'
      : `the vectors were those of ${model ?? 'no model'} then, and are those of ${now.model ?? 'no model'} now`,
  );
  say(
    analyzer !== now.analyzer,
    'analyzer',
    `the terms were those of ${analyzer ?? 'no analyzer'} then, and are those of ${now.analyzer ?? 'no analyzer'} now`,
  );
  say(arms.length > 0, 'arms', arms.join('; '));
  say(
    now.waiting !== undefined && now.waiting !== then.place.waiting,
    'pairs',
    'which pairs of memories waited to be judged cannot be told any more',
  );
  say(then.moved, 'moved', 'the space was written to while the recall was reading it');
  say(
    found.length === 0 && now.derived > 0,
    'texts',
    `${now.derived} memories have a different text now: their terms and vectors were recomputed, which may differ`,
  );
  if (found.length > 0) return found;
  return [
    {
      reason: 'unknown',
      message:
        'nothing that was recorded explains it: another version of this package, or other options of openMemory, such as its counter of tokens',
    },
  ];
}

function armsThatDiffer(then: readonly Arm[], now: readonly Arm[]): readonly string[] {
  return then.flatMap(({ name, status }) => {
    // A reranker is a reason of its own.
    const other = now.find((each) => each.name === name)?.status;
    return name === 'rerank' || other === status ? [] : [`${name}: ${status} then, ${other ?? 'absent'} now`];
  });
}

async function sinceOf(engine: Dependencies): Promise<Instant> {
  return keepOf(await engine.space.settings(), engine.clock()).since;
}

function sequenceOf(recallId: unknown, field: string): number {
  if (typeof recallId === 'string' && /^\d{1,15}$/.test(recallId)) return Number(recallId);
  throw invalidArgument(field, `${describe(recallId)} is none; recalls lists them`);
}

function circumstancesOf({ details }: Recording): Circumstances {
  return details as unknown as Circumstances;
}

function recordedRecall(recording: Recording): RecordedRecall {
  const { sequence, at, strategy, sessionId, query, hits, redacted } = recording;
  const { verb, now, place, profileHash, queryHash, terms, options, caller, completeness, arms, durationMs } =
    circumstancesOf(recording);
  return {
    recallId: String(sequence),
    verb,
    at: formatInstant(at),
    now: formatInstant(now),
    strategy,
    profileHash,
    sessionId,
    caller,
    query,
    queryHash,
    terms,
    options,
    hits,
    sequence: place.sequence,
    usage: place.usage,
    completeness,
    arms,
    durationMs,
    redacted,
  };
}
