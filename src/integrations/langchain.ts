/**
 * Memory for LangChain.js: a retriever, and a key-value store.
 *
 * @module
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Document } from '@langchain/core/documents';
import type { BaseRetrieverInput } from '@langchain/core/retrievers';
import type { RunnableConfig } from '@langchain/core/runnables';
import { checkMemory, invalidArgument } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import type { JsonValue } from '../domain/memory.ts';
import { isPlain, keysOf, onlyKeys, withInherited } from '../domain/options.ts';
import { loadPeer } from '../domain/peer.ts';
import { asQuery } from '../domain/query.ts';
import { redactPrivate } from '../domain/redaction.ts';
import { parseScope } from '../domain/scope.ts';
import { normalisedContent } from '../domain/statement.ts';
import { type Memory, type MemoryEngine, type RecallOptions, SalienceError } from '../index.ts';
import { forgetFound } from './forget-found.ts';
import { keptJson, readable } from './kept-json.ts';

export type { JsonValue };

const {
  Document: LangChainDocument,
  BaseRetriever,
  BaseStore,
  ensureConfig,
  parseCallbackConfigArg,
} = await loadPeer(
  async () => ({
    ...(await import('@langchain/core/documents')),
    ...(await import('@langchain/core/retrievers')),
    ...(await import('@langchain/core/runnables')),
    ...(await import('@langchain/core/callbacks/manager')),
    ...(await import('@langchain/core/stores')),
  }),
  ['@langchain/core'],
  'salience/langchain',
);

export interface MemoryRetrieverInput extends BaseRetrieverInput {
  readonly memory: MemoryEngine;
  /** Options of the recall: strategy, limit, scope, filters … */
  readonly recall?: RecallOptions | undefined;
}

const retrieverKeys = keysOf<MemoryRetrieverInput>()({
  memory: true,
  recall: true,
  callbacks: true,
  tags: true,
  metadata: true,
  verbose: true,
});

/** The metadata of a document: the fields of its memory, and the score. */
export type MemoryDocumentMetadata = Omit<Memory, 'id' | 'content'> & {
  /** 0–1. Scores of different strategies are not comparable. */
  readonly score: number;
  readonly strategy: string;
};

/** The signal of the call in progress. LangChain passes only the query to a retriever. */
const signals = new AsyncLocalStorage<AbortSignal | undefined>();

/**
 * Recalls memories as documents, best first. The content of a memory becomes the page, its id the document's id.
 *
 * @example
 * ```ts
 * import { MemoryRetriever } from 'salience/langchain';
 * const retriever = new MemoryRetriever({ memory, recall: { strategy: 'bm25', limit: 3 } });
 * const documents = await retriever.invoke('Which coffee does she like?');
 * console.log(documents.map(({ pageContent }) => pageContent));
 * ```
 */
export class MemoryRetriever extends BaseRetriever<MemoryDocumentMetadata> {
  static override lc_name(): string {
    return 'MemoryRetriever';
  }

  override lc_namespace = ['salience', 'langchain'];
  readonly #memory: MemoryEngine;
  readonly #recall: RecallOptions;

  constructor(input: MemoryRetrieverInput) {
    onlyKeys(input, retrieverKeys, 'MemoryRetriever');
    const { memory, recall = {}, ...rest } = input;
    checkMemory(memory);
    super(rest);
    this.#memory = memory;
    // The documents of a chain go to a model, so irrelevant ones are left out by default.
    this.#recall = { minRelevance: 'auto', ...withInherited(recall) };
  }

  /** Throws `aborted` when `options.signal` aborts, or `options.timeout` has passed. */
  override async invoke(
    input: string,
    options?: RunnableConfig,
  ): Promise<Document<MemoryDocumentMetadata>[]> {
    // Turns the timeout into a signal, and adds the signal of the chain.
    const config = ensureConfig<RunnableConfig>(parseCallbackConfigArg(options));
    return signals.run(config.signal, () => super.invoke(input, config));
  }

  override async _getRelevantDocuments(query: string): Promise<Document<MemoryDocumentMetadata>[]> {
    if (typeof query !== 'string') {
      throw invalidArgument(
        'query',
        `expected a text, not ${describe(query)}: in a chain, let the step before it return the text of the question`,
      );
    }
    const { hits } = await this.#memory.recall(asQuery(query), this.#recallOptions());
    return hits.map(({ memory: { id, content, ...fields }, score }) => {
      const metadata = { ...fields, score: score.value, strategy: score.strategy };
      return new LangChainDocument({ id, pageContent: content, metadata });
    });
  }

