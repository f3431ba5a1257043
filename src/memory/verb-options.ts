import { throwIfAborted } from '../model/errors.ts';
import { CREATE_FIELDS } from '../model/fields.ts';
import { type KeyOf, keysOf, onlyKeys } from '../model/options.ts';
import type { MemoryEngine } from './memory-engine.ts';
import type { AsOf, FilterOptions, OperationOptions } from './types.ts';

/** What can be asked of a memory: every asynchronous method but `close`. */
export type EngineVerb = Exclude<
  {
    [Name in keyof MemoryEngine]: MemoryEngine[Name] extends (...given: never[]) => Promise<unknown>
      ? Name
      : never;
  }[keyof MemoryEngine],
  'close' | typeof Symbol.asyncDispose
>;

type Given<Verb extends EngineVerb> = Required<Parameters<MemoryEngine[Verb]>>;
/** The options of a verb: its last parameter. */
type OptionsOf<Verb extends EngineVerb> =
  Given<Verb> extends readonly [...unknown[], infer Last] ? NonNullable<Last> : never;
type PositionOf<Verb extends EngineVerb> =
  Given<Verb> extends readonly [...infer Before, unknown] ? Before['length'] : never;

interface VerbOptions {
  /** Which argument they are, from 0. */
  readonly at: number;
  readonly names: readonly string[];
}

function optionsOf<Verb extends EngineVerb>(at: PositionOf<Verb> & number) {
  return <Names extends Readonly<Record<KeyOf<OptionsOf<Verb>>, true>>>(
    names: Names & Readonly<Record<Exclude<keyof Names, KeyOf<OptionsOf<Verb>>>, never>>,
  ): VerbOptions => ({ at, names: Object.keys(names) });
}

const signal = { signal: true } as const satisfies Partial<Record<keyof OperationOptions, true>>;
const operation = { ...signal, now: true } as const satisfies Record<keyof OperationOptions, true>;
const filter = {
  scope: true,
  inScope: true,
  types: true,
  typesExclude: true,
  tags: true,
  metadata: true,
} as const satisfies Record<keyof FilterOptions, true>;
const batch = { ...operation, progress: true } as const;
const recall = {
  ...operation,
  ...filter,
  strategy: true,
  limit: true,
  minScore: true,
  parameters: true,
  sessionId: true,
  effects: true,
  deep: true,
  includeExpired: true,
  deepRecallPenalty: true,
  association: true,
  rerank: true,
  kRerank: true,
  asOf: true,
} as const;
const { limit: _, ...recalled } = recall;
const standing = { ...operation, scope: true, maxTokens: true, format: true, packing: true } as const;
const session = { ...operation, scope: true } as const;

/**
 * The options of every verb. The compiler holds them against the signatures of {@link MemoryEngine}: a name that is
 * missing here, one that the verb does not take, and a verb without an entry do not compile.
 */
export const VERB_OPTIONS: { readonly [Verb in EngineVerb]: VerbOptions } = {
  remember: {
    at: 1,
    names: [...Object.keys(operation), ...CREATE_FIELDS.filter((name) => name !== 'content'), 'ttl'],
  },
  rememberMany: optionsOf<'rememberMany'>(1)(batch),
  observe: optionsOf<'observe'>(1)({
    ...operation,
    scope: true,
    sessionId: true,
    tags: true,
    metadata: true,
    onFailure: true,
    minImportance: true,
    batchSize: true,
    concurrency: true,
    contextMessages: true,
    maxOutputTokens: true,
  }),
  recall: optionsOf<'recall'>(1)(recall),
  context: optionsOf<'context'>(1)({
    ...recalled,
    maxTokens: true,
    window: true,
    format: true,
    sections: true,
    shares: true,
    packing: true,
    objective: true,
    candidates: true,
    maxContextItems: true,
    mustInclude: true,
    exceptSession: true,
    duplicates: true,
  }),
  bootstrap: optionsOf<'bootstrap'>(0)(standing),
  pinned: optionsOf<'pinned'>(0)(standing),
  get: optionsOf<'get'>(1)({ ...operation, scope: true, asOf: true }),
  list: optionsOf<'list'>(0)({ ...operation, ...filter, limit: true, order: true, cursor: true, asOf: true }),
  update: optionsOf<'update'>(2)(operation),
  setImportance: optionsOf<'setImportance'>(2)(operation),
  feedback: optionsOf<'feedback'>(2)({ ...operation, voter: true }),
  markUsed: optionsOf<'markUsed'>(1)({ ...operation, sessionId: true, effect: true }),
  forget: optionsOf<'forget'>(1)({ ...operation, dryRun: true, limit: true }),
  undo: optionsOf<'undo'>(1)(operation),
  invalidate: optionsOf<'invalidate'>(2)(operation),
  revive: optionsOf<'revive'>(1)(operation),
  conflicts: optionsOf<'conflicts'>(1)(signal),
  resolve: optionsOf<'resolve'>(2)(operation),
  history: optionsOf<'history'>(1)(signal),
  beliefs: optionsOf<'beliefs'>(1)(session),
  startSession: optionsOf<'startSession'>(0)(session),
  currentSession: optionsOf<'currentSession'>(0)({ ...operation, renew: true }),
  endSession: optionsOf<'endSession'>(1)(operation),
  saveSummary: optionsOf<'saveSummary'>(1)(session),
  timeline: optionsOf<'timeline'>(1)(signal),
  links: optionsOf<'links'>(1)(operation),
  link: optionsOf<'link'>(2)({ ...operation, weight: true }),
  unlink: optionsOf<'unlink'>(2)({ ...operation, kinds: true }),
  configure: optionsOf<'configure'>(0)({ ...operation, fading: true, timeZone: true }),
  maintain: optionsOf<'maintain'>(0)({
    ...batch,
    dryRun: true,
    fade: true,
    run: true,
    consolidate: true,
    judge: true,
    maxPairs: true,
  }),
  curate: optionsOf<'curate'>(0)({
    ...operation,
    dryRun: true,
    judge: true,
    maxPairs: true,
    run: true,
    actions: true,
  }),
  stats: optionsOf<'stats'>(0)(signal),
  explain: optionsOf<'explain'>(2)(recall),
  whyNot: optionsOf<'whyNot'>(2)(recall),
  restore: optionsOf<'restore'>(1)(batch),
  reindex: optionsOf<'reindex'>(0)(batch),
  backup: optionsOf<'backup'>(1)(signal),
  check: optionsOf<'check'>(0)(signal),
};

/** The names of a moment to look back to. */
export const AS_OF = keysOf<AsOf>()({ known: true, valid: true });

type Run = (...given: readonly unknown[]) => Promise<unknown>;

/**
 * The same verbs; each refuses options that it does not have with `invalid_argument`, and does not begin when its
 * signal is aborted.
 */
export function withKnownOptions(memory: MemoryEngine): MemoryEngine {
  const checked = Object.entries(VERB_OPTIONS).map(([verb, { at, names }]) => {
    const run = memory[verb as EngineVerb] as Run;
    const checking: Run = async (...given) => {
      const options = given[at];
      if (options !== undefined) onlyKeys(options, names, verb);
      throwIfAborted((options as OperationOptions | undefined)?.signal);
      return run(...given);
    };
    return [verb, checking];
  });
  return { ...memory, ...Object.fromEntries(checked) };
}
