import { expect, test } from 'vitest';
import { SalienceError } from '../../domain/errors.ts';
import type { SpaceStore, Store } from '../../store/store.ts';
import { interruptedEmbedder } from '../../testing/interrupted-embedder.ts';
import { live, liveFading } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';
import type { MemoryEngine } from '../memory-engine.ts';

/** Writes as operation 3 or later, each of which is then undone twice. */
const writes: readonly (readonly [string, (memory: MemoryEngine) => Promise<unknown>])[] = [
  ['an update', (memory) => memory.update('a', { content: 'Anna likes coffee' })],
  ['a link', (memory) => memory.link('a', 'b')],
  ['a setting', (memory) => memory.configure({ fading: 'retention' })],
  ['a vote', (memory) => memory.feedback('a', 'up')],
  ['a new memory', (memory) => memory.remember('Anna likes milk', { id: 'c' })],
];

test.each(writes)('%s that was undone already is said to be', async (_, change) => {
  const { memory } = await live();
  await memory.remember('Anna likes tea', { id: 'a' });
  await memory.remember('Ben likes chess', { id: 'b' });
  await change(memory);
  const { operation } = await memory.undo();
  const [undoing] = await memory.operations({ limit: 1 });
  const error = await expectCode(memory.undo({ operation }), 'cannot_undo');
  expect(error.message).toContain(
    `operation ${operation} was undone already, by operation ${undoing?.operation}`,
  );
  expect(error.details).toEqual({ operation, problem: 'undone', undoneBy: undoing?.operation });
  expect(await memory.get('a')).toMatchObject({ content: 'Anna likes tea' });
});

test('several undos at once each undo a different operation', async () => {
  const { memory } = await live();
  await memory.remember('Anna likes tea', { id: 'a' });
  await memory.update('a', { content: 'Anna likes coffee' });
  await memory.update('a', { content: 'Anna likes milk' });
  const undone = await Promise.all([memory.undo(), memory.undo()]);
  expect(undone.map(({ operation }) => operation).sort()).toEqual([2, 3]);
  expect(await memory.get('a')).toMatchObject({ content: 'Anna likes tea' });
  const [last, ...late] = await Promise.allSettled([memory.undo(), memory.undo(), memory.undo()]);
  expect(last).toMatchObject({ status: 'fulfilled', value: { operation: 1 } });
  for (const each of late) {
    expect(each).toMatchObject({
      status: 'rejected',
      reason: { code: 'cannot_undo', message: 'there is nothing to undo' },
    });
  }
});

test('an undo that is overtaken by another one while it embeds undoes the operation before', async () => {
  const embedder = interruptedEmbedder({ tea: 0, coffee: 45, milk: 90 });
  const { memory } = await live({ embedder });
  await memory.remember('tea', { id: 'a' });
  await memory.update('a', { content: 'coffee' });
  await memory.update('a', { content: 'milk' });
  embedder.meanwhile = () => memory.undo();
  expect(await memory.undo()).toMatchObject({ operation: 2 });
  expect(await memory.get('a')).toMatchObject({ content: 'tea' });
});

test.each(['a', 'c'])('forgetting the memory %s keeps no write of the one it was linked with', async (id) => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('One', { id: 'b' });
  await memory.update('b', { content: 'Uno' });
  await memory.remember('Two', { id });
  await memory.link(id, 'b');
  await memory.forget(id);
  expect(await memory.undo()).toMatchObject({ operation: 2, verb: 'update' });
  expect(await memory.get('b')).toMatchObject({ content: 'One' });
  expect(await memory.undo()).toMatchObject({ operation: 1, verb: 'remember' });
});

test('an undo of what is forgotten while it embeds is refused', async () => {
  const embedder = interruptedEmbedder({ tea: 0, coffee: 45 });
  const { memory } = await live({ embedder });
  await memory.remember('tea', { id: 'a' });
  await memory.update('a', { content: 'coffee' });
  embedder.meanwhile = () => memory.forget('a');
  const error = await expectCode(memory.undo(), 'cannot_undo');
  expect(error.details).toEqual({ operation: 2, problem: 'redacted' });
  expect(await memory.get('a')).toBeUndefined();
});

test('of several undos at once, only one undoes a run', async () => {
  const { memory, pass } = await live({ fading: 'retention', embedder: 'none' });
  await memory.remember('Saw a heron by the river', { id: 'a', type: 'event', importance: 0 });
  pass(18);
  await memory.maintain();
  pass(7);
  expect((await memory.maintain()).cooled).toEqual(['a']);
  const [run, before, late] = await Promise.allSettled([memory.undo(), memory.undo(), memory.undo()]);
  expect([run, before]).toMatchObject([
    { status: 'fulfilled', value: { verb: 'maintain' } },
    { status: 'fulfilled', value: { operation: 1 } },
  ]);
  expect(late).toMatchObject({ status: 'rejected', reason: { message: 'there is nothing to undo' } });
});