  #recallOptions(): RecallOptions {
    const of = [signals.getStore(), this.#recall.signal].filter((each) => each !== undefined);
    return of.length === 0 ? this.#recall : { ...this.#recall, signal: AbortSignal.any(of) };
  }
}

export interface MemoryStoreInput {
  readonly memory: MemoryEngine;
  /** The scope of the values. The same key has another value in another scope. Default is `global`. */
  readonly scope?: string | undefined;
  /** The type of new memories. Default is `fact`. */
  readonly type?: string | undefined;
}

const storeKeys = keysOf<MemoryStoreInput>()({ memory: true, scope: true, type: true });

/**
 * Stores JSON values under keys of 1–512 characters. Each value is a memory whose topic is the key: a new value
 * replaces the old one, which stays in the memory's history, and recalls find the text `key: value`. For a memory that
 * was stored with the same topic in another way, the value is its content.
 *
 * Values come back unchanged, except that text in `<private>…</private>` is never stored. A value that JSON would
 * change, such as a `Date` or `NaN`, is refused with its path. As JSON, a value may be as long as the memory's limit of
 * metadata (`maxMetadataBytes`) allows.
 *
 * @example
 * ```ts
 * import { MemoryStore } from 'salience/langchain';
 * const store = new MemoryStore({ memory });
 * await store.mset([['diet', { kind: 'vegan', since: 2026 }]]);
 * const [diet] = await store.mget(['diet']);
 * ```
 */
export class MemoryStore<Value extends JsonValue = JsonValue> extends BaseStore<string, Value> {
  static override lc_name(): string {
    return 'MemoryStore';
  }

  override lc_namespace = ['salience', 'langchain'];
  readonly #memory: MemoryEngine;
  readonly #scope: string;
  readonly #type: string | undefined;

  constructor(input: MemoryStoreInput) {
    onlyKeys(input, storeKeys, 'MemoryStore');
    const { memory, scope = 'global', type } = input;
    checkMemory(memory);
    parseScope(scope);
    super();
    this.#memory = memory;
    this.#scope = scope;
    this.#type = type;
  }

  override async mget(keys: string[]): Promise<(Value | undefined)[]> {
    const values: (Value | undefined)[] = [];
    for (const key of keyList(keys)) {
      const [memory] = await this.#about(key);
      values.push(memory && (storedValue(key, memory) as Value));
    }
    return values;
  }

