import { type MemoryEngine, openMemory } from '../index.ts';
import { createFakeClock } from './fake-clock.ts';

export const day = 86_400_000;
export const start = Date.UTC(2026, 0, 1);

/** Opens a space in memory without an embedder, with a fake clock and predictable ids. */
export async function opened(): Promise<{
  memory: MemoryEngine;
  clock: ReturnType<typeof createFakeClock>;
}> {
  const clock = createFakeClock(start);
  let made = 0;
  const memory = await openMemory({
    path: ':memory:',
    space: 'alice',
    embedder: 'none',
    clock: clock.now,
    newId: () => `new${++made}`,
  });
  return { memory, clock };
}

export const entity = (id: string, title: string, more: object = {}) => ({
  id,
  title,
  content: `about ${title}`,
  type: 'entity',
  ...more,
});

/** Remembers five entities. Ada has two more names. */
export async function people(memory: MemoryEngine): Promise<void> {
  await memory.rememberMany([
    entity('ada', 'Ada Lovelace', { aliases: ['Ada', 'Countess'], kind: 'person' }),
    entity('bob', 'Bob', { kind: 'person' }),
    entity('acme', 'Acme', { kind: 'organisation' }),
    entity('paris', 'Paris', { kind: 'place' }),
    entity('rome', 'Rome', { kind: 'place' }),
  ]);
}

/** Returns the relations of an entity, as text. */
export const triples = async (memory: MemoryEngine, of: string, options: object = {}) =>
  (await memory.neighbours(of, options)).relations.map(({ from, name, to }) => `${from} ${name} ${to}`);
