import { expect, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';

// {"a":"…"} has 8 bytes around its text.
const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - 8) });

test('metadata has at most 16 KiB as JSON, in every verb that takes it', async () => {
  const { memory } = await live();
  const most = 16 * 1024;
  await memory.remember('Fits', { id: 'fits', metadata: ofBytes(most) });
  const details = { field: 'metadata', bytes: most + 1, limit: most };
  const tooMuch = ofBytes(most + 1);
  const exported = await memory.get('fits');
  if (!exported) throw new Error('it is there');
  for (const refused of [
    memory.remember('Does not', { metadata: tooMuch }),
    memory.rememberMany([{ content: 'Does not', metadata: tooMuch }]),
    memory.update('fits', { metadata: tooMuch }),
    memory.importMemories([{ ...exported, id: 'other', metadata: tooMuch }]),
  ]) {
    const error = await expectCode(refused, 'content_too_large');
    expect(error.details).toMatchObject(details);
    expect(error.message).toContain('raise maxMetadataBytes');
  }
  expect((await memory.stats()).memories).toBe(1);
});

test('bytes are those of UTF-8, and the limit is the one that was asked for', async () => {
  const { memory } = await live({ maxMetadataBytes: 12 });
  await memory.remember('Fits', { metadata: { a: 'éé' } });
  await expectCode(memory.remember('Not', { metadata: { a: 'ééé' } }), 'content_too_large');
});

test('a page ends by size before its number, has one memory at least, and goes on where it ended', async () => {
  const { memory, space } = await live({ maxMetadataBytes: Number.POSITIVE_INFINITY });
  for (const id of ['a', 'b', 'c']) {
    await memory.remember(`Large ${id}`, { id, metadata: { blob: 'x'.repeat(3 * 2 ** 20) } });
  }
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await memory.list({ cursor });
    expect(page.memories).toHaveLength(1);
    seen.push(...page.memories.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(seen).toEqual(['c', 'b', 'a']);
  expect((await space.list({ filter: {}, limit: 3 })).memories).toHaveLength(3);
});

test('a consolidation that would be too long is left out, and refused where its memories are named', async () => {
  const { memory, pass } = await live({ fading: 'retention', maxContentBytes: 60 });
  const ids = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];
  await memory.rememberMany(
    ids.map((id) => ({ id, content: `Went for a long run along the river on ${id}`, type: 'event' })),
  );
  pass(20);
  expect((await memory.maintain({ consolidate: true, dryRun: true })).consolidated).toEqual([]);
  expect((await memory.maintain({ consolidate: true, fade: false })).consolidated).toEqual([]);
  for (const dryRun of [true, false]) {
    const error = await expectCode(memory.maintain({ consolidate: ids, dryRun }), 'content_too_large');
    expect(error.details).toMatchObject({ field: 'content', limit: 60 });
  }
  expect((await memory.stats()).memories).toBe(5);
});

test('a memory that another one updates does not get more metadata than one may have', async () => {
  const { memory } = await live({ maxMetadataBytes: 20, conflictThreshold: 0.1 });
  await memory.remember('The grinder is in the kitchen', { id: 'older', metadata: { a: 'xxxx' } });
  const { conflicts = [] } = await memory.remember('The grinder is in the cellar', {
    id: 'newer',
    metadata: { b: 'yyyy' },
  });
  const conflictId = conflicts[0]?.conflictId as string;
  const error = await expectCode(memory.resolve(conflictId, 'update'), 'content_too_large');
  expect(error.details).toMatchObject({ field: 'metadata', bytes: 23, limit: 20 });
  await memory.resolve(conflictId, 'supersede');
});

const invalid = async (work: Promise<unknown>, field: string, message: string) => {
  const error = await expectCode(work, 'invalid_argument');
  expect(error.details).toMatchObject({ field });
  expect(error.message).toContain(message);
};

test('what is added to a memory that is known keeps to its limits', async () => {
  const { memory } = await live();
  const aliases = Array.from({ length: 64 }, (_, at) => `Ann ${at}`);
  const ann = { type: 'entity', title: 'Ann' };
  await memory.remember('A colleague', { ...ann, id: 'ann', aliases });
  const names = '65 other names, of at most 64';
  await invalid(memory.remember('A colleague', { ...ann, aliases: ['Annie'] }), 'aliases', names);
  const batch = [{ content: 'Tea is hot' }, { content: 'A colleague', ...ann, aliases: ['Annie'] }];
  await invalid(memory.rememberMany(batch), 'aliases', 'memory 2 of 2');

  const relations = (from: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({ from, name: 'knows', to: `p${at}` }));
  await memory.remember('Ann knows many', { id: 'many', relations: relations('ann', 100) });
  const more = [{ from: 'ann', name: 'likes', to: 'many' }];
  const tooMany = '101 relations, of at most 100';
  await invalid(memory.remember('Ann knows many', { relations: more }), 'relations', tooMany);
  await invalid(memory.relate('ann', 'likes', 'many', { statedBy: ['many'] }), 'statedBy[0]', tooMany);
  await memory.update('ann', { aliases: [], relations: relations('ann', 60) });
  const likes = relations('bea', 41).map((each) => ({ ...each, name: 'likes' }));
  await memory.remember('Another one', { type: 'entity', title: 'Bea', id: 'bea', relations: likes });
  await invalid(memory.mergeEntities('bea', 'ann'), 'into', tooMany);
  for (const each of (await memory.list()).memories) {
    const copy = await live();
    await copy.memory.importMemories([{ ...each, supersedes: [] }]);
  }
});

test('a session id that no store can hold is refused by its own name', async () => {
  const { memory } = await live();
  for (const sessionId of ['s\0', 's\ud800']) {
    const error = await expectCode(memory.remember('Not', { sessionId }), 'invalid_text');
    expect(error.details).toEqual({ field: 'sessionId' });
    expect(error.message).toMatch(/^sessionId: /);
  }
});
