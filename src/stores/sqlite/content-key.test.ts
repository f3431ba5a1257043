import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openMemory } from '../../open.ts';
import { contentKey } from '../../store/content-key.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { connect } from './connection.ts';
import { fileNameOf } from './files.ts';
import { findMemories } from './find.ts';

it('different statements with the same key are different memories', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-key-'));
  try {
    const [one, other] = collision();
    await using memory = await openMemory({ path: directory, space: 'alice', embedder: 'none' });
    const first = await memory.remember(one);
    expect(await memory.remember(other)).toMatchObject({ outcome: 'created' });
    expect(await memory.remember(` ${one}`)).toMatchObject({ id: first.id, outcome: 'deduplicated' });
    expect((await memory.list()).memories).toHaveLength(2);
    const connection = await connect(join(directory, fileNameOf('alice')), { readOnly: true, timeout: 0 });
    const found = await findMemories(() => connection, 'content', [one]);
    expect(found.map(({ id }) => id)).toEqual([first.id]);
    connection.close();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

it('a damaged key is found when the row is read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-key-'));
  try {
    const written = await openMemory({ path: directory, space: 'alice', embedder: 'none' });
    await written.remember('The key is under the mat', { id: 'key' });
    await written.close();
    const connection = await connect(join(directory, fileNameOf('alice')), { readOnly: false, timeout: 0 });
    connection.run('DROP TRIGGER space.memory_updated');
    connection.run('UPDATE memory SET content_key = content_key + 1');
    connection.close();
    await using memory = await openMemory({ path: directory, space: 'alice', embedder: 'none' });
    await expect(memory.get('key')).rejects.toMatchObject({ code: 'store_corrupt' });
    expect(await memory.check()).not.toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

/** Two statements with one key; some 80,000 are enough to meet a pair. */
function collision(): readonly [string, string] {
  const seen = new Map<number, string>();
  const random = seededRandom(7);
  for (;;) {
    const content = `statement ${random()} ${random()}`;
    const key = contentKey(content);
    const twin = seen.get(key);
    if (twin !== undefined) return [twin, content];
    seen.set(key, content);
  }
}
