import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { live, liveFading } from '../testing/live-memory.ts';
import { scriptedModel } from '../testing/scripted-model.ts';
import type { MemoryOperation, OperationContent } from './diagnostics.ts';

/** Everything that is published about some verbs, as text, as a logger would write it. */
function listen(...verbs: readonly string[]) {
  const events: { readonly stage: string; readonly operation: MemoryOperation }[] = [];
  const stops = verbs.map((verb) => {
    const channel = tracingChannel<unknown, MemoryOperation>(`salience:${verb}`);
    const on = (stage: string) => (operation: MemoryOperation) =>
      void events.push({ stage, operation: structuredClone(operation) });
    const listeners = {
      start: on('start'),
      end: on('end'),
      asyncStart: on('asyncStart'),
      asyncEnd: on('asyncEnd'),
      error: on('error'),
    };
    channel.subscribe(listeners);
    return () => channel.unsubscribe(listeners);
  });
  return { events, stop: () => stops.forEach((stop) => void stop()) };
}

let memory: Awaited<ReturnType<typeof live>>['memory'];
let pass: Awaited<ReturnType<typeof live>>['pass'];
beforeEach(async () => {
  ({ memory, pass } = await live({ space: 'alice' }));
});
afterEach(() => memory.close());

test('each call is published from its start to its end, with what it was about', async () => {
  const { events, stop } = listen('remember', 'recall', 'forget');
  const { id } = await memory.remember('Keeps bees', { scope: 'project:garden', sessionId: 's1' });
  await memory.recall('bees', { scope: 'project:garden' });
  await memory.forget(id);
  stop();
  expect(events.filter(({ stage }) => stage === 'start').map(({ operation }) => operation)).toEqual([
    { verb: 'remember', space: 'alice', scope: 'project:garden', sessionId: 's1' },
    { verb: 'recall', space: 'alice', scope: 'project:garden' },
    { verb: 'forget', space: 'alice', id },
  ]);
  expect(events.filter(({ stage }) => stage === 'asyncEnd').map(({ operation }) => operation.result)).toEqual(
    [{ ids: [id] }, { ids: [id], strategy: 'hybrid' }, { ids: [id] }],
  );
  expect(events.map(({ stage }) => stage).slice(0, 4)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
});

test('the ids of an answer that only lists ids are published', async () => {
  const { events, stop } = listen('forget', 'maintain', 'relate', 'unrelate', 'mergeEntities', 'markUsed');
  for (const id of ['bees', 'hives', 'honey']) await memory.remember(`Sells ${id}`, { id, sessionId: 's1' });
  for (const title of ['Ada', 'Acme', 'Acme Inc'])
    await memory.remember(title, { id: title, title, type: 'entity' });
  await memory.markUsed(['bees', 'nobody']);
  const { relation } = await memory.relate('Ada', 'works_at', 'Acme Inc');
  const statement = relation.statements[0];
  await memory.mergeEntities('Acme Inc', 'Acme');
  await memory.unrelate('Ada', 'works_at', 'Acme');
  await memory.forget({ sessionId: 's1' }, { dryRun: true });
  await memory.forget(['honey']);
  await memory.forget({ sessionId: 's1' });
  await memory.remember('Is on holiday', { id: 'holiday', ttl: '1h' });
  pass(1);
  await memory.maintain({ dryRun: true });
  await memory.maintain();
  stop();
  const ended = events.filter(({ stage }) => stage === 'asyncEnd').map(({ operation }) => operation);
  expect(ended.map(({ verb, result }) => [verb, result?.ids])).toEqual([
    ['markUsed', ['bees']],
    ['relate', [statement]],
    ['mergeEntities', ['Acme', 'Acme Inc', statement]],
    ['unrelate', [statement]],
    ['forget', []],
    ['forget', ['honey']],
    ['forget', ['hives', 'bees']],
    ['maintain', []],
    ['maintain', ['holiday']],
  ]);
});

test('the ids of what upkeep and a split changed are published', async () => {
  const { model } = scriptedModel(() => ({ verdicts: [{ pair: 1, reason: '', verdict: 'NONE' }] }));
  const lived = await liveFading({ languageModel: model });
  const upkeep = lived.memory;
  await upkeep.rememberMany([
    { id: 'early', content: 'Anna flies to Lisbon on Monday morning', createdAt: '2025-12-01' },
    { id: 'late', content: 'Anna flies to Lisbon on Tuesday morning', createdAt: '2025-12-02' },
    { id: 'casual', content: 'It rained on the way', type: 'event', importance: 0 },
  ]);
  const { events, stop } = listen('maintain', 'curate', 'splitEntity');
  await upkeep.maintain();
  const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];
  await upkeep.rememberMany(
    days.map((day) => ({
      id: day,
      content: `Went for a long run along the river on ${day}`,
      type: 'event',
      importance: 0.2,
    })),
  );
  lived.pass(20);
  const { consolidated } = await upkeep.maintain({ consolidate: true, useModel: false });
  const made = consolidated[0]?.id;
  lived.pass(90);
  await upkeep.maintain({ useModel: false });
  lived.pass(90);
  await upkeep.importMemories([{ ...(await upkeep.get('late'))!, id: 'copy' }]);
  await upkeep.curate({ dryRun: true });
  await upkeep.curate({ actions: ['prune', 'deduplicate'] });
  for (const title of ['Acme', 'Acme Inc'])
    await upkeep.remember(title, { id: title, title, type: 'entity' });
  await upkeep.mergeEntities('Acme Inc', 'Acme');
  await upkeep.splitEntity('Acme', 'Acme Inc');
  stop();
  const ended = events.filter(({ stage }) => stage === 'asyncEnd').map(({ operation }) => operation);
  expect(ended.map(({ verb, result }) => [verb, result?.ids])).toEqual([
    ['maintain', ['late']],
    ['maintain', [made, ...days]],
    ['maintain', [made, 'casual']],
    ['curate', []],
    ['curate', ['casual', 'late']],
    ['splitEntity', ['Acme', 'Acme Inc']],
  ]);
  await upkeep.close();
});

