import { expect, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';

test('kinds of links that there are none of are refused, and nothing is removed', async () => {
  const { memory } = await live();
  await memory.rememberMany([
    { id: 'a', content: 'The coffee machine is broken' },
    { id: 'b', content: 'Warranty papers are in the blue folder' },
  ]);
  await memory.link('a', 'b');
  const before = await memory.links('a');
  const refused = memory.unlink('a', 'b', { kinds: ['stated', 'nonsense' as never] });
  expect((await expectCode(refused, 'invalid_argument')).message).toMatch(
    /^kinds: "nonsense" is not one of /,
  );
  expect(await memory.links('a')).toEqual(before);
});
