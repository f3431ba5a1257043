import fc from 'fast-check';
import {
  IMPORTANCE_SOURCES,
  type JsonValue,
  MEMORY_TYPES,
  type MemoryRecord,
  SOURCES,
} from '../domain/memory.ts';
import type { IndexedText } from '../store/store.ts';
import { arbitraryMetadata } from './arbitrary-metadata.ts';
import { ARBITRARY_NOW } from './arbitrary-profile.ts';
import { sampleIndexed, unitVector } from './sample-memory.ts';

const day = 86_400_000;
// Few distinct values, so that ties occur in every order.
const fraction = fc.oneof(fc.constantFrom(0, 0.25, 0.5, 1), fc.double({ min: 0.001, max: 1, noNaN: true }));
const instant = fc.oneof(
  fc.constantFrom(-1, 0, 1).map((offset) => ARBITRARY_NOW + offset),
  fc.integer({ min: -400 * day, max: 400 * day }).map((offset) => ARBITRARY_NOW + offset),
);
/** Mostly absent, so that enough memories stay visible. */
const rarely = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const word = fc.constantFrom('tea', 'coffee', 'Berlin', 'deploy', 'Zoë', '東京', 'match', 'plan');
const words = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 8 }), fc.constantFrom('', '', '?', '？'))
  .map(([list, end]) => `${list.join(' ')}${end}`);
const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .map((each) => each.replaceAll('\0', '0'));
const label = fc.oneof(word, text);
const json: fc.Arbitrary<JsonValue> = fc
  .jsonValue({ noUnicodeString: false })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const key = fc.string({ maxLength: 8 }).filter((each) => each !== '__proto__');

/** Any memory that the model allows, drawn so that filters, times around {@link ARBITRARY_NOW} and ties matter. */
export const arbitraryMemory: fc.Arbitrary<MemoryRecord> = fc.record(
  {
    id: fc.oneof(fc.uuid(), text),
    ordinal: fc.constant(0),
    scope: fc.constantFrom('global', 'project:match', 'team:a/project:b'),
    type: fc.oneof(fc.constantFrom(...MEMORY_TYPES), text),
    title: optional(fc.oneof(words, text)),
    content: fc.oneof(words, text),
    tags: fc.array(label, { maxLength: 3 }),
    metadata: fc.oneof(arbitraryMetadata, fc.dictionary(key, json, { maxKeys: 3, noNullPrototype: true })),
    topicKey: optional(label),
    aliases: optional(fc.uniqueArray(label, { maxLength: 2 })),
    kind: optional(fc.constantFrom('person', 'place')),
    relations: rarely(
      fc.array(
        fc.record(
          {
            from: label,
            name: fc.constantFrom('knows', 'lives_in'),
            to: label,
            weight: fc.constantFrom(0.1, 0.5, 1),
            confidence: fraction,
            validFrom: instant,
            validUntil: instant,
          },
          { requiredKeys: ['from', 'name', 'to', 'weight', 'confidence'], noNullPrototype: true },
        ),
        { maxLength: 2 },
      ),
    ),
    author: optional(fc.oneof(fc.constantFrom('Ann Lee', 'Bob Lee', 'Will', 'Zoë', '東京'), label)),
    role: optional(fc.constantFrom('user', 'assistant', 'tool')),
    sessionId: optional(label),
    // Few sessions, so that memories have neighbours in them.
    bornIn: optional(fc.oneof({ weight: 3, arbitrary: fc.constantFrom('monday', 'tuesday') }, label)),
    createdAt: instant,
    updatedAt: instant,
    textChangedAt: optional(instant),
    lastAccessedAt: optional(instant),
    seen: optional(instant),
    validFrom: rarely(instant),
    validUntil: rarely(instant),
    expiresAt: rarely(instant),
    invalidatedAt: rarely(instant),
    invalidReason: optional(label),
    coldSince: optional(instant),
    consolidatedAt: rarely(instant),
    importance: fraction,
    importanceSource: fc.constantFrom(...IMPORTANCE_SOURCES),
    confidence: fraction,
    usefulness: fraction,
    weight: fc.constantFrom(0.1, 0.5, 1),
    stability: fraction,
    accessCount: fc.nat(100),
    sessions: fc.uniqueArray(label, { maxLength: 3 }),
    revisionCount: fc.integer({ min: 1, max: 12 }),
    tier: fc.constantFrom('hot', 'hot', 'hot', 'hot', 'cold', 'stub'),
    core: fc.boolean(),
    supersedes: fc.uniqueArray(label, { maxLength: 2 }),
    source: fc.constantFrom(...SOURCES),
    sourceRef: optional(label),
    derivedFrom: fc.uniqueArray(label, { maxLength: 2 }),
  },
  { noNullPrototype: true },
);

/** Components of a vector that are not 0. */
const FILLED = 5;

/** A vector of few small integers, scaled to length 1. Similar and opposite vectors are frequent, equal ones occur. */
export function arbitraryVector(dimensions: number): fc.Arbitrary<Float32Array> {
  const filled = Math.min(dimensions, FILLED);
  return fc
    .array(fc.integer({ min: -2, max: 3 }), { minLength: filled, maxLength: filled })
    .filter((numbers) => numbers.some((each) => each !== 0))
    .map((numbers) => unitVector([...numbers, ...Array<number>(dimensions - filled).fill(0)]));
}

/** A memory with its terms, and a vector more often than not. */
export function arbitraryIndexedMemory(
  dimensions: number,
): fc.Arbitrary<{ readonly memory: MemoryRecord; readonly indexed: IndexedText }> {
  return fc
    .tuple(arbitraryMemory, fc.option(arbitraryVector(dimensions), { nil: undefined, freq: 4 }))
    .map(([memory, vector]) => ({ memory, indexed: { ...sampleIndexed(memory), vector } }));
}
