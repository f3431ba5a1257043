import { number, oneOf, texts } from '../../domain/check.ts';
import { SalienceError, type SalienceErrorCode, throwIfAborted } from '../../domain/errors.ts';
import { checkedFields, storable } from '../../domain/field-checks.ts';
import type { Metadata } from '../../domain/memory.ts';
import { REDACTED, redactMetadata } from '../../domain/redaction.ts';
import { GLOBAL_SCOPE, parseScope } from '../../domain/scope.ts';
import type { Instant } from '../../domain/time.ts';
import { type ExtractedMemory, messagesAsEvents } from '../../language/extracted-memory.ts';
import { checkExtraction, extractMemories } from '../../language/extraction.ts';
import { isMereQuestion, isPoliteness, QUESTION_IMPORTANCE } from '../../language/importance.ts';
import { type ConversationMessage, readMessages, type Turn } from '../../language/messages.ts';
import type { Embedder } from '../../providers/embedder.ts';
import { type ModelUsage, NO_USAGE } from '../../providers/language-model.ts';
import { type Dependencies, momentOf } from '../dependencies.ts';
import { lookOf } from '../graph/resolve.ts';
import type { GraphLook } from '../graph/view.ts';
import type { OperationOptions, RememberInput, RememberResult } from '../types.ts';
import { rememberJudged } from '../write/remember.ts';
import { type Graph, graphOf, type ObservedGraph } from './graph.ts';
import { mergeNearDuplicates, type Observation } from './merge.ts';
import { knownTo } from './resolve.ts';

export interface ObserveOptions extends OperationOptions {
  /** The scope of the memories. Default is `global`. */
  readonly scope?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Tags for every memory, in addition to those that a model gives. */
  readonly tags?: readonly string[] | undefined;
  /** Metadata for every memory. `messages` is added: the ids of the messages that the memory comes from, as many as fit. */
  readonly metadata?: Metadata | undefined;
  /**
   * Memories that are less important are not kept, 0–1. Without a model, a message that only asks a question counts as
   * 0.2 here, whatever it names. Default is 0.
   */
  readonly minImportance?: number | undefined;
  /** How messages are kept that the model fails on: `events`, as without a model (default), or `skip`, not at all. */
  readonly onFailure?: 'events' | 'skip' | undefined;
  /** Most messages in one request to the model, 1–200. Default is 20. */
  readonly batchSize?: number | undefined;
  /** Most concurrent requests, 1–64. Default is 2. */
  readonly concurrency?: number | undefined;
  /** How many messages before a batch are shown as context, 0–50. Default is 4. */
  readonly contextMessages?: number | undefined;
  /** Most tokens in one answer. Default is the limit of the model. */
  readonly maxOutputTokens?: number | undefined;
  /**
   * Whether the model also extracts, in the same answer, the entities that a fact names and their relations. Without a
   * model this has no effect. Default is `false`.
   */
  readonly graph?: boolean | undefined;
}

/** What was remembered of a conversation. Ids are in the order of the conversation. */
export interface ObserveResult {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  /** Ids of memories that were known word for word. */
  readonly deduplicated: readonly string[];
  /** How many near-duplicates were left out or superseded, because another memory says all that they say. */
  readonly merged: number;
  /** Messages that the model failed on, or that are too long to keep. */
  readonly failures: readonly ObserveFailure[];
  /** How many memories in the model's answers could not be read, or were beyond the first 20 of a message. */
  readonly dropped: number;
  readonly usage: ModelUsage;
  /** `rules` if there is no model, or it gave no usable answer at all. */
  readonly judgedBy: 'model' | 'rules';
  /** The entities and relations of the kept facts. Only with `graph: true`. */
  readonly graph?: ObservedGraph | undefined;
}

export interface ObserveFailure {
  /** The positions of the messages, from 0. */
  readonly positions: readonly number[];
  readonly code: SalienceErrorCode;
  readonly message: string;
  /** How the messages were kept. */
  readonly kept: 'events' | 'nothing';
}

/**
 * Remembers what is worth keeping from a conversation.
 *
 * With a language model: one memory per fact, judged by the model, at most 20 per message. With `graph: true` also the
 * entities that the facts name, and their relations. Without a model: each message as one event, with an importance
 * from rules. A message without a word of content ("ok thanks") is not kept.
 *
 * Parts in `<private>` are removed before the model sees anything; a message that is private as a whole is neither kept
 * nor shown. The model is asked before the single write, which is all or nothing.
 *
 * Throws for invalid messages or options, and `aborted`. Failures of the model are in `failures`.
 */
