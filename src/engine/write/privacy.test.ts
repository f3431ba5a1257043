import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { fileIn, filesIn, tablesIn } from '../../../test/store/stored.ts';
import { liveOnDisk } from '../../testing/live-memory.ts';

/** Every byte of every file of a store, and every value of every table. */
async function allOf(directory: string): Promise<string> {
  const files = filesIn(directory).map((file) => file.toString('latin1'));
  const values = JSON.stringify(await tablesIn(fileIn(directory)), (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );
  return [...files, values].join('\n').toLowerCase();
}

const secret = 'swordfish';
const hidden = `<private>${secret}</private>`;

test('nothing private reaches a file, whichever way it comes in', async () => {
  const { memory, directory, cleanUp, reopen } = await liveOnDisk();
  await memory.remember(`The password is ${hidden} indeed`, {
    id: 'a',
    title: `About <PRIVATE reason="x">${secret}</PRIVATE>`,
    tags: [`tag ${hidden}`, 'plain'],
    metadata: {
      note: hidden,
      list: [{ deep: `<private>a<private>${secret}</private>b</private>` }],
      [hidden]: 1,
    },
    topicKey: `about ${hidden}`,
    sourceRef: `mail ${hidden}`,
    type: `kind ${hidden}`,
  });
  expect(await memory.get('a')).toMatchObject({
    content: 'The password is [REDACTED] indeed',
    title: 'About [REDACTED]',
    tags: ['tag [REDACTED]', 'plain'],
    metadata: { note: '[REDACTED]', list: [{ deep: '[REDACTED]' }], '[REDACTED]': 1 },
    topicKey: 'about [REDACTED]',
    sourceRef: 'mail [REDACTED]',
    type: 'kind [REDACTED]',
  });
  await memory.remember(`Not closed <private> ${secret}`, {
    topicKey: `about ${hidden}`,
    metadata: { x: hidden },
  });
  expect((await memory.get('a'))?.content).toBe('Not closed [REDACTED]');
  await memory.update('a', {
    content: `Changed ${hidden}`,
    title: hidden,
    tags: [hidden],
    metadata: { y: hidden },
    topicKey: hidden,
    sourceRef: hidden,
  });
  await memory.startSession();
  await memory.saveSummary(`Talked about ${hidden}`);
  // Cut in the middle: the title of a long summary.
  await memory.endSession(`${'x'.repeat(60)} <private>${secret}${'x'.repeat(60)}</private> done`);
  await memory.rememberMany([{ id: 'b', content: `Batch ${hidden}` }]);
  await memory.invalidate('b', `because of ${hidden}`);
  expect((await memory.remember(`Batch ${hidden}`)).inactive?.reason).toBe('because of [REDACTED]');
  await memory.reinstate('b');
  const exported = await memory.get('b');
  await memory.importMemories([
    {
      ...(exported as NonNullable<typeof exported>),
      id: 'c',
      content: `Restored ${hidden}`,
      metadata: { [hidden]: hidden },
      invalidatedAt: '2026-01-01T00:00:00.000Z',
      invalidReason: hidden,
    },
  ]);
  await expect(memory.remember(`Refused ${hidden}`, { supersedes: 'nothing' })).rejects.toThrow('nothing');
  await memory.recall(`The password ${secret}`, { strategy: 'retention' });
  await memory.recall(`The password ${hidden}`, { strategy: 'retention' });
  await memory.conflicts();
  await memory.maintain();
  await memory.undo();
  expect(await allOf(directory)).not.toContain(secret);
  const hash = createHash('sha256').update(`The password ${hidden}`).digest('hex').slice(0, 16);
  expect(await allOf(directory)).not.toContain(hash);
  await memory.close();
  const again = await reopen();
  expect(
    (await again.beliefs(`about ${hidden}`)).length + (await again.beliefs(hidden)).length,
  ).toBeGreaterThan(0);
  await again.close();
  const bytes = await allOf(directory);
  expect(bytes).not.toContain(secret);
  // The search itself can find something: what was not private is there.
  expect(bytes).toContain('the password is');
  await cleanUp();
});

test('a tombstone keeps nothing of its statement, and another space another hash of it', async () => {
  const statement = 'The vault opens at midnight';
  const hashes: string[] = [];
  for (const space of ['alice', 'bob']) {
    const { memory, directory, cleanUp } = await liveOnDisk({ space });
    await memory.remember(statement, { id: 'a' });
    await memory.invalidate('a', 'wrong');
    await memory.forget('a');
    await memory.close();
    const bytes = await allOf(directory);
    for (const word of ['vault', 'midnight']) expect(bytes).not.toContain(word);
    const rows = (await tablesIn(fileIn(directory)))['tombstone'] as { hash: Uint8Array; reason: string }[];
    expect(rows).toMatchObject([{ reason: '' }]);
    hashes.push(Buffer.from(rows[0]?.hash as Uint8Array).toString('hex'));
    await cleanUp();
  }
  expect(new Set(hashes).size).toBe(2);
  for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
});
