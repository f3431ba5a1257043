import { openMemory } from '../open.ts';
import { createMemoryStore } from '../store/memory/index.ts';
import { createFakeClock } from './fake-clock.ts';

export const day = 86_400_000;

/** A memory on the reference store, a clock that the test moves, and ids that count up. */
export async function live(options: Partial<Parameters<typeof openMemory>[0]> = {}) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  let ids = 0;
  const memory = await openMemory({
    path: 'test',
    store,
    clock: () => clock.now(),
    newId: () => `n${ids++}`,
    ...options,
  });
  const space = await store.openSpace(memory.space);
  return { clock, memory, space, pass: (days: number) => clock.advance(days * day) };
}
