import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type MemoryEngine, openMemory } from '../../index.ts';

const about = async (memory: MemoryEngine, of: string) =>
  (await memory.neighbours(of, { depth: 2 })).relations.map(({ from, name, to }) => `${from} ${name} ${to}`);

test('what another process writes is seen by the next walk, and by the next recall along relations', async () => {
  const path = mkdtempSync(join(tmpdir(), 'salience-kept-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const open = () =>
    openMemory({ path, space: 'alice', embedder: 'none', clock: () => Date.UTC(2026, 0, 1) });
  await using memory = await open();
  await using other = await open();
  await memory.rememberMany(
    ['a', 'b', 'c'].map((id) => ({
      id,
      type: 'entity',
      title: id.toUpperCase().repeat(3),
      content: `about ${id}`,
    })),
  );
  await memory.relate('a', 'knows', 'b');
  expect(await about(memory, 'a')).toEqual(['a knows b']);
  const recalled = async () => {
    const { hits } = await memory.recall('AAA', {
      strategy: 'bm25',
      association: { mode: 'propagated', graph: 1, propagation: 1, minimum: 0, pathThreshold: 0.01 },
    });
    return hits.map((hit) => hit.memory.id);
  };
  expect(await recalled()).not.toContain('c');
  const { relation } = await other.relate('b', 'knows', 'c', { content: 'they met' });
  expect(await about(memory, 'a')).toEqual(['a knows b', 'b knows c']);
  expect(await recalled()).toContain('c');
  // A use is no event, and drops nothing.
  await other.recall('about', { strategy: 'balanced' });
  expect(await about(memory, 'a')).toEqual(['a knows b', 'b knows c']);
  await other.remember('They never met', { id: 'never', supersedes: relation.statements });
  expect(await about(memory, 'a')).toEqual(['a knows b']);
  await other.forget('never');
  expect(await about(memory, 'a')).toEqual(['a knows b', 'b knows c']);
  await other.update('c', { scope: 'project:x' });
  await other.update(relation.statements[0] ?? '', { relations: null });
  expect(await about(memory, 'a')).toEqual(['a knows b']);
});

test('walks that look at different moments at once do not see what the other one does', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
  await memory.rememberMany(
    ['a', 'b'].map((id) => ({ id, type: 'entity', title: `Entity ${id}`, content: `about ${id}` })),
  );
  for (let round = 0; round < 20; round++) {
    const [, seen] = await Promise.all([memory.relate('a', `knows_${round}`, 'b'), about(memory, 'a')]);
    expect([round, round + 1]).toContain(seen.length);
    expect(await about(memory, 'a')).toHaveLength(round + 1);
  }
});