export async function observe(
  engine: Dependencies,
  messages: readonly ConversationMessage[],
  options: ObserveOptions = {},
): Promise<ObserveResult> {
  const now = momentOf(engine, options);
  const { sessionId, metadata = {} } = checkedFields(
    { ...options },
    ['sessionId', 'metadata'],
    engine.limits,
  );
  const common = {
    scope: options.scope === undefined ? GLOBAL_SCOPE : parseScope(options.scope),
    sessionId,
    tags: options.tags === undefined ? [] : texts(options.tags, 'tags', 32, 128),
    metadata,
  };
  const turns = readMessages(messages, now).flatMap((turn) => {
    const kept = (field: 'id' | 'name') => {
      const value = turn[field];
      return value === undefined ? undefined : storable(value, `messages[${turn.position}].${field}`);
    };
    const read = {
      ...turn,
      id: kept('id'),
      role: storable(turn.role, `messages[${turn.position}].role`),
      name: kept('name'),
      content: storable(turn.content, `messages[${turn.position}].content`),
    };
    return withoutPrivate(read.content).trim() === '' ? [] : [read];
  });
  checkExtraction(options);
  const floor = number(options.minImportance ?? 0, 'minImportance', 0, 1);
  const withGraph = options.graph ?? false;
  const look = withGraph ? await lookOf(engine, { scope: common.scope, now: options.now }) : undefined;
  const { memories, verbatim, ...judged } = await judge(engine, turns, options, look);
  const worthy = memories.filter(({ importance }) => importance >= floor);
  const { fitting, failures } = withinLimit(worthy, engine.limits.maxContentBytes);
  const observations = fitting.map((memory) => ({
    memory,
    input: inputOf(memory, common, engine.limits.maxMetadataBytes, now),
    judge: memory.importanceSource,
    verbatim: verbatim.has(memory),
  }));
  // Vectors are cached: each text is needed twice but embedded once.
  const tools = { ...engine, embedder: engine.embedder && remembering(engine.embedder) };
  const graph = look && graphOf(tools, fitting, turns, { ...common, look });
  const { remembered, merged, observed } = await write(tools, observations, graph, now, options);
  const idsOf = (outcome: RememberResult['outcome']) =>
    remembered.filter((each) => each.outcome === outcome).map(({ id }) => id);
  return {
    created: idsOf('created'),
    updated: idsOf('updated'),
    deduplicated: idsOf('deduplicated'),
    merged,
    ...judged,
    failures: [...judged.failures, ...failures],
    ...(observed ? { graph: observed } : {}),
  };
}

/** Removes the redaction marks from a text. Nothing is left of a message that is private as a whole. */
function withoutPrivate(redacted: string): string {
  return redacted.replaceAll(REDACTED, ' ');
}

interface Written {
  readonly remembered: readonly RememberResult[];
  readonly merged: number;
  readonly observed?: ObservedGraph | undefined;
}

async function write(
  engine: Dependencies,
  facts: readonly (Observation & { readonly memory: ExtractedMemory })[],
  graph: Graph | undefined,
  now: Instant,
  options: ObserveOptions,
): Promise<Written> {
  const operation = { now: new Date(now), signal: options.signal };
  for (;;) {
    throwIfAborted(options.signal);
    const resolved = await graph?.resolve(engine.space);
    const stated = facts.map(({ memory, input, ...fact }) => ({
      ...fact,
      input: resolved ? { ...input, relations: resolved.relationsOf(memory) } : input,
    }));
    const { kept, merged } = await mergeNearDuplicates(engine, stated, now, options);
    const entities = resolved?.inputs ?? [];
    const inputs = [...entities, ...kept.map(({ input }) => input)];
    const judges = [...entities.map(() => 'default' as const), ...kept.map(({ judge }) => judge)];
    try {
      const remembered = await rememberJudged(engine, inputs, judges, operation, resolved?.furtherChanges);
      // A name resolves to something else now: try again.
      if (remembered.length < inputs.length) continue;
      return { remembered, merged, observed: resolved?.observed };
    } catch (error) {
      // A memory to supersede may have been forgotten meanwhile. The next attempt does not find it.
      if (!SalienceError.isInstance(error) || error.code !== 'not_found') throw error;
    }
  }
}

interface Judged extends Pick<ObserveResult, 'failures' | 'dropped' | 'usage' | 'judgedBy'> {
  readonly memories: readonly ExtractedMemory[];
  /** The memories whose content is a whole message. */
  readonly verbatim: ReadonlySet<ExtractedMemory>;
}

