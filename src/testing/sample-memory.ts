import { initialStability, type MemoryRecord } from '../domain/memory.ts';
import type { IndexedText } from '../store/store.ts';

/** Returns a memory with defaults for all fields but those given, for tests that need only a few. */
export function sampleMemory(fields: Partial<MemoryRecord> & { readonly id: string }): MemoryRecord {
  const createdAt = fields.createdAt ?? Date.UTC(2026, 0, 1);
  const importance = fields.importance ?? 0.5;
  return {
    ordinal: 0,
    scope: 'global',
    type: 'fact',
    title: undefined,
    content: `content of ${fields.id}`,
    tags: [],
    metadata: {},
    topicKey: undefined,
    aliases: undefined,
    kind: undefined,
    relations: undefined,
    author: undefined,
    role: undefined,
    sessionId: undefined,
    bornIn: fields.sessionId,
    createdAt,
    updatedAt: createdAt,
    textChangedAt: undefined,
    lastAccessedAt: undefined,
    seen: undefined,
    validFrom: undefined,
    validUntil: undefined,
    expiresAt: undefined,
    invalidatedAt: undefined,
    invalidReason: undefined,
    coldSince: undefined,
    consolidatedAt: undefined,
    importance,
    importanceSource: 'default',
    confidence: 0.8,
    usefulness: 0.5,
    weight: 1,
    stability: initialStability(importance),
    accessCount: 0,
    sessions: [],
    revisionCount: 1,
    tier: 'hot',
    core: false,
    supersedes: [],
    source: 'stated',
    sourceRef: undefined,
    derivedFrom: [],
    ...fields,
  };
}

/** Counts the lower-cased words of title, content and tags. The analysis is simple enough to predict in a test. */
export function sampleIndexed(memory: MemoryRecord, vector?: readonly number[]): IndexedText {
  const terms = new Map<string, number>();
  const text = [memory.title ?? '', memory.content, ...memory.tags].join(' ').toLowerCase();
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu)) terms.set(word, (terms.get(word) ?? 0) + 1);
  return { terms, vector: vector && unitVector(vector) };
}

/** Returns the vector scaled to length 1. */
export function unitVector(numbers: readonly number[]): Float32Array {
  const length = Math.sqrt(numbers.reduce((sum, each) => sum + each * each, 0));
  return Float32Array.from(numbers, (each) => each / length);
}
