import type { Document } from '@langchain/core/documents';
import type { BasePromptValueInterface } from '@langchain/core/prompt_values';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { RunnableLambda, RunnablePassthrough, RunnableSequence } from '@langchain/core/runnables';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { MemoryEngine } from '../index.ts';
import { liveFading as live } from '../testing/live-memory.ts';
import { type JsonValue, MemoryRetriever, MemoryStore } from './langchain.ts';

let memory: MemoryEngine;
let pass: (days: number) => void;
beforeEach(async () => {
  ({ memory, pass } = await live({ maxMetadataBytes: 2 ** 20 }));
});
afterEach(() => memory.close());

describe('the retriever', () => {
  test('returns the hits of a recall as documents, best first', async () => {
    const { id } = await memory.remember('Prefers dark roast coffee', { type: 'preference', tags: ['food'] });
    await memory.remember('Bought a coffee grinder');
    await memory.remember('Plays the cello');
    const retriever = new MemoryRetriever({ memory, recall: { strategy: 'bm25', limit: 2 } });
    const documents = await retriever.invoke('which coffee roast?');
    const { hits } = await memory.recall('which coffee roast?', { strategy: 'bm25', limit: 2 });
    expect(documents.map((each) => [each.id, each.metadata.score])).toEqual(
      hits.map((hit) => [hit.memory.id, hit.score.value]),
    );
    expect(documents[0]).toMatchObject({
      id,
      pageContent: 'Prefers dark roast coffee',
      metadata: { type: 'preference', tags: ['food'], strategy: 'bm25' },
    });
    expect(documents).toHaveLength(2);
  });

  test('queries with the beginning of a text that is too long', async () => {
    const { id } = await memory.remember('Prefers dark roast coffee');
    const documents = await new MemoryRetriever({ memory }).invoke(`dark roast coffee ${'x'.repeat(40_000)}`);
    expect(documents.map((each) => each.id)).toEqual([id]);
  });

  test.each([
    [{ question: 'coffee?' }, 'query: expected a text, not an object'],
    [undefined, 'query: expected a text, not undefined'],
  ])('says that %j is no query, and how a chain gives it one', async (input, message) => {
    const retriever = new MemoryRetriever({ memory });
    await expect(retriever.invoke(input as unknown as string)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(message),
    });
  });

  test('is a step of a chain, and its callbacks run', async () => {
    await memory.remember('Prefers dark roast coffee');
    const seen: string[] = [];
    const retriever = new MemoryRetriever({
      memory,
      callbacks: [{ handleRetrieverEnd: (documents) => void seen.push(`${documents.length} found`) }],
    });
    const chain = RunnableSequence.from([
      {
        context: retriever.pipe(new RunnableLambda({ func: ([first]: Document[]) => first?.pageContent })),
        question: new RunnablePassthrough(),
      },
      ChatPromptTemplate.fromTemplate('{context} | {question}'),
      new RunnableLambda({ func: (prompt: BasePromptValueInterface) => prompt.toString() }),
    ]);
    expect(await chain.invoke('coffee?')).toContain('Prefers dark roast coffee | coffee?');
    expect(seen).toEqual(['1 found']);
    await expect(retriever.invoke(' ')).rejects.toMatchObject({ code: 'blank_query' });
  });

  test('ends on the signal of its call or of its recalls, and runs its callbacks', async () => {
    await memory.remember('Prefers dark roast coffee');
    const retriever = new MemoryRetriever({ memory });
    const signal = AbortSignal.abort();
    const aborted = { code: 'aborted' };
    await expect(retriever.invoke('coffee?', { signal })).rejects.toMatchObject(aborted);
    await expect(
      new MemoryRetriever({ memory, recall: { signal } }).invoke('coffee?', {
        signal: new AbortController().signal,
      }),
    ).rejects.toMatchObject(aborted);
    expect(await retriever.invoke('coffee?', { signal: new AbortController().signal })).toHaveLength(1);
    expect(await retriever.invoke('coffee?')).toHaveLength(1);
    const seen: number[] = [];
    const callbacks = [{ handleRetrieverEnd: (documents: unknown[]) => void seen.push(documents.length) }];
    await retriever.invoke('coffee?', { callbacks });
    await retriever.invoke('coffee?', callbacks as object);
    expect(seen).toEqual([1, 1]);
  });
});

