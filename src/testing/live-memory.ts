import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenOptions, openMemory } from '../open.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createReferenceStore } from './reference-store/index.ts';

export const day = 86_400_000;

/** A memory on the reference store, a clock that the test moves, and ids that count up. */
export async function live(options: Partial<OpenOptions> = {}) {
  const clock = createFakeClock();
  const store = options.store ?? createReferenceStore();
  let ids = 0;
  const memory = await openMemory({
    path: 'test',
    space: 'default',
    store,
    clock: () => clock.now(),
    newId: () => `n${ids++}`,
    ...options,
  });
  const space = await store.openSpace(memory.space);
  return { clock, memory, space, pass: (days: number) => clock.advance(days * day) };
}

/** Does the same over files in a new directory. `reopen` opens it again; `cleanUp` removes it. */
export async function liveOnDisk(options: Partial<OpenOptions> = {}, clock: FakeClock = createFakeClock()) {
  const directory = await mkdtemp(join(tmpdir(), 'salience-live-'));
  let ids = 0;
  const open = (more: Partial<OpenOptions> = {}) =>
    openMemory({
      path: directory,
      space: 'default',
      synchronous: 'normal',
      clock: () => clock.now(),
      newId: () => `n${ids++}`,
      ...options,
      ...more,
    });
  return {
    clock,
    directory,
    memory: await open(),
    reopen: open,
    pass: (days: number) => clock.advance(days * day),
    cleanUp: () => rm(directory, { recursive: true, force: true }),
  };
}

/** As {@link live}, in a space whose memories fade. */
export function liveFading(options: Partial<OpenOptions> = {}) {
  return live({ fading: 'retention', ...options });
}

/** As {@link liveOnDisk}, in a space whose memories fade. */
export function liveFadingOnDisk(options: Partial<OpenOptions> = {}, clock: FakeClock = createFakeClock()) {
  return liveOnDisk({ fading: 'retention', ...options }, clock);
}
