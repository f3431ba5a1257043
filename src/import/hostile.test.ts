import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importAll, readContent } from '../../test/import/import-text.ts';
import { SalienceError } from '../domain/errors.ts';
import type { ImportCounts, ImportFormat } from './index.ts';

/** One small file of each format, as its product writes it. */
const samples: Readonly<Record<Exclude<ImportFormat, 'git'>, { name: string; content: unknown }>> = {
  jsonl: {
    name: 'facts.jsonl',
    content: [
      { content: 'Deploys happen on Thursdays', type: 'procedure', tags: ['release'] },
      { id: 'owl', content: 'The mascot is an owl', createdAt: '2024-05-01', topicKey: 'mascot' },
      { content: 'Ann drinks tea', metadata: { from: 'chat', n: 3 }, importance: 0.7, sessionId: 's1' },
    ],
  },
  markdown: {
    name: '2024-05-01.md',
    content:
      '---\ntags: [work, plans]\naliases: [Day]\n---\n# Plans\n\nAsk [[Ann Lee|Ann]] about #roadmap.\n\n%% secret %%\n\n## Later\n\n```\n[[no link]] %% kept %%\n```\n\n- one\n- [[2024-05-02#Tea]]\n',
  },
  text: { name: 'notes.txt', content: 'One paragraph.\n\nAnother one,\nof two lines.\n' },
  answer: {
    name: 'printed.json',
    content: {
      memories: [
        { id: 'a', content: 'Likes tea', createdAt: '2026-01-01T00:00:00.000Z', revisionCount: 1 },
        { id: 'b', content: 'Likes rye', createdAt: '2026-01-02T00:00:00.000Z', revisionCount: 2 },
      ],
      total: 2,
    },
  },
  mem0: {
    name: 'mem0.json',
    content: {
      results: [
        {
          ...{ id: 'm1', memory: 'Likes oat milk', user_id: 'ann', hash: 'x', score: 0.4 },
          ...{ created_at: '2025-01-01T10:00:00-08:00', updated_at: null, categories: ['food'] },
          ...{ metadata: { place: 'Oslo' }, immutable: true, run_id: 7 },
        },
        { id: 'm2', memory: 'Works at Acme', user_id: 'ann', categories: ['personal_details'] },
      ],
      relations: [{ source: 'ann', relationship: 'works_at', target: 'acme', user_id: 'ann' }],
    },
  },
  letta: {
    name: 'agent.af',
    content: {
      agents: [{ id: 'agent-0', name: 'Sam', block_ids: ['block-0'], messages: [{ role: 'user' }] }],
      blocks: [{ id: 'block-0', label: 'human', value: 'The user is Ann.', metadata: { a: 1 } }],
    },
  },
  chatgpt: {
    name: 'conversations.json',
    content: [
      {
        ...{ id: 'c1', title: 'Tea', create_time: 1700000000.5, current_node: 'b' },
        mapping: {
          r: { id: 'r', parent: null, children: ['a'], message: null },
          a: {
            ...{ id: 'a', parent: 'r', children: ['b'] },
            message: {
              ...{ id: 'a', author: { role: 'user' }, create_time: 1700000001 },
              content: { content_type: 'text', parts: ['I drink green tea'] },
            },
          },
          b: {
            ...{ id: 'b', parent: 'a', children: [] },
            message: {
              ...{ id: 'b', author: { role: 'assistant' }, create_time: 1700000002 },
              content: { content_type: 'text', parts: ['Noted.', { image: 1 }] },
            },
          },
        },
      },
    ],
  },
  claude: {
    name: 'conversations.json',
    content: [
      {
        ...{ uuid: 'c1', name: 'Tea', created_at: '2025-02-01T10:00:00Z', account: { uuid: 'u1' } },
        chat_messages: [
          { uuid: 'm1', sender: 'human', text: 'I drink tea', created_at: '2025-02-01T10:00:01Z' },
          { uuid: 'm2', sender: 'assistant', text: '', content: [{ type: 'text', text: 'Noted' }] },
        ],
      },
    ],
  },
  engram: {
    name: 'engram.json',
    content: {
      sessions: [{ id: 's1', project: 'shop', started_at: '2025-01-01 10:00:00', summary: 'Fixed a leak' }],
      observations: [
        {
          ...{
            id: 1,
            sync_id: 'o1',
            session_id: 's1',
            type: 'bugfix',
            title: 'Leak',
            content: 'A pool leaked',
          },
          ...{ project: 'shop', scope: 'project', topic_key: 'bug/leak', created_at: '2025-01-01 10:05:00' },
        },
      ],
      prompts: [{ id: 1, session_id: 's1', content: 'Why does it leak?', project: 'shop' }],
    },
  },
  'mcp-memory': {
    name: 'memory.json',
    content: [
      { type: 'entity', name: 'Ann', entityType: 'person', observations: ['Likes tea', 'Speaks Finnish'] },
      { type: 'entity', name: 'Acme', entityType: 'company', observations: [] },
      { type: 'relation', from: 'Ann', to: 'Acme', relationType: 'works_at' },
    ],
  },
};
const LINES: ReadonlySet<string> = new Set(['jsonl', 'mcp-memory']);

