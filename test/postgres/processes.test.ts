import { expect, test } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { scaledRuns } from '../../src/testing/runs.ts';
import { startScript } from '../processes/start-script.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

const PROCESSES = 8;
const WRITES = scaledRuns(50);

test.skipIf(SERVER === undefined)(
  `${PROCESSES} processes × ${WRITES} writes and recalls: none is lost, and each is seen at the next recall (${WITHOUT_SERVER})`,
  { timeout: 1_200_000 },
  async () => {
    await using fresh = freshSchema();
    const store = fresh.open();
    await using memory = await openMemory({ store, space: 'shared', embedder: 'none' });
    const names = Array.from({ length: PROCESSES }, (_, at) => String.fromCharCode(97 + at));
    const users = names.map((name) => startScript('postgres-user.mjs', fresh.schema, name, String(WRITES)));
    for (const user of users) {
      const { value } = await user.lines.next();
      if (value !== 'written') throw new Error(`a process ended early: ${(await user.ended).errors}`);
    }
    const total = PROCESSES * WRITES;
    for (const user of users) {
      user.child.stdin.write('read\n');
      const { value } = await user.lines.next();
      expect(JSON.parse(value as string)).toEqual({ found: total, missed: 0, sequence: total });
      expect(await user.ended).toEqual({ code: 0, signal: null, errors: '' });
    }
    const { hits } = await memory.recall('written', { strategy: 'bm25', limit: total + 1 });
    const expected = names.flatMap((name) =>
      Array.from({ length: WRITES }, (_, index) => `${name}-${index}`),
    );
    expect(hits.map((hit) => hit.memory.id).sort()).toEqual(expected.sort());
    // Every recall counted its one hit.
    expect(hits.reduce((sum, hit) => sum + hit.memory.accessCount, 0)).toBe(total);
    expect(await memory.check()).toEqual([]);
  },
);
