import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createResidence } from '../../search/residence.ts';
import { createQueue } from '../../store/queue.ts';
import type { IndexRows } from '../../store/rows.ts';
import type { Change, SpaceStore } from '../../store/store.ts';
import { arbitraryMemory } from '../../testing/arbitrary-memory.ts';
import { indexContent } from '../../testing/index-content.ts';
import { sampleIndexed } from '../../testing/sample-memory.ts';
import { insert, replace, use, write } from '../../testing/store-contract/harness.ts';
import { indexRows } from './feed.ts';
import { makeDatabase } from './opening.ts';
import { openSpace } from './space.ts';

/** A space in memory, its index, and the keys of the rows that this one read. */
async function opened() {
  const connection = await makeDatabase('alice');
  const residence = createResidence('alice');
  const queue = createQueue();
  const space = openSpace({
    name: 'alice',
    path: ':memory:',
    writer: connection,
    reader: connection,
    writes: queue,
    reads: queue,
    residence,
    keepsPages: false,
    busyTimeout: 0,
    checkPresence() {},
    async release() {
      connection.close();
    },
  });
  const read: number[] = [];
  const rows = indexRows(() => connection);
  const noting: IndexRows = {
    ...rows,
    indexed(keys) {
      read.push(...(keys ?? []));
      return rows.indexed(keys);
    },
  };
  const another = createResidence('alice');
  return {
    space,
    residence,
    /** Of another handle, which reads what this one writes. */
    other: { residence: another, follow: () => another.refresh(rows) },
    read,
    follow: () => residence.refresh(noting),
    anew: () => createResidence('alice').refresh(rows),
  };
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.array(arbitraryMemory, { minLength: 1, maxLength: 3 }) },
  { weight: 2, arbitrary: fc.constant('look' as const) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('replace', 'use', 'remove', 'redact', 'stub'),
      at: fc.nat({ max: 20 }),
    }),
  },
);

/** Does to a memory that is there what a step says. */
async function change(space: SpaceStore, id: string, kind: string) {
  const [known] = await space.get([id]);
  if (!known) return;
  if (kind === 'use') return void (await use(space, [id], () => ({ accessCount: 77, weight: 0.25 })));
  if (kind === 'stub') return write(space, [{ kind: 'replace', memory: { ...known, tier: 'stub' } }]);
  if (kind === 'replace')
    return write(space, [replace({ ...known, content: 'tea again', importance: 0.125 }, [1, 2, 2])]);
  return write(space, [{ kind: kind as 'remove' | 'redact', id }], { verb: 'forget' });
}

test('an index that takes in what was written as it was written is the one that is read from the rows', async () => {
  let unread = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const { space, follow, anew, read, residence } = await opened();
      const ids: string[] = [];
      await follow();
      for (const each of [...steps, 'look' as const]) {
        if (each === 'look') {
          const before = read.length;
          const followed = await follow();
          const fresh = await anew();
          expect(indexContent(followed.index)).toEqual(indexContent(fresh.index));
          expect(followed.position).toEqual(fresh.position);
          expect(residence.wantsWritten()).toBe(true);
          if (read.length === before) unread += followed.index.size;
        } else if (Array.isArray(each)) {
          const added = each.filter(
            ({ id }, at) => !ids.includes(id) && each.findIndex((other) => other.id === id) === at,
          );
          ids.push(...added.map(({ id }) => id));
          await write(
            space,
            added.map(
              (memory, at): Change => ({
                kind: 'insert',
                memory,
                indexed: sampleIndexed(memory, at % 2 ? undefined : [1, at, ids.length % 4]),
              }),
            ),
          );
        } else if (ids.length > 0) {
          await change(space, ids[each.at % ids.length] as string, each.kind);
        }
      }
      await space.close();
    }),
    { numRuns: 150 },
  );
  expect(unread).toBeGreaterThan(100);
});

test('new memories are not read for the index, but those that somebody wrote to or used since', async () => {
  const { space, follow, read } = await opened();
  await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
  await follow();
  read.length = 0;
  await write(
    space,
    ['c', 'd', 'e', 'f'].map((id) => insert({ id }, [1, 0, 0])),
  );
  await use(space, ['d'], () => ({ accessCount: 3 }));
  await write(space, [replace({ id: 'e', content: 'another' }, [0, 1, 0])]);
  await write(space, [{ kind: 'remove', id: 'f' }]);
  const { index } = await follow();
  expect(index.size - index.dead).toBe(5);
  // The key of a memory is the number of its row; those of a use are read first, to see what became of them.
  expect([...new Set(read)].sort()).toEqual([4, 5, 6]);
  await space.close();
});

test('what was kept counts as memory of the index, and is dropped when that was brought up to date', async () => {
  const { space, residence, follow, other } = await opened();
  await write(space, [insert({ id: 'a' })]);
  await follow();
  await other.follow();
  const before = residence.bytes();
  expect(before).toBe(other.residence.bytes());
  await write(
    space,
    Array.from({ length: 100 }, (_, at) => insert({ id: `m${at}` }, [1, 0, 0])),
  );
  expect(residence.bytes()).toBeGreaterThan(before + 100 * 256);
  await follow();
  await other.follow();
  expect(residence.bytes()).toBe(other.residence.bytes());
  await space.close();
});

test('nothing is kept for an index that is not used', async () => {
  const { space, residence, follow, read } = await opened();
  await write(space, [insert({ id: 'a' })]);
  expect(residence.wantsWritten()).toBe(false);
  await follow();
  // What makes no new memory is no reason to stop.
  await write(space, [replace({ id: 'a', content: 'another' })]);
  expect(residence.wantsWritten()).toBe(true);
  await write(space, [insert({ id: 'b' })]);
  // Nobody has asked since: what comes next is read when it is asked for.
  expect(residence.wantsWritten()).toBe(false);
  await write(space, [insert({ id: 'c' })]);
  read.length = 0;
  await follow();
  expect(read).toEqual([1, 3]);
  await space.close();
});

test('forgotten memories are not kept for the index', async () => {
  const { space, residence, follow, read } = await opened();
  await follow();
  await write(space, [insert({ id: 'a', content: 'a secret' }), insert({ id: 'b' })]);
  await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
  const { index } = await follow();
  expect(index.size - index.dead).toBe(1);
  // Both are: nothing is told apart in what is dropped.
  expect(read).toContain(2);
  expect(residence.wantsWritten()).toBe(true);
  await space.close();
});
