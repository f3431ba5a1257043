import { expect, test } from 'vitest';
import { parseInstant } from '../domain/time.ts';
import type { Memory } from '../index.ts';
import { formatMemories, formatMemory } from './memory-text.ts';
import { displayWidth } from './terminal-text.ts';

/** A value that no other field has, for every field; a new field does not compile without one. */
const memory: Required<Omit<Memory, 'votes' | 'ordinal' | 'bornIn' | 'seen' | 'textChangedAt' | 'core'>> = {
  id: 'its-id',
  space: 'its-space',
  scope: 'project:its-scope',
  type: 'its-type',
  title: 'its-title',
  content: 'its-content',
  tags: ['its-tag', 'another-tag'],
  metadata: { its: 'metadata' },
  topicKey: 'its-topic',
  aliases: ['its-alias'],
  kind: 'its-kind',
  relations: [{ from: 'its-from', name: 'its_name', to: 'its-to', weight: 1, confidence: 0.8 }],
  author: 'its-author',
  role: 'its-role',
  sessionId: 'its-session',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
  lastAccessedAt: '2026-01-03T00:00:00.000Z',
  validFrom: '2026-01-04T00:00:00.000Z',
  validUntil: '2026-01-05T00:00:00.000Z',
  expiresAt: '2026-01-06T00:00:00.000Z',
  invalidatedAt: '2026-01-07T00:00:00.000Z',
  invalidReason: 'its-reason',
  coldSince: '2026-01-08T00:00:00.000Z',
  consolidatedAt: '2026-01-09T00:00:00.000Z',
  importance: 0.11,
  importanceSource: 'caller',
  confidence: 0.12,
  usefulness: 0.13,
  weight: 0.14,
  effectiveWeight: 0.15,
  stability: 0.16,
  accessCount: 17,
  sessions: ['one', 'two', 'three'],
  revisionCount: 18,
  tier: 'hot',
  supersedes: ['its-predecessor'],
  source: 'stated',
  sourceRef: 'its-reference',
  derivedFrom: ['its-origin'],
};

test('formatMemory shows every field', () => {
  const text = formatMemory(
    { ...memory, ordinal: 1, bornIn: undefined, seen: undefined, core: true, votes: undefined } as Memory,
    { now: parseInstant('2026-01-10T00:00:00Z'), paint: (_, plain) => plain },
  );
  const { sessions, metadata, relations, ...fields } = memory;
  for (const value of Object.values(fields).flat()) expect(text).toContain(String(value));
  expect(text).toContain(JSON.stringify(metadata));
  expect(relations).toHaveLength(1);
  expect(text).toMatch(/relations +its-from its_name its-to/);
  expect(text).toContain(`${sessions.length} sessions`);
  expect(text).toMatch(/tier +hot, core/);
});

test('a list leaves room for the text at every width', () => {
  const one = { ...memory, title: undefined, content: 'what was said, word for word' };
  const long = { ...one, id: '0'.repeat(36), content: 'and this is what was said then' };
  const at = (columns: number) =>
    formatMemories([one, long] as unknown as Memory[], {
      now: parseInstant('2026-01-10T00:00:00Z'),
      columns,
    });
  expect(at(Number.POSITIVE_INFINITY).split('\n')[0]).toMatch(/^id +type +scope +updated +content$/);
  expect(at(90).split('\n')[0]).toMatch(/^id +type +updated +content$/);
  expect(at(75).split('\n')[0]).toMatch(/^id +type +content$/);
  expect(at(64).split('\n')[0]).toMatch(/^id +content$/);
  expect(at(50).split('\n')).toEqual([
    'its-id · its-type',
    '  what was said, word for word',
    `${'0'.repeat(36)} · its-type`,
    '  and this is what was said then',
  ]);
  for (let columns = 3; columns < 120; columns++) {
    for (const line of at(columns).split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    if (columns >= 26) expect(at(columns)).toContain('and this is what was');
  }
});
