import { describe, expect, it } from 'vitest';
import { createReferenceStore } from '../testing/reference-store/index.ts';
import { insert, start } from '../testing/store-contract/harness.ts';
import { optimistically } from './optimistically.ts';

const entry = { verb: 'remember', at: start } as const;
const made = (id: string) => ({ changes: [insert({ id })], result: id });

describe('optimistically', () => {
  it('prepares anew what was overtaken, and says what was prepared last', async () => {
    await using store = createReferenceStore();
    const space = await store.openSpace('alice');
    let overtaken = 2;
    const done = await optimistically(space, entry, {
      async prepare(reader) {
        const { length } = await reader.history('other');
        if (overtaken-- > 0) await space.write(entry, async () => made(`other${overtaken}`));
        return { length, left: overtaken };
      },
      async decide(reader, { left }) {
        // Written by whoever was faster.
        const [other] = await reader.get([`other${left}`]);
        return other ? undefined : made('a');
      },
    });
    expect(done).toEqual({ prepared: { length: 0, left: -1 }, result: 'a' });
    expect((await space.info()).memories).toBe(3);
  });

  it('takes an empty result for a result', async () => {
    await using store = createReferenceStore();
    const space = await store.openSpace('alice');
    const decide = async () => ({ changes: [], result: undefined });
    const done = await optimistically(space, entry, { prepare: async () => 1, decide });
    expect(done).toEqual({ prepared: 1, result: undefined });
  });

  it('ends when it is aborted between two attempts', async () => {
    await using store = createReferenceStore();
    const space = await store.openSpace('alice');
    const controller = new AbortController();
    const never = async () => {
      controller.abort();
      return undefined;
    };
    const work = optimistically(space, entry, { prepare: never, decide: never }, controller.signal);
    await expect(work).rejects.toMatchObject({ code: 'aborted' });
  });
});
