import { expect, test } from 'vitest';
import { openMemory } from '../../index.ts';
import { isNameOfPerson } from '../../text/names.ts';

const clock = () => Date.UTC(2026, 0, 10);
const open = () =>
  openMemory({ path: ':memory:', space: 'chat', embedder: 'none', clock, people: 'authors' });

async function peopleIn(memory: Awaited<ReturnType<typeof open>>, scope?: string) {
  const found = await memory.entities(undefined, { scope });
  return found.map(({ title, kind, scope: at }) => `${title} ${kind} ${at}`).sort();
}

test('an author becomes one entity, as old as the first statement', async () => {
  await using memory = await open();
  const results = await memory.rememberMany([
    { content: 'I moved to Oslo', author: 'Ann Lee', createdAt: '2025-03-02' },
    { content: 'Welcome!', author: 'Bob', createdAt: '2025-03-03' },
    { content: 'It is cold here', author: 'ANN LEE', createdAt: '2025-03-01' },
    { content: 'And dark', author: 'Ann Lee', createdAt: '2025-03-04' },
    { content: 'I can help with that', author: 'Claude', role: 'assistant' },
  ]);
  expect(results).toHaveLength(5);
  expect(await peopleIn(memory)).toEqual(['Ann Lee person global', 'Bob person global']);
  const [ann] = await memory.entities('Ann Lee');
  expect(ann).toMatchObject({ createdAt: '2025-03-01T00:00:00.000Z', content: 'Ann Lee' });
  await memory.remember('Thanks, and how is Bob?', { author: 'Ann Lee' });
  expect(await peopleIn(memory)).toHaveLength(2);
  expect((await memory.stats()).memories).toBe(8);
});

test('one undo takes the statement and the person back', async () => {
  await using memory = await open();
  await memory.remember('I moved to Oslo', { author: 'Ann' });
  expect((await memory.stats()).memories).toBe(2);
  await memory.undo();
  expect((await memory.stats()).memories).toBe(0);
});

test('an author is known by an alias and from an ancestor scope, but not from a sibling scope', async () => {
  await using memory = await open();
  await memory.remember('Our lead', { type: 'entity', title: 'Ann Lee', aliases: ['Ann'] });
  await memory.remember('Hello', { author: 'ANN', scope: 'team:a' });
  await memory.remember('Hello there', { author: 'Bob', scope: 'team:a' });
  await memory.remember('Hello again', { author: 'Bob', scope: 'team:b' });
  await memory.remember('Hello to all', { author: 'Bob', scope: 'team:a/project:x' });
  expect(await peopleIn(memory, 'team:a/project:x')).toEqual([
    'Ann Lee undefined global',
    'Bob person team:a',
  ]);
  expect(await peopleIn(memory, 'team:b')).toEqual(['Ann Lee undefined global', 'Bob person team:b']);
});

test('a place of that name is a different entity; an invalidated person does not come back', async () => {
  await using memory = await open();
  await memory.remember('A city', { type: 'entity', title: 'Paris', kind: 'place' });
  await memory.remember('Hi', { author: 'Paris' });
  expect(await peopleIn(memory)).toEqual(['Paris person global', 'Paris place global']);
  const [person] = await memory.entities('Paris', { kind: 'person' });
  await memory.invalidate(person!.id, 'a bot');
  await memory.remember('Hi again', { author: 'Paris' });
  expect(await peopleIn(memory)).toEqual(['Paris place global']);
  const before = (await memory.stats()).memories;
  await memory.forget(person!.id);
  await memory.remember('Hi for the third time', { author: 'Paris' });
  expect((await memory.stats()).memories).toBe(before);
});

test('an entity of the same batch is the person', async () => {
  await using memory = await open();
  await memory.rememberMany([
    { content: 'Hello', author: 'Ann' },
    { content: 'Leads the team', type: 'entity', title: 'Ann', kind: 'person', author: 'Bob' },
  ]);
  const found = await memory.entities();
  expect(found.map(({ title, content }) => [title, content])).toEqual([['Ann', 'Leads the team']]);
});

test('nothing is added without the setting, which configure changes', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'chat', embedder: 'none', clock });
  await memory.remember('Hello', { author: 'Ann' });
  expect((await memory.stats()).memories).toBe(1);
  expect(await memory.configure()).toMatchObject({ people: 'off' });
  expect(await memory.configure({ people: 'authors' })).toMatchObject({ people: 'authors' });
  await memory.remember('Hello again', { author: 'Ann' });
  expect((await memory.stats()).memories).toBe(3);
  await expect(memory.configure({ people: 'all' as 'off' })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('people'),
  });
});

test('a known statement is not reported to contradict the name of its author', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'chat', clock });
  await memory.remember('Bob Hale');
  await memory.remember('I moved to Oslo', { author: 'Bob Hale' });
  await memory.configure({ people: 'authors' });
  const again = await memory.remember('I moved to Oslo', { author: 'Bob Hale' });
  expect(again).toMatchObject({ outcome: 'deduplicated' });
  expect(again.conflicts).toBeUndefined();
  expect(await memory.conflicts()).toEqual([]);
  expect(await peopleIn(memory)).toEqual(['Bob Hale person global']);
});

test.each([
  ['Ann', true],
  ['Ann Lee-Smith', true],
  ["Conan O'Brien", true],
  ['Martin L. King, Jr.', true],
  ['Will', true],
  ['ANN', true],
  ['美咲', true],
  ['محمد', true],
  ['A', false],
  ['ann', false],
  ['ann_99', false],
  ['Ann99', false],
  ['ann@example.com', false],
  ['User', false],
  ['Support Team', false],
  ['support agent', false],
  ['Customer Ann', true],
  ['@Ann', false],
  ['Ann '.repeat(20), false],
])('%s as an author is a name of a person: %s', (author, isName) => {
  expect(isNameOfPerson(author)).toBe(isName);
});
