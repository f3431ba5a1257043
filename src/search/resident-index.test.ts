import { expect, test } from 'vitest';
import { indexed } from '../testing/index-oracle.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { createResidentIndex, putMemory, removeMemory } from './resident-index.ts';

test.each([[1], [2]])(
  'of two rows that stand in the same place of a session, the one that is removed goes: %i',
  (gone) => {
    // A memory that was gone and came back under another key: the new row may be put in before the old one is taken out.
    const index = createResidentIndex();
    const memory = sampleMemory({ id: 'back', ordinal: 1, bornIn: 's' });
    const before = sampleMemory({ id: 'before', ordinal: 0, bornIn: 's' });
    for (const [key, each] of [before, memory, memory].entries()) {
      putMemory(index, indexed(key, each, { terms: new Map(), vector: undefined }));
    }
    removeMemory(index, gone);
    expect([...index.sessions.lists.of(1)].sort()).toEqual([0, 1, 2].filter((row) => row !== gone));
  },
);