test('no text is ever published, neither in answers nor in errors', async () => {
  const every = Object.keys(memory);
  const { events, stop } = listen(...every);
  const { id } = await memory.remember('Sekretwort in a statement', { title: 'Sekretwort' });
  await memory.rememberMany([{ content: 'Sekretwort again' }, { content: 'Sekretwort once more' }]);
  await memory.recall('Sekretwort');
  await memory.context('Sekretwort', { maxTokens: 500 });
  await memory.list();
  await memory.get(id);
  await memory.update(id, { content: 'Sekretwort, changed' });
  await memory.history(id);
  await memory.explain(id, { query: 'Sekretwort' });
  await memory.saveSummary('Sekretwort, in short');
  await expect(memory.remember('Sekretwort', { type: 'Sekretwort '.repeat(20) })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  await expect(memory.recall('Sekretwort', { strategy: 'Sekretwort' })).rejects.toThrow('Sekretwort');
  stop();
  expect(new Set(events.map(({ operation }) => operation.verb)).size).toBe(10);
  expect(JSON.stringify(events)).not.toContain('Sekretwort');
  expect(events.flatMap(({ operation }) => operation.error ?? []).map(({ code }) => code)).toContain(
    'unknown_strategy',
  );
});

test('texts are on a channel of their own, for whoever asks', async () => {
  const contents: OperationContent[] = [];
  const listener = (message: unknown) => void contents.push(message as OperationContent);
  subscribe('salience:content', listener);
  const { stop } = listen('remember', 'rememberMany', 'recall');
  const { id } = await memory.remember('Keeps bees');
  await memory.rememberMany([{ content: 'Has two hives' }, { content: 'Sells honey' }]);
  const { hits } = await memory.recall('bees', { limit: 1 });
  unsubscribe('salience:content', listener);
  await memory.recall('bees');
  stop();
  expect(contents.map(({ operation, ...texts }) => [operation.verb, texts])).toEqual([
    ['remember', { records: [{ id, content: 'Keeps bees' }] }],
    [
      'rememberMany',
      {
        records: [
          { id: expect.any(String), content: 'Has two hives' },
          { id: expect.any(String), content: 'Sells honey' },
        ],
      },
    ],
    ['recall', { query: 'bees', records: [{ id, content: 'Keeps bees', score: hits[0]?.score.value }] }],
  ]);
});

test('what is marked private is on no channel', async () => {
  const contents: OperationContent[] = [];
  const listener = (message: unknown) => void contents.push(message as OperationContent);
  subscribe('salience:content', listener);
  const { stop } = listen('remember', 'rememberMany', 'recall', 'compare');
  await memory.remember('Keeps <private>Sekretwort</private>');
  await memory.rememberMany([{ content: 'Sells <private>Sekretwort</private>' }]);
  await memory.recall('who keeps <private>Sekretwort</private>');
  await memory.compare('<private>Sekretwort');
  stop();
  unsubscribe('salience:content', listener);
  expect(contents.flatMap(({ query, records }) => query ?? records[0]?.content)).toEqual([
    'Keeps [REDACTED]',
    'Sells [REDACTED]',
    'who keeps [REDACTED]',
    '[REDACTED]',
  ]);
  expect(JSON.stringify(contents)).not.toContain('Sekretwort');
});

test('what listens changes nothing: answers and errors are the same', async () => {
  await memory.remember('Keeps bees');
  const quiet = await memory.recall('bees');
  const failure = await memory.forget('nobody').catch((error: unknown) => error);
  const { stop } = listen('recall', 'forget');
  const heard = await memory.recall('bees');
  expect(heard.hits.map(({ memory: { id }, score }) => [id, score.value])).toEqual(
    quiet.hits.map(({ memory: { id }, score }) => [id, score.value]),
  );
  await expect(memory.forget('nobody')).rejects.toStrictEqual(failure);
  stop();
});