  /**
   * Stores all pairs in one transaction. Throws `invalid_argument` for a key with private text, for a value that was
   * invalidated and must be reinstated first, and for one whose text is stored under another topic.
   */
  override async mset(pairs: [string, Value][]): Promise<void> {
    if (!Array.isArray(pairs) || !pairs.every((pair) => Array.isArray(pair) && typeof pair[0] === 'string')) {
      throw invalidArgument(
        'pairs',
        'expected a list of keys with their values, such as [["diet", "vegan"]]',
      );
    }
    const hidden = pairs.findIndex(([key]) => redactPrivate(key) !== key);
    if (hidden !== -1) {
      throw invalidArgument(
        `pairs[${hidden}]`,
        'the key has text in <private>…</private>, which is never stored, so the value could not be found again; use a key without it',
      );
    }
    const remembered = await this.#memory.rememberMany(
      pairs.map(([key, value]) => {
        checkPlain(value, key);
        const kept = keptJson(value, key);
        return {
          content: contentOf(key, kept),
          topicKey: key,
          scope: this.#scope,
          type: this.#type,
          metadata: { value: kept },
        };
      }),
    );
    for (const [at, { id, outcome }] of remembered.entries()) {
      const [key] = pairs[at] as (typeof pairs)[number];
      const kept = outcome === 'deduplicated' ? await this.#memory.get(id) : undefined;
      if (kept && kept.topicKey !== key) throw otherTopic(key, kept);
    }
    const at = remembered.findIndex(({ inactive }) => inactive !== undefined);
    if (at === -1) return;
    const { id, inactive } = remembered[at] as (typeof remembered)[number];
    throw new SalienceError(
      'invalid_argument',
      `the value of ${JSON.stringify(pairs[at]?.[0])} was invalidated (${inactive?.reason}): reinstate the memory ${JSON.stringify(id)}, or set another value; the other values are set`,
      { details: { field: pairs[at]?.[0], id } },
    );
  }

  /** Forgets the values for good, with their history: all of them, or none. */
  override async mdelete(keys: string[]): Promise<void> {
    const unique = [...new Set(keyList(keys))];
    await forgetFound(this.#memory, async () => {
      const found: Memory[] = [];
      for (const key of unique) {
        const beliefs = await this.#memory.beliefs(key, { scope: this.#scope });
        for (const { memory } of beliefs)
          if (memory.topicKey === key && memory.scope === this.#scope) found.push(memory);
      }
      return found;
    });
  }

  override async *yieldKeys(prefix = ''): AsyncGenerator<string> {
    const seen = new Set<string>();
    for await (const { topicKey } of this.#inScope()) {
      if (topicKey === undefined || seen.has(topicKey) || !topicKey.startsWith(prefix)) continue;
      seen.add(topicKey);
      if ((await this.#about(topicKey)).length > 0) yield topicKey;
    }
  }

  /** Returns the current values of a key, newest first, including faded ones. */
  async #about(key: string): Promise<readonly Memory[]> {
    const beliefs = await this.#memory.beliefs(key, { scope: this.#scope });
    return beliefs
      .flatMap(({ memory, believed, because }) =>
        believed || because === 'tier' || because === 'consolidated' ? [memory] : [],
      )
      .filter(({ topicKey, scope }) => topicKey === key && scope === this.#scope)
      .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  }

  async *#inScope(): AsyncGenerator<Memory> {
    let cursor: string | undefined;
    do {
      const page = await this.#memory.list({ scope: this.#scope, limit: 1000, cursor, count: false });
      yield* page.memories.filter(({ scope }) => scope === this.#scope);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
}

function otherTopic(key: string, { id, topicKey }: Memory): SalienceError {
  return new SalienceError(
    'invalid_argument',
    `the value of ${JSON.stringify(key)} is not set: the memory ${JSON.stringify(id)} has the same text, about ${topicKey === undefined ? 'no topic' : JSON.stringify(topicKey)}; change or forget that memory, or use another scope; the other values are set`,
    { details: { field: key, id } },
  );
}

/** Includes the key, so that two keys with the same value are two statements. */
function contentOf(key: string, kept: string, label = labelOf(key)): string {
  const value: unknown = JSON.parse(kept);
  return readable(`${label}: ${typeof value === 'string' ? value : kept}`);
}

/**
 * Returns the key as a label. Statements are compared without repeated spaces and Unicode forms, so keys that differ
 * only in these are escaped.
 */
function labelOf(key: string): string {
  const label = plainLabelOf(key);
  if (normalisedContent(label) === label) return label;
  return JSON.stringify(key).replace(
    /[^ -~]| (?= )/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

function plainLabelOf(key: string): string {
  return /[:"]/.test(key) ? JSON.stringify(key) : key;
}

/** Returns the stored value. For a memory that was written or changed in another way, returns its content. */
function storedValue(key: string, { content, metadata, tier }: Memory): JsonValue {
  const kept = metadata['value'];
  // A stub keeps only the beginning of its content.
  const isOurs = (text: string) =>
    tier === 'stub' ||
    contentOf(key, text) === content ||
    // Earlier versions did not escape keys.
    contentOf(key, text, plainLabelOf(key)) === content;
  return typeof kept === 'string' && isJson(kept) && isOurs(kept) ? (JSON.parse(kept) as JsonValue) : content;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function keyList(keys: readonly string[]): readonly string[] {
  if (Array.isArray(keys)) return keys;
  throw invalidArgument('keys', 'expected a list of keys, such as ["diet"]');
}

/** Throws `invalid_argument` with the path of a value that JSON would drop or change. */
function checkPlain(value: unknown, field: string): void {
  const pending: { readonly value: unknown; readonly field: string }[] = [{ value, field }];
  // Depth and cycles are checked by `keptJson`.
  const seen = new Set<unknown>();
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value: each, field: place } = next;
    if (each === null || typeof each === 'string' || typeof each === 'boolean' || Number.isFinite(each))
      continue;
    if (!Array.isArray(each) && !isRecord(each)) {
      throw invalidArgument(
        place,
        `${nameOf(each)} would not come back from JSON as it is; give a text, a finite number, a boolean, null, a list or a plain object`,
      );
    }
    if (seen.has(each)) continue;
    seen.add(each);
    // `forEach` would skip holes in a list.
    const items: [string, unknown][] = Array.isArray(each)
      ? Array.from(each, (item, at) => [`[${at}]`, item])
      : Object.entries(each).flatMap(([key, item]) => (item === undefined ? [] : [[`.${key}`, item]]));
    for (const [key, item] of items.reverse()) pending.push({ value: item, field: `${place}${key}` });
  }
}

/** Whether a value is a plain object. An instance of a class would come back without its class. */
function isRecord(value: unknown): value is object {
  if (!isPlain(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `an object of the kind ${value.constructor?.name ?? Object.prototype.toString.call(value).slice(8, -1)}`;
}
