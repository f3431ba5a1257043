import { expect, onTestFinished, test } from 'vitest';
import { liveOnDisk } from '../../testing/live-memory.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';

test.each([
  ['a NUL', 'a', 'a\0b'],
  ['half of a surrogate pair', '\ufffd', '\ud800'],
])('an id with %s is no other memory, whatever is asked of it', async (_, id, text) => {
  const { memory, cleanUp } = await liveOnDisk();
  onTestFinished(async () => {
    await memory.close();
    await cleanUp();
  });
  await memory.rememberMany([
    { id, content: 'The coffee machine is broken' },
    { id: 'b', content: 'Warranty papers are in the blue folder' },
  ]);
  const kept = await memory.get(id);
  expect(await memory.get(text)).toBeUndefined();
  expect(await memory.markUsed([text])).toEqual([]);
  for (const refused of [
    () => memory.forget(text),
    () => memory.update(text, { content: 'It works again' }),
    () => memory.invalidate(text, 'wrong'),
    () => memory.setImportance(text, 1),
    () => memory.feedback(text, 'up'),
    () => memory.link(text, 'b'),
    () => memory.context('coffee', { maxTokens: 500, mustInclude: [text] }),
  ])
    await expectCode(refused(), 'not_found');
  expect(await memory.get(id)).toEqual(kept);
  expect(await memory.check()).toEqual([]);
  expect((await memory.operations()).map(({ verb }) => verb)).toEqual(['remember']);
});