/** What nobody expects at a place in a document. */
const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 1e308, '', ' ', '\0', '﻿', '\ud800', [], {}, '__proto__'),
  fc.constantFrom<unknown>('0000-00-00', '9999999-01-01', 1e15, -5, 'global/../..', 'a'.repeat(5000)),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** An own property, also of the name `__proto__`, to which an assignment would give another meaning. */
const addKey = (holder: object, key: string) =>
  Object.defineProperty(holder, key, { value: key, enumerable: true, writable: true, configurable: true });

/** A document with one of its values, anywhere in it, replaced, left out, or said twice. */
function spoilt(document: unknown): fc.Arbitrary<unknown> {
  const places: (readonly (string | number)[])[] = [];
  const collect = (value: unknown, path: readonly (string | number)[]): void => {
    if (path.length > 0) places.push(path);
    if (Array.isArray(value)) for (const [at, each] of value.entries()) collect(each, [...path, at]);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) collect(each, [...path, key]);
    }
  };
  collect(document, []);
  const change = fc.record({
    path: fc.constantFrom(...places),
    how: fc.constantFrom('replace', 'remove', 'repeat', 'key'),
    value: junk,
  });
  return fc.array(change, { minLength: 0, maxLength: 4 }).map((changes) => {
    const copy = structuredClone(document);
    for (const { path, how, value } of changes) {
      let holder = copy as Record<string | number, unknown> | undefined;
      for (const step of path.slice(0, -1)) {
        const next = holder?.[step];
        holder = typeof next === 'object' && next !== null ? (next as typeof holder) : undefined;
      }
      const last = path.at(-1) as string | number;
      if (!holder) continue;
      if (how === 'replace') holder[last] = value;
      else if (how === 'repeat' && Array.isArray(holder)) holder.push(holder[last as number]);
      else if (how === 'key' && typeof value === 'string' && !Array.isArray(holder)) addKey(holder, value);
      else if (how === 'remove' && Array.isArray(holder)) holder.splice(Number(last), 1);
      else if (how === 'remove') delete holder[last];
    }
    return copy;
  });
}

/** The bytes of a file, perhaps with what editors and broken copies do to it. */
function bytesOf(format: string, document: unknown): fc.Arbitrary<Uint8Array> {
  const text = LINES.has(format)
    ? (Array.isArray(document) ? document : [document]).map((each) => JSON.stringify(each)).join('\n')
    : typeof document === 'string'
      ? document
      : (JSON.stringify(document) ?? '');
  return fc
    .record({
      mark: fc.boolean(),
      carriage: fc.boolean(),
      cut: fc.option(fc.nat(), { freq: 4 }),
      flip: fc.option(fc.tuple(fc.nat(), fc.nat(255)), { freq: 5 }),
    })
    .map(({ mark, carriage, cut, flip }) => {
      const said = carriage ? text.replaceAll('\n', '\r\n') : text;
      const whole = new TextEncoder().encode((mark ? '\ufeff' : '') + said);
      const bytes = cut === null ? whole : whole.slice(0, cut % (whole.length + 1));
      if (flip !== null && bytes.length > 0) bytes[flip[0] % bytes.length] = flip[1];
      return bytes;
    });
}

const RUNS = Number(process.env['SALIENCE_HOSTILE'] ?? 40);
const allOf = ({ linked: _, ...counts }: Partial<ImportCounts> = {}) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
const EXPECTED: ReadonlySet<string> = new Set(['invalid_argument', 'unreadable_file']);