test('an undo whose result cannot be read undoes no further operation', async () => {
  const inner = createReferenceStore();
  let isBroken = false;
  const failing = (space: SpaceStore): SpaceStore => ({
    ...space,
    find: async (...given: Parameters<SpaceStore['find']>) => {
      if (isBroken) throw new SalienceError('store_busy', 'busy');
      return space.find(...given);
    },
  });
  const openSpace: Store['openSpace'] = async (...given) => failing(await inner.openSpace(...given));
  const { memory } = await live({ store: { ...inner, openSpace } });
  await memory.remember('Anna likes tea', { id: 'a' });
  for (const drink of ['coffee', 'milk', 'juice'])
    await memory.update('a', { content: `Anna likes ${drink}` });
  isBroken = true;
  const error = await expectCode(memory.undo(), 'store_busy');
  isBroken = false;
  expect(error.details).toMatchObject({ written: true });
  expect(await memory.get('a')).toMatchObject({ content: 'Anna likes milk' });
});

test('what an operation removed comes back with its links', async () => {
  const { memory } = await live({ embedder: interruptedEmbedder({ tea: 0, milk: 90, coffee: 10 }) });
  await memory.remember('tea', { id: 'a' });
  await memory.remember('milk', { id: 'm' });
  const { conflicts } = await memory.remember('coffee', { id: 'b' });
  await memory.link('b', 'm', { weight: 0.5 });
  const linked = await memory.links('b');
  await memory.resolve(conflicts?.[0]?.conflictId as string, 'update');
  expect(await memory.get('b')).toBeUndefined();
  await memory.undo();
  expect(await memory.get('b')).toMatchObject({ content: 'coffee' });
  expect(await memory.links('b')).toEqual(linked);
});

test('a memory that names one which an export lacked is restored', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Anna likes tea', { id: 'a' });
  const original = await memory.get('a');
  await memory.importMemories([{ ...original!, id: 'b', content: 'Anna likes milk', supersedes: ['lost'] }]);
  await memory.update('b', { content: 'Anna likes coffee' });
  await memory.undo();
  expect(await memory.get('b')).toMatchObject({ content: 'Anna likes milk', supersedes: ['lost'] });
});

const runs = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((weekday, at) => ({
  id: `run${at}`,
  content: `Went for a long run along the river on ${weekday}`,
  type: 'event',
  importance: 0,
}));

/** A store on which the next undo decides, then something else is written, and the undo decides again as it writes. */
function overtakenStore() {
  const inner = createReferenceStore();
  const meanwhile: (() => Promise<unknown>)[] = [];
  const openSpace: Store['openSpace'] = async (...given) => {
    const space = await inner.openSpace(...given);
    const write: typeof space.write = async (entry, decide) => {
      const other = entry.verb === 'undo' ? meanwhile.pop() : undefined;
      if (other) {
        await decide(space);
        await other();
      }
      return space.write(entry, decide);
    };
    return { ...space, write };
  };
  return { store: { ...inner, openSpace }, meanwhile };
}

test('what was changed when an undo was decided first, and is not as it is written, is undone', async () => {
  const { store, meanwhile } = overtakenStore();
  const { memory, pass } = await liveFading({ embedder: 'none', store });
  await memory.rememberMany(runs.slice(0, 1));
  pass(18);
  await memory.maintain();
  pass(7);
  const { run } = await memory.maintain();
  expect(await memory.get('run0')).toMatchObject({ tier: 'cold' });
  await memory.invalidate('run0', 'it was a walk');
  const operation = (await memory.operations({ limit: 1 }))[0]?.operation;
  meanwhile.push(() => memory.undo({ operation }));
  expect(await memory.undo({ run })).toMatchObject({ memories: [{ id: 'run0' }], skipped: [] });
  expect(await memory.get('run0')).toMatchObject({ tier: 'hot' });
});

async function overtakenConsolidation() {
  const { store, meanwhile } = overtakenStore();
  const { memory, pass } = await liveFading({ store });
  await memory.rememberMany(runs);
  pass(20);
  const { run, consolidated } = await memory.maintain({ consolidate: true, fade: false });
  expect(consolidated).toHaveLength(1);
  return { memory, pass, run, meanwhile };
}

test('an undo does not hide a memory again whose consolidation is undone meanwhile', async () => {
  const { memory, run, meanwhile } = await overtakenConsolidation();
  await memory.feedback('run0', 'up');
  const operation = (await memory.operations({ limit: 1 }))[0]?.operation;
  meanwhile.push(() => memory.undo({ run }));
  await expectCode(memory.undo({ operation }), 'store_busy');
  await memory.undo({ operation });
  expect(await memory.get('run0')).toMatchObject({ usefulness: 0.5, consolidatedAt: undefined, tier: 'hot' });
});

test('an undo of a consolidation leaves no original without an index that is archived meanwhile', async () => {
  const { memory, pass, run, meanwhile } = await overtakenConsolidation();
  pass(200);
  await memory.recall('long run', { strategy: 'lexical' });
  meanwhile.push(() => memory.maintain());
  await expectCode(memory.undo({ run }), 'store_busy');
  expect(await memory.get('run0')).toMatchObject({ tier: 'stub' });
  await memory.undo({ run });
  const { hits } = await memory.recall('long run', { strategy: 'lexical' });
  expect(hits.map((hit) => hit.memory.id).toSorted()).toEqual(runs.map(({ id }) => id));
});
