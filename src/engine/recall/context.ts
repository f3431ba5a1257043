import { type ContextBudget, contextTokens, missingBudget } from '../../context/budget.ts';
import { type ContextOptions as BuildOptions, type BuiltContext, buildContext } from '../../context/build.ts';
import type { ContextCandidate } from '../../context/candidate.ts';
import { explainOmission, type Omission } from '../../context/omission.ts';
import { PACK_STRATEGIES, type PackObjective, type PackStrategy } from '../../context/pack.ts';
import {
  BOOTSTRAP,
  chooseSections,
  PINNED,
  type Section,
  type SessionContext,
} from '../../context/sections.ts';
import { number, oneOf, text, texts, wholeNumber } from '../../domain/check.ts';
import { unknownStrategy } from '../../domain/options.ts';
import { visibleScopes } from '../../domain/scope.ts';
import { parseInstant } from '../../domain/time.ts';
import { unlessAborted } from '../../providers/waiting.ts';
import { makeScore, type Score } from '../../scoring/comparable.ts';
import { type Profile, resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { PastSpace } from '../../store/store.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import type { Memory, OperationOptions, RecallOptions } from '../types.ts';
import { toMemory } from '../write/record.ts';
import type { Hit } from './hit.ts';
import { type Nothing, nothingAmong, nothingBut } from './nothing.ts';
import { asKnown } from './past.ts';
import {
  applyEffects,
  noteShown,
  type PreparedRecall,
  prepareRecall,
  type Recall,
  recall,
  recallPrepared,
} from './recall.ts';
import { recorded } from './recording.ts';
import { strategyOf } from './strategy.ts';
import { stage, type Trace } from './trace.ts';

/** The default number of candidates for a context. */
const CANDIDATES = 100;
const MOST_CANDIDATES = 1000;

export type ContextOptions<StrategyName extends string = string> = Omit<
  RecallOptions<StrategyName>,
  'limit' | 'include'
> &
  ContextBudget &
  Omit<BuildOptions, 'strategy' | 'maxItems' | 'objective' | 'shares'> & {
    /**
     * `guaranteed`: if not everything fits, each section has its share. `none`: only the query decides, and sections
     * just order the result. Default is `none` with a query, `guaranteed` without one.
     */
    readonly shares?: BuildOptions['shares'];
    /** How to choose what fits: the best choice by `objective`, or by rank. Default is `optimal`. */
    readonly packing?: PackStrategy | undefined;
    /**
     * What the optimal choice maximises: `evidence` (default) values a memory by how likely it contains the answer,
     * `score` by its plain score.
     */
    readonly objective?: PackObjective | undefined;
    /**
     * How many hits to choose from, 1–1,000. Default is 100, or `maxContextItems` if that is more. With guaranteed
     * shares, each section adds its best hits that are not among these: at most this number divided by the number of
     * sections.
     */
    readonly candidates?: number | undefined;
    /** Most memories in the context, 1–1,000. Default is that of the strategy: 20 with `balanced`, else no limit. */
    readonly maxContextItems?: number | undefined;
    /**
     * A session whose memories are left out: usually the current one, if the prompt contains the conversation itself.
     * Default is none.
     */
    readonly exceptSession?: string | undefined;
    /** Ids of memories that are included before all others, whatever the query. */
    readonly mustInclude?: readonly string[] | undefined;
  };

export interface SessionContextOptions extends OperationOptions {
  /** Default is every scope. */
  readonly scope?: string | undefined;
  /** Default is 30,000 at the start of a session, 5,000 on every turn. */
  readonly maxTokens?: number | undefined;
  readonly format?: BuildOptions['format'];
  readonly packing?: PackStrategy | undefined;
  /**
   * Whether to record, in a space whose memories fade, that they were shown. With `false` nothing is written. Default
   * is true.
   */
  readonly track?: boolean | undefined;
}

/** Text for a prompt, with the memories in it and why others were left out. */
export interface Context<StrategyName extends string = string>
  extends Omit<BuiltContext, 'items' | 'omitted'> {
  readonly items: readonly (Omit<BuiltContext['items'][number], 'score'> & {
    readonly memory: Memory;
    readonly score: Score<StrategyName>;
  })[];
  /** The memories that were left out, each with a reason code and a sentence. */
  readonly omitted: readonly (Omission & { readonly message: string })[];
  /** Why nothing was found to include; absent if something was. */
  readonly nothing?: Nothing | undefined;
  readonly trace: Trace;
}

/**
 * Recalls, packs what fits into a token budget, and renders it as fenced data. Without a query the strategy is
 * `ambient`. A strategy that learns from use learns only from the memories in the context.
 */
export async function context<StrategyName extends string>(
  engine: Dependencies,
  query: string | undefined,
  options: ContextOptions<StrategyName> | undefined,
): Promise<Context<StrategyName>> {
  if (options === undefined) throw missingBudget();
  return recorded<Context<StrategyName>>(
    engine,
    options,
    {
      verb: 'context',
      query,
      hitsOf: ({ items }) => items.map(({ id, score }) => ({ id, score: score.value })),
    },
    (reading) =>
      asKnown(reading, options, (engineAsOf, rest, past) => contextAsOf(engineAsOf, query, rest, past)),
  );
}

/** Builds the context for the start of a session, best first by `ambient`. */
export async function bootstrap(
  engine: Dependencies,
  options: SessionContextOptions = {},
): Promise<Context<'ambient'>> {
  return sessionContext(engine, BOOTSTRAP, options);
}

/** Builds the context for every turn of an agent. */
export async function pinned(
  engine: Dependencies,
  options: SessionContextOptions = {},
): Promise<Context<'ambient'>> {
  return sessionContext(engine, PINNED, options);
}

async function contextAsOf<StrategyName extends string>(
  engine: Dependencies,
  query: string | undefined,
  options: ContextOptions<StrategyName>,
  past: PastSpace | undefined,
): Promise<Context<StrategyName>> {
  const { packing, objective, candidates, maxContextItems, mustInclude, exceptSession, ...others } = options;
  const { format, sections, shares, ...rest } = others;
  const { duplicates, minScore, maxTokens, window, ...recallOptions } = rest;
  const blank = query === undefined || (typeof query === 'string' && query.trim() === '');
  const name = (recallOptions.strategy ?? (blank ? 'ambient' : 'hybrid')) as StrategyName;
  const profile = engine.profiles.get(name)?.();
  if (!profile) throw unknownStrategy(name, [...engine.profiles.keys()]);
  const { context: defaults } = strategyOf(profile);
  const maxItems =
    maxContextItems === undefined
      ? defaults.maxItems
      : wholeNumber(maxContextItems, 'maxContextItems', 1, MOST_CANDIDATES);
  const limit =
    candidates === undefined
      ? Math.max(CANDIDATES, maxItems ?? 0)
      : wholeNumber(candidates, 'candidates', 1, MOST_CANDIDATES);
  const running = await idsOfSession(engine, exceptSession);
  const asked = {
    ...recallOptions,
    strategy: name,
    track: false,
    minRelevance: recallOptions.minRelevance ?? 'auto',
  } as const;
  // Options are checked before anything is searched.
  const budget = { maxTokens: contextTokens({ maxTokens, window } as ContextBudget) };
  const floor = minScore === undefined ? defaults.minScore : number(minScore, 'minScore', 0, 1);
  const packed = packingOf(packing);
  const asking = blank ? undefined : query;
  const isRunning = ({ id, bornIn }: Memory) =>
    running.has(id) || (exceptSession !== undefined && bornIn === exceptSession);
  const searched = async (
    most: number,
    more: Pick<RecallOptions, 'types' | 'typesExclude' | 'rerank' | 'now'> = {},
  ) => {
    for (let room = running.size; ; ) {
      const search = { ...asked, ...more, limit: most + room };
      const prepared = await prepareRecall(engine, asking, search);
      const answer = await recallPrepared<StrategyName>(engine, asking, prepared, search, past);
      const others = answer.hits.filter(({ memory }) => !isRunning(memory));
      // A memory of this session that was later changed in another one is only recognised by its `bornIn`, after the
      // search.
      const left = answer.hits.length - others.length;
      if (others.length >= most || left <= room) return { prepared, answer, hits: others.slice(0, most) };
      room = left;
    }
  };
  // A query decides what matters. Without one, the shares of the sections do.
  const share = shares ?? (blank ? 'guaranteed' : 'none');
  const { prepared, answer, hits } = await searched(limit);
  if (share === 'guaranteed') {
    const { types: among, typesExclude: without = [] } = recallOptions;
    const isAsked = (type: string) => (among?.includes(type) ?? true) && !without.includes(type);
    const now = new Date(prepared.plan.request.now);
    const added = await ofEachSection(answer, chooseSections(sections), limit, async (types, most) => {
      const more = { types: types.filter(isAsked), typesExclude: undefined, rerank: false, now };
      return (await searched(most, more)).hits;
    });
    hits.push(...added);
  }
  const mandatory = await mandatoryHits(
    engine,
    name,
    prepared,
    texts(mustInclude ?? [], 'mustInclude', 1000, 128),
  );
  const built = await build(engine, { ...answer, hits: inOrder(hits) }, mandatory, {
    ...budget,
    strategy: packed,
    objective: objective ?? 'evidence',
    minScore: floor,
    maxItems,
    format,
    sections,
    shares: share,
    duplicates,
    signal: options.signal,
  });
  const taken = new Set(built.items.map(({ id }) => id));
  const used = hits.filter(({ memory }) => taken.has(memory.id));
  const usedIds = new Set(used.map(({ memory }) => memory.id));
  const given = built.items.filter(({ id }) => !usedIds.has(id)).map(({ memory }) => memory);
  const effects = [
    await applyEffects(engine, { name, effect: defaults.effect }, used, query, options),
    // The strategy did not find these memories and does not learn from them.
    await noteShown(engine, name, given, options, query),
  ].flatMap((row) => row ?? []);
  const { trace } = built;
  const notFound =
    answer.nothing ??
    (exceptSession !== undefined && hits.length === 0 ? nothingBut(exceptSession) : undefined);
  const nothing =
    mandatory.length === 0 && notFound
      ? notFound
      : built.items.length === 0
        ? nothingAmong(built.omitted)
        : undefined;
  return {
    ...built,
    ...(nothing ? { nothing } : {}),
    trace: effects.length > 0 ? { ...trace, stages: [...trace.stages, ...effects] } : trace,
  };
}

/**
 * Finds the best memories of each section that the overall search missed: otherwise hundreds of newer facts keep out
 * the only rule. Each section gets `limit` divided by the number of sections.
 */
async function ofEachSection<StrategyName extends string>(
  found: Recall<StrategyName>,
  sections: readonly Section[],
  limit: number,
  searchFor: (
    types: readonly string[],
    most: number,
  ) => Promise<readonly Hit<StrategyName, Score<StrategyName>>[]>,
): Promise<readonly Hit<StrategyName, Score<StrategyName>>[]> {
  if (found.trace.upperBound === 0) return [];
  const most = Math.ceil(limit / sections.length);
  const known = new Set(found.hits.map(({ memory }) => memory.id));
  const added: Hit<StrategyName, Score<StrategyName>>[] = [];
  for (const { types } of sections) {
    const enough = found.hits.filter(({ memory }) => types.includes(memory.type)).length >= most;
    if (types.length === 0 || enough) continue;
    for (const hit of await searchFor(types, most)) {
      if (!known.has(hit.memory.id)) added.push(hit);
      known.add(hit.memory.id);
    }
  }
  return added.sort((one, other) => other.score.value - one.score.value);
}

async function idsOfSession(
  engine: Dependencies,
  sessionId: string | undefined,
): Promise<ReadonlySet<string>> {
  if (sessionId === undefined) return new Set();
  const found = await engine.space.find('sessionId', [
    text(sessionId, 'exceptSession', { maxCharacters: 200 }),
  ]);
  return new Set(found.map(({ id }) => id));
}

/** Whether a memory may be in a session context. A rule or feedback from a tool or an assistant may not: nobody asked for it. */
function belongsInSession({ memory: { type, role } }: Pick<Hit, 'memory'>): boolean {
  return !(type === 'rule' || type === 'feedback') || (role !== 'tool' && role !== 'assistant');
}

/** Checks `packing`, which is called `strategy` where contexts are built. */
function packingOf(packing: PackStrategy | undefined): PackStrategy | undefined {
  return packing === undefined ? undefined : oneOf(packing, 'packing', PACK_STRATEGIES);
}

async function sessionContext(
  engine: Dependencies,
  definition: SessionContext,
  options: SessionContextOptions,
): Promise<Context<'ambient'>> {
  const { sections, maxTokens } = definition;
  const asked: RecallOptions<'ambient'> = {
    scope: options.scope,
    // One moment for all searches, so that their scores compare.
    now: new Date(momentOf(engine, options)),
    signal: options.signal,
    strategy: 'ambient',
    limit: MOST_CANDIDATES,
    track: false,
  };
  const searched = (types: readonly string[], limit: number) =>
    recall(engine, undefined, { ...asked, types: [...new Set(types)], limit });
  const found = await searched(
    sections.flatMap(({ types }) => types),
    MOST_CANDIDATES,
  );
  const added = await ofEachSection(found, sections, MOST_CANDIDATES, async (types, most) => {
    return (await searched(types, most)).hits;
  });
  const core = await coreHits(engine, asked);
  const known = new Set([...found.hits, ...added].map(({ memory }) => memory.id));
  const hits = [...found.hits, ...added, ...core.filter(({ memory }) => !known.has(memory.id))].filter(
    belongsInSession,
  );
  const built = await build(engine, { ...found, hits }, [], {
    maxTokens: options.maxTokens ?? maxTokens,
    sections,
    strategy: packingOf(options.packing),
    format: options.format,
    signal: options.signal,
  });
  const shown = built.items.map(({ memory }) => memory);
  const effects = await noteShown(engine, 'ambient', shown, options);
  const { trace } = built;
  return effects ? { ...built, trace: { ...trace, stages: [...trace.stages, effects] } } : built;
}

type Candidate<StrategyName extends string> = Pick<
  Hit<StrategyName, Score<StrategyName>>,
  'memory' | 'score' | 'isAssociative'
> &
  Pick<ContextCandidate, 'worth' | 'rank'>;

/** Respects the order of a reranker: the first hit counts as much as the highest score, and so on. */
function inOrder<StrategyName extends string>(
  hits: readonly Hit<StrategyName, Score<StrategyName>>[],
): readonly Candidate<StrategyName>[] {
  const scores = hits.map(({ score }) => score.value).sort((a, b) => b - a);
  // Not a spread of the hit: that would compute its features and its snippet.
  return hits.map(({ memory, score, isAssociative }, rank) => {
    return { memory, score, isAssociative, rank, worth: scores[rank] };
  });
}

/** One object for all calls, because a profile is resolved and compiled once per object. */
const coreProfile: Profile = {
  ...builtinProfile('ambient'),
  require: [...builtinProfile('ambient').require, { attribute: 'core', is: 'true' }],
};

/** Finds the core memories of any type. */
async function coreHits(
  engine: Dependencies,
  options: RecallOptions<'ambient'>,
): Promise<readonly Candidate<'ambient'>[]> {
  const { hits } = await engine.space.snapshot((snapshot) =>
    snapshot.search({
      profile: resolveProfile(coreProfile),
      query: { terms: [] },
      filter: options.scope === undefined ? {} : { scopes: visibleScopes(options.scope) },
      now: momentOf(engine, options),
      limit: MOST_CANDIDATES,
    }),
  );
  return hits.map(({ memory, score, signals }) => ({
    memory: toMemory(memory, engine.space.name, signals.superseded === true),
    score: makeScore('ambient', resolveProfile(builtinProfile('ambient')).hash, score),
    isAssociative: false,
  }));
}

/** Returns the memories of `mustInclude` with their scores for the query. Throws `not_found`. */
async function mandatoryHits<StrategyName extends string>(
  engine: Dependencies,
  strategy: StrategyName,
  { plan, resolved }: PreparedRecall,
  ids: readonly string[],
): Promise<readonly Candidate<StrategyName>[]> {
  if (ids.length === 0) return [];
  const [records, inspected] = await engine.space.snapshot((snapshot) =>
    Promise.all([snapshot.get(ids), snapshot.inspect(ids, plan.request)]),
  );
  return ids.map((id, at) => {
    const record = records[at];
    if (!record) throw notFound(id, engine.space.name);
    const found = inspected[at];
    return {
      memory: toMemory(record, engine.space.name, found?.signals.superseded === true),
      score: makeScore(strategy, resolved.hash, found?.score ?? 0),
      isAssociative: false,
    };
  });
}

async function build<StrategyName extends string>(
  engine: Dependencies,
  found: { readonly hits: readonly Candidate<StrategyName>[]; readonly trace: Trace },
  mandatory: readonly Candidate<StrategyName>[],
  options: BuildOptions & ContextBudget,
): Promise<Context<StrategyName>> {
  const started = performance.now();
  const mandatoryIds = new Set(mandatory.map(({ memory }) => memory.id));
  const hits = [...mandatory, ...found.hits.filter(({ memory }) => !mandatoryIds.has(memory.id))];
  const byId = new Map(hits.map((hit) => [hit.memory.id, hit]));
  const candidates = hits.map(
    ({ memory, score, isAssociative, worth, rank }): ContextCandidate => ({
      at: parseInstant(memory.updatedAt),
      score: score.value,
      worth,
      rank,
      isAssociative,
      mustInclude: mandatoryIds.has(memory.id),
      // Spread last: V8 gives an object that gets properties after a spread its own hidden class, which is ten times
      // slower.
      ...memory,
    }),
  );
  const countTokens = await engine.tokenCounter();
  const built = await buildContext(candidates, options, {
    // A counter of the caller may ask a server.
    countTokens: (texts) => unlessAborted(async () => countTokens(texts), options.signal),
    randomBytes: engine.randomBytes,
  });
  const row = stage('pack', hits.length, built.items.length, performance.now() - started);
  return {
    ...built,
    items: built.items.map((item) => {
      const { memory, score } = byId.get(item.id) as Candidate<StrategyName>;
      return { ...item, memory, score };
    }),
    omitted: built.omitted.map((each) => ({ ...each, message: explainOmission(each) })),
    trace: {
      ...found.trace,
      stages: [...found.trace.stages, row],
      totalMs: found.trace.totalMs + row.durationMs,
    },
  };
}