describe.each(Object.entries(samples))('a file of the format %s', (format, { name, content }) => {
  const files = (typeof content === 'string' ? fc.constant<unknown>(content) : spoilt(content)).chain(
    (document) => bytesOf(format, document),
  );
  const options = { format: format as ImportFormat };

  it('is read whole as it is', async () => {
    const bytes = await fc.sample(bytesOf(format, content), 1);
    expect(bytes).toHaveLength(1);
    const whole = LINES.has(format)
      ? (content as readonly unknown[]).map((each) => JSON.stringify(each)).join('\n')
      : content;
    const { items } = await readContent(name, whole, options);
    expect(items.filter(({ kind }) => kind === 'unusable')).toEqual([]);
    expect(items.filter(({ kind }) => kind === 'statement' || kind === 'record').length).toBeGreaterThan(0);
  });

  it(`brings nothing twice and fails only with a reason, whatever is in it (${RUNS} drawn)`, async () => {
    await fc.assert(
      fc.asyncProperty(files, async (bytes) => {
        try {
          const { counts, memories } = await importAll(name, [bytes, bytes], options);
          const [first, second] = counts;
          expect(second?.imported).toBe(0);
          // A damaged copy of a memory that is there by then says nothing else of it: it is unchanged.
          expect(second?.skipped).toBeLessThanOrEqual(first?.skipped ?? 0);
          expect(allOf(second)).toBe(allOf(first));
          expect(second?.linked ?? 0).toBe(0);
          expect(new Set(memories.map(({ id }) => id)).size).toBe(memories.length);
          // A flipped byte may make a comment of no comment.
          if (new TextDecoder().decode(bytes).includes('%% secret %%')) {
            for (const { content: text } of memories) expect(text).not.toContain('secret');
          }
        } catch (error) {
          if (!SalienceError.isInstance(error)) throw error;
          expect(EXPECTED).toContain(error.code);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

it.each<[string, unknown, ImportFormat]>([
  ['quotes.md', `${'> '.repeat(10_000)}x`, 'markdown'],
  ['lists.md', `${'- '.repeat(10_000)}x`, 'markdown'],
  [
    'lines.jsonl',
    `{"content":"x","metadata":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}\n{"content":"Flat"}\n`,
    'jsonl',
  ],
])('what is nested too deeply is named in %s, and the rest is read', async (name, content, format) => {
  const { counts, memories } = await importAll(name, [content, content], { format });
  expect(counts[0]?.skipped).toBe(1);
  expect(memories.map(({ content }) => content)).toEqual(format === 'markdown' ? [] : ['Flat']);
});

it('metadata of a record that is nested too deeply is left out, and the record is read', async () => {
  const metadata = `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`;
  const content = `{"results":[{"id":"deep","memory":"Deep","metadata":${metadata}}]}`;
  const { counts, memories } = await importAll('mem0.json', [content, content], { format: 'mem0' });
  expect(counts).toMatchObject([{ imported: 1, skipped: 0 }, { unchanged: 1 }]);
  expect(memories).toMatchObject([{ content: 'Deep', metadata: { mem0Id: 'deep' } }]);
});

it('a field that is null counts as absent, except in metadata', async () => {
  const nothing = { id: null, title: null, tags: null, sessionId: null, validUntil: null, ttl: null };
  const line = JSON.stringify({ content: 'Ann drinks tea', metadata: { cup: null }, ...nothing });
  const { counts, memories } = await importAll('facts.jsonl', [`${line}\n{"content":null}\n`, line], {
    format: 'jsonl',
    tags: ['imported'],
  });
  expect(counts).toMatchObject([{ imported: 1, skipped: 1 }, { unchanged: 1 }]);
  expect(memories).toMatchObject([
    { content: 'Ann drinks tea', metadata: { cup: null }, tags: ['imported'] },
  ]);
});

it('the tags of an import are those of exported memories too', async () => {
  for (const [name, content, format] of [
    [
      'export.jsonl',
      `${JSON.stringify((samples.answer.content as { memories: readonly unknown[] }).memories[0])}\n`,
      'jsonl',
    ],
    ['printed.json', samples.answer.content, 'answer'],
  ] as const) {
    const { memories } = await importAll(name, [content], { format, tags: ['imported'] });
    expect(memories.length).toBeGreaterThan(0);
    for (const { tags } of memories) expect(tags).toEqual(['imported']);
  }
});