describe('the store', () => {
  const keysOf = async (store: MemoryStore, prefix?: string) => {
    const keys: string[] = [];
    for await (const key of store.yieldKeys(prefix)) keys.push(key);
    return keys.sort();
  };

  test('returns every JSON value unchanged: deep, empty, long or odd', async () => {
    const store = new MemoryStore({ memory });
    let deep: JsonValue = 'bottom';
    for (let level = 0; level < 30; level++) deep = { deep };
    const values: Readonly<Record<string, JsonValue>> = {
      text: 'vegetarian',
      same: 'vegetarian',
      empty: '',
      zero: 0,
      nothing: null,
      list: [1, [2, { three: 3 }]],
      deep,
      long: 'word '.repeat(3000),
      'odd: "key"': 'half \ud800 of a pair, a \u0000 control',
    };
    await store.mset(Object.entries(values));
    expect(await store.mget(Object.keys(values))).toEqual(Object.values(values));
    expect(await keysOf(store)).toEqual(Object.keys(values).sort());
    expect(await store.mget(['unknown'])).toEqual([undefined]);
  });

  test('a new value replaces the old one, whose history stays', async () => {
    const store = new MemoryStore({ memory });
    await store.mset([['diet', 'vegetarian']]);
    await store.mset([['diet', 'vegan']]);
    expect(await store.mget(['diet'])).toEqual(['vegan']);
    const { memories } = await memory.list();
    expect(memories).toMatchObject([{ content: 'diet: vegan', topicKey: 'diet', revisionCount: 2 }]);
    const history = await memory.history(memories[0]?.id ?? '');
    expect(history.at(-1)?.before?.content).toBe('diet: vegetarian');
    const { hits } = await memory.recall('diet');
    expect(hits[0]?.memory.content).toBe('diet: vegan');
  });

  test('similar keys are kept apart, and so are scopes', async () => {
    const store = new MemoryStore({ memory });
    const other = new MemoryStore({ memory, scope: 'project:x' });
    await store.mset([
      ['a', 'b: c'],
      ['a: b', 'c'],
    ]);
    await other.mset([['a', 'elsewhere']]);
    expect(await store.mget(['a', 'a: b'])).toEqual(['b: c', 'c']);
    expect(await other.mget(['a', 'a: b'])).toEqual(['elsewhere', undefined]);
    expect(await keysOf(other)).toEqual(['a']);
    await other.mdelete(['a', 'a: b']);
    expect(await keysOf(other)).toEqual([]);
    expect(await store.mget(['a', 'a: b'])).toEqual(['b: c', 'c']);
  });

  test('a memory that superseded a value under another key is not deleted with it', async () => {
    const store = new MemoryStore({ memory });
    const { id } = await memory.remember('Lives in Rome', { topicKey: 'home' });
    await memory.remember('Lives in Oslo', { topicKey: 'address', supersedes: id });
    await store.mdelete(['home']);
    expect(await memory.get(id)).toBeUndefined();
    expect(await store.mget(['address'])).toEqual(['Lives in Oslo']);
  });

  test('keys that differ only in spaces or Unicode forms are kept apart', async () => {
    const store = new MemoryStore({ memory });
    const keys = [
      'a b',
      'a  b',
      'a   b',
      ' a b',
      'a b ',
      'a\tb',
      'a\\tb',
      'é',
      'e\u0301',
      'é: x',
      'e\u0301: x',
      'x: y',
      'x:  y',
    ];
    await store.mset(keys.map((key) => [key, 'same']));
    expect(await store.mget(keys)).toEqual(keys.map(() => 'same'));
    await store.mset(keys.map((key, at) => [key, { at }]));
    expect(await store.mget(keys)).toEqual(keys.map((_, at) => ({ at })));
    expect((await keysOf(store)).sort()).toEqual([...keys].sort());
  });

  test('a value of an earlier version comes back unchanged', async () => {
    const store = new MemoryStore({ memory });
    const metadata = { value: '{"kind":"vegan"}' };
    await memory.remember('my  diet: {"kind":"vegan"}', { topicKey: 'my  diet', type: 'fact', metadata });
    expect(await store.mget(['my  diet'])).toEqual([{ kind: 'vegan' }]);
  });

  test('a text that is stored under another topic is refused, and one without a topic is taken over', async () => {
    const store = new MemoryStore({ memory, type: 'fact' });
    const { id } = await memory.remember('diet: vegan', { type: 'fact', topicKey: 'food' });
    await memory.remember('pet: 3', { type: 'fact' });
    const setting = store.mset([
      ['diet', 'vegan'],
      ['pet', 3],
    ]);
    await expect(setting).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field: 'diet', id },
      message: expect.stringContaining('about "food"; change or forget that memory'),
    });
    expect(await store.mget(['diet', 'pet'])).toEqual([undefined, 3]);
  });

  test('keys are found by their prefix; deleted ones are forgotten', async () => {
    const store = new MemoryStore({ memory });
    await store.mset([
      ['users/1', { name: 'Ada' }],
      ['users/2', { name: 'Bo' }],
      ['places/1', { name: 'Rome' }],
    ]);
    expect(await keysOf(store, 'users/')).toEqual(['users/1', 'users/2']);
    await store.mdelete(['users/1', 'never there']);
    expect(await keysOf(store)).toEqual(['places/1', 'users/2']);
    expect((await memory.recall('Ada', { strategy: 'bm25' })).hits).toEqual([]);
  });

  test('refuses invalid pairs and values that are nested too deeply, by name', async () => {
    const store = new MemoryStore({ memory });
    const set = (pairs: unknown) => store.mset(pairs as [string, JsonValue][]);
    const deep = JSON.parse(`${'['.repeat(1001)}${']'.repeat(1001)}`) as JsonValue;
    for (const [pairs, field] of [
      ['x', 'pairs'],
      [{ a: 1 }, 'pairs'],
      [['a'], 'pairs'],
      [[[5, 'a']], 'pairs'],
      [[['deep', deep]], 'deep'],
    ] as const)
      await expect(set(pairs)).rejects.toMatchObject({ code: 'invalid_argument', details: { field } });
    for (const read of [store.mget('x' as never), store.mdelete('x' as never)])
      await expect(read).rejects.toMatchObject({ code: 'invalid_argument', details: { field: 'keys' } });
    await store.mset([['less', JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`) as JsonValue]]);
  });

  test.each([
    [Number.NaN, 'u'],
    [undefined, 'u'],
    [{ since: new Date(0) }, 'u.since'],
    [{ a: [1, Number.POSITIVE_INFINITY] }, 'u.a[1]'],
    [{ a: { b: [undefined] } }, 'u.a.b[0]'],
    // biome-ignore lint/suspicious/noSparseArray: what it leaves out would become null.
    [[1, , 3], 'u[1]'],
    [[() => 1], 'u[0]'],
    [{ n: 1n }, 'u.n'],
    [{ s: Symbol('s') }, 'u.s'],
    [[new Map([['a', 1]])], 'u[0]'],
    [new Set([1]), 'u'],
    [{ url: new URL('https://example.com') }, 'u.url'],
    [new (class Point {})(), 'u'],
  ])('%o would not come back, and is refused by its path', async (value, field) => {
    const store = new MemoryStore({ memory });
    await expect(
      store.mset([
        ['ok', 1],
        ['u', value as JsonValue],
      ]),
    ).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field },
    });
    expect(await store.mget(['ok'])).toEqual([undefined]);
  });

  test('an undefined property counts as absent', async () => {
    const store = new MemoryStore({ memory });
    await store.mset([['optional', { a: undefined, b: 1 } as never]]);
    expect(await store.mget(['optional'])).toEqual([{ b: 1 }]);
  });

  test('deleted keys are forgotten in one operation, all or none', async () => {
    const forget = vi.fn(memory.forget);
    const store = new MemoryStore({ memory: { ...memory, forget } });
    const keys = Array.from({ length: 20 }, (_, at) => `key ${at}`);
    await store.mset(keys.map((key) => [key, key]));
    await expect(store.mdelete([...keys, ''])).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(await keysOf(store)).toHaveLength(20);
    await store.mdelete([...keys, 'key 3']);
    expect(await keysOf(store)).toEqual([]);
    expect(forget).toHaveBeenCalledOnce();
  });

  test('a key that is deleted twice at once is gone', async () => {
    const store = new MemoryStore({ memory });
    await store.mset([['diet', 'vegan']]);
    await Promise.all([store.mdelete(['diet']), store.mdelete(['diet'])]);
    expect(await keysOf(store)).toEqual([]);
  });

  test('a memory that was remembered or changed in another way is a value too', async () => {
    const store = new MemoryStore({ memory });
    await memory.remember('Lives in Rome', { topicKey: 'home' });
    await store.mset([['diet', { kind: 'vegan' }]]);
    const [diet] = (await memory.list()).memories.filter(({ topicKey }) => topicKey === 'diet');
    await memory.update(diet?.id ?? '', { content: 'Eats everything now' });
    expect(await store.mget(['home', 'diet'])).toEqual(['Lives in Rome', 'Eats everything now']);
  });

  test('a value survives time and maintenance', async () => {
    const store = new MemoryStore({ memory });
    await store.mset([['diet', { kind: 'vegan', why: 'because '.repeat(100) }]]);
    for (let month = 0; month < 40; month++) {
      pass(30);
      await memory.maintain({ consolidate: true });
    }
    expect((await memory.list()).memories).toMatchObject([{ tier: 'stub' }]);
    expect(await store.mget(['diet'])).toEqual([{ kind: 'vegan', why: 'because '.repeat(100) }]);
    expect(await keysOf(store)).toEqual(['diet']);
    pass(1);
    await store.mset([['diet', 'anything']]);
    expect(await store.mget(['diet'])).toEqual(['anything']);
    await store.mdelete(['diet']);
    expect((await memory.list()).memories).toEqual([]);
  });

  test('one invalid value prevents the whole write; an invalidated one is not silently set', async () => {
    const store = new MemoryStore({ memory });
    const bad = [
      ['good', 1],
      ['bad', undefined],
    ] as unknown as [string, JsonValue][];
    await expect(store.mset(bad)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field: 'bad' },
    });
    expect(await keysOf(store)).toEqual([]);
    await store.mset([['diet', 'vegan']]);
    const [{ id } = { id: '' }] = (await memory.list()).memories;
    await memory.invalidate(id, 'a joke');
    expect(await store.mget(['diet'])).toEqual([undefined]);
    await expect(store.mset([['diet', 'vegan']])).rejects.toThrow(/was invalidated \(a joke\): reinstate/);
  });

  test('a key with private text is refused: its value could not be found, and another one would replace it', async () => {
    const store = new MemoryStore({ memory });
    const setting = store.mset([
      ['diet', 'vegan'],
      ['<private>Ada</private>', 1],
    ]);
    await expect(setting).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/^pairs\[1\]: the key has text in <private>/),
    });
    expect(await store.mget(['diet'])).toEqual([undefined]);
  });

  test('private text is never stored', async () => {
    const store = new MemoryStore({ memory });
    await store.mset([['note', { text: 'pin <private>1234</private>', rest: 'here' }]]);
    expect(await store.mget(['note'])).toEqual([{ text: 'pin [REDACTED]', rest: 'here' }]);
    await store.mset([['open', ['<private>1234', 'after']]]);
    expect(await store.mget(['open'])).toEqual([['[REDACTED]', 'after']]);
    expect(JSON.stringify(await memory.list())).not.toContain('1234');
  });
});
