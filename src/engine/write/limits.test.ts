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

test('a session id that no store can hold is refused by its own name', async () => {
  const { memory } = await live();
  for (const sessionId of ['s\0', 's\ud800']) {
    const error = await expectCode(memory.remember('Not', { sessionId }), 'invalid_text');
    expect(error.details).toEqual({ field: 'sessionId' });
    expect(error.message).toMatch(/^sessionId: /);
  }
});
