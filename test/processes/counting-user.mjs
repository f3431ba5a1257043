// Uses two memories COUNT times, counting and strengthening their link each time; then waits for a line on stdin, and
// says what it finds at its next read.
// usage: node counting-user.mjs DIRECTORY NAME COUNT
import { once } from 'node:events';
import { resolveProfile } from '../../build/scoring/profile.js';
import { builtinProfile } from '../../build/scoring/profiles/index.js';
import { createSqliteStore } from '../../build/stores/sqlite/index.js';

const [directory, name, count] = process.argv.slice(2);
const space = await createSqliteStore({ directory, synchronous: 'normal', busyTimeout: 60_000 }).openSpace(
  'shared',
);
const profile = resolveProfile(builtinProfile('bm25'));
const search = () =>
  space.snapshot((snapshot) =>
    snapshot.search({ profile, query: { terms: ['shared'] }, filter: {}, now: 0, limit: 10 }),
  );
const used = ['a', 'b'].map((id) => ({ id, direct: true }));

// From here on there is an index that must keep up with what the others use.
await search();
for (let index = 0; index < Number(count); index++) {
  const usage = { at: 0, strategy: 's', effect: 'reinforce', queryHash: 'h', sessionId: name, used };
  await space.use(usage, async (reader) => {
    const [link] = await reader.links(['a']);
    return {
      memories: (await reader.get(['a', 'b'])).map((memory) => ({
        ...memory,
        accessCount: memory.accessCount + 1,
        sessions: memory.sessions.includes(name) ? memory.sessions : [...memory.sessions, name],
      })),
      links: [{ ids: ['a', 'b'], kind: 'co-retrieval', weight: (link?.weight ?? 0) + 2 ** -12, at: 0 }],
    };
  });
}
process.stdout.write('used\n');
await once(process.stdin, 'data');
const { hits } = await search();
process.stdout.write(
  `${JSON.stringify(hits.map(({ signals }) => [signals.accessCount, signals.sessionCount]))}\n`,
);
await space.close();
process.exit(0);