async function judge(
  engine: Dependencies,
  turns: readonly Turn[],
  options: ObserveOptions,
  look: GraphLook | undefined,
): Promise<Judged> {
  const { languageModel: model, newNonce, analyzer } = engine;
  const keepsQuestions = (options.minImportance ?? 0) <= QUESTION_IMPORTANCE;
  const hasContent = ({ content }: Turn) =>
    analyzer.analyze(withoutPrivate(content)).length > 0 &&
    !isPoliteness(content) &&
    (keepsQuestions || !isMereQuestion(content));
  const fallback = oneOf(options.onFailure ?? 'events', 'onFailure', ['events', 'skip']);
  if (!model) {
    const memories = messagesAsEvents(turns.filter(hasContent));
    const unjudged = { failures: [], dropped: 0, usage: NO_USAGE, judgedBy: 'rules' } as const;
    return { memories, verbatim: new Set(memories), ...unjudged };
  }
  const { batchSize, concurrency, contextMessages, maxOutputTokens, signal } = options;
  const extraction = await extractMemories(model, turns, {
    batchSize,
    concurrency,
    contextMessages,
    maxOutputTokens,
    signal,
    newNonce,
    graph: look && ((batch) => knownTo(engine, batch, look)),
  });
  const failed = new Set(extraction.failures.flatMap(({ positions }) => positions));
  const missed = fallback === 'events' ? turns.filter(({ position }) => failed.has(position)) : [];
  const events = messagesAsEvents(missed.filter(hasContent));
  return {
    memories: [...extraction.memories, ...events].sort((a, b) => a.saidAt - b.saidAt),
    verbatim: new Set(events),
    failures: extraction.failures.map(({ positions, error }) => ({
      positions,
      code: error.code,
      message: error.message,
      kept: fallback === 'events' ? 'events' : 'nothing',
    })),
    dropped: extraction.dropped,
    usage: extraction.usage,
    judgedBy: turns.some(({ position }) => !failed.has(position)) ? 'model' : 'rules',
  };
}

function withinLimit(memories: readonly ExtractedMemory[], limit: number) {
  const fits = ({ content }: ExtractedMemory) => Buffer.byteLength(content) <= limit;
  const failures = memories
    .filter((memory) => !fits(memory))
    .map(({ sources }): ObserveFailure => {
      const message = `a content of more than ${limit} bytes is not kept: send the message in parts, or raise maxContentBytes`;
      return { positions: sources, code: 'content_too_large', message, kept: 'nothing' };
    });
  return { fitting: memories.filter(fits), failures };
}

/** Makes the input for an extracted memory. It is created at the time of the message, but not in the future. */
function inputOf(
  memory: ExtractedMemory,
  common: Pick<RememberInput, 'scope' | 'sessionId'> & {
    readonly tags: readonly string[];
    readonly metadata: Metadata;
  },
  maxMetadataBytes: number,
  now: Instant,
): RememberInput {
  const { content, type, title, importance, confidence, validFrom, validUntil, sourceIds } = memory;
  const { author, role } = memory;
  const saidAt = Math.min(memory.saidAt, now);
  return {
    content,
    type,
    title,
    importance,
    confidence,
    author,
    role,
    scope: common.scope,
    sessionId: common.sessionId,
    tags: [...new Set([...common.tags, ...memory.tags])],
    metadata: naming(sourceIds, common.metadata, maxMetadataBytes),
    sourceRef: sourceIds.length === 1 ? sourceIds[0] : undefined,
    source: 'extracted',
    createdAt: new Date(saidAt),
    // A memory is hidden outside of its validity. Statements about the future or the past are worth knowing now, so
    // that end is left open.
    validFrom: validFrom === undefined || validFrom > saidAt ? undefined : new Date(validFrom),
    validUntil: validUntil === undefined || validUntil <= saidAt ? undefined : new Date(validUntil),
  };
}

/** Adds the ids of the messages to metadata, as many of the first as fit: the caller did not ask for them. */
function naming(ids: readonly string[], metadata: Metadata, limit: number): Metadata {
  for (let count = ids.length; count > 0; count--) {
    const named = { ...metadata, messages: ids.slice(0, count) };
    if (Buffer.byteLength(JSON.stringify(redactMetadata(named))) <= limit) return named;
  }
  return metadata;
}

function remembering(embedder: Embedder): Embedder {
  const known = new Map<string, Float32Array | undefined>();
  return {
    ...embedder,
    async embed(passages, options) {
      const missing = [...new Set(passages.filter((passage) => !known.has(passage)))];
      const vectors = missing.length === 0 ? [] : await embedder.embed(missing, options);
      for (const [at, passage] of missing.entries()) known.set(passage, vectors[at]);
      return passages.map((passage) => known.get(passage));
    },
  };
}
