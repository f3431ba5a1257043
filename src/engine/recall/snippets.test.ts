import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';

test('the snippet of a hit is found when it is read, and is there for whoever copies or writes the hit', async () => {
  const { memory } = await live();
  await memory.remember(
    `${'long before it. '.repeat(40)}The boiler was serviced in May. ${'And so on. '.repeat(40)}`,
  );
  await memory.remember('Something else entirely.');
  const { hits } = await memory.recall('boiler', { limit: 2 });
  const [first, second] = hits;
  expect(Object.getOwnPropertyDescriptor(first, 'snippet')?.get).toBeTypeOf('function');
  const written = JSON.parse(JSON.stringify(first)) as { readonly snippet: string };
  expect(written.snippet).toContain('boiler was serviced');
  expect(written.snippet.length).toBeLessThan(first!.memory.content.length);
  expect({ ...first! }.snippet).toBe(written.snippet);
  expect(first!.snippet).toBe(written.snippet);
  // Printed, they are values, not "[Getter]".
  expect(inspect(first)).toMatch(/features: \{[^}]*combined: 0\.\d+/);
  expect(inspect(first)).toContain('boiler was serviced');
  expect(second && 'snippet' in second).toBe(second ? false : undefined);
});

test('a hit can be sent elsewhere as what JSON makes of it, with its explanation beside it', async () => {
  const { memory } = await live();
  await memory.remember('The boiler was serviced in May');
  const [hit] = (await memory.recall('boiler')).hits;
  const sent = structuredClone([JSON.parse(JSON.stringify(hit)), hit!.explain()]);
  const { memory: found, score, snippet, features, signals } = hit!;
  // What is absent in an answer is absent in JSON.
  const json = (value: unknown) => JSON.parse(JSON.stringify(value));
  expect(sent).toEqual([
    expect.objectContaining(json({ memory: found, score: score.value, snippet, features, signals })),
    hit!.explain(),
  ]);
  // A copy keeps its function, which is why structuredClone refuses a hit.
  expect({ ...hit! }.explain()).toEqual(hit!.explain());
});

test('what a query without a searched word is found in has a snippet too', async () => {
  const { memory } = await live();
  await memory.remember(`Is it C++? ${'And so on. '.repeat(40)}`);
  await memory.remember('Something else.');
  for (const query of ['?', 'is it', '++']) {
    const { hits } = await memory.recall(query, { strategy: 'lexical' });
    expect(hits.map(({ snippet }) => snippet)).toEqual([
      expect.stringMatching(/^Is it C\+\+\? And so on\..*…$/),
    ]);
  }
});
