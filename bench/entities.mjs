// The gain from following entities: the same questions with and without it, in spaces with entities. The entities are
// found without a model: speakers, and names by their capital letters.
import { isCommonWord } from '../build/text/names.js';
import { openMemory } from '../dist/index.js';
import { loadInOrder } from './ablations.mjs';
import { measureSet } from './evaluation.mjs';

/** How often a name must be written in a space. */
const OFTEN = 3;
const NAME = /(?<![\p{L}\p{N}'’-])\p{Lu}[\p{L}\p{M}]+(?: \p{Lu}[\p{L}\p{M}]+){0,2}/gu;
const BEGINNING = /(?:^|[.!?:;\n*"“(])\s*$/u;

/** With these links followed, by what the row is called. `together`: names in one turn are related. */
const VARIANTS = {
  'mentions followed, weight 0.3': { graph: 0.3 },
  'mentions followed, weight 0.6': { graph: 0.6 },
  'mentions and names in one turn followed, weight 0.6': { graph: 0.6, together: true },
};

export async function benchEntities(directory, log, sets = ['locomo-dev', 'beam-dev']) {
  const measured = [];
  const entities = {};
  for (const name of sets) {
    for (const together of [false, true]) {
      const rows = Object.keys(VARIANTS).filter((each) => (VARIANTS[each].together ?? false) === together);
      const engine = entityEngine(together);
      const { results, differences } = await measureSet(name, {
        ...{ directory, engine, log, strategies: ['hybrid', ...rows] },
      });
      entities[name] = engine.count();
      measured.push({ results: results.map((each) => ({ ...each, together })), differences });
    }
  }
  return {
    entities,
    results: measured.flatMap(({ results }) => results),
    differences: measured.flatMap(({ differences }) => differences),
  };
}

function entityEngine(together) {
  let count = 0;
  return {
    count: () => count,
    async open(space) {
      const memory = await openMemory({ path: ':memory:', space, maxContentBytes: Number.POSITIVE_INFINITY });
      return {
        load(memories) {
          const names = namesIn(memories);
          count += names.size;
          const at = Math.min(...memories.map(({ createdAt }) => createdAt));
          const entities = [...names].map(([name, id]) => ({
            ...{ id, type: 'entity', title: name, content: name, createdAt: at },
          }));
          const turns = memories.map((each) => (together ? { ...each, ...related(each, names) } : each));
          return loadInOrder(memory, [...entities, ...turns]);
        },
        async rank(query, { strategy, now, limit }) {
          const { graph = 0 } = VARIANTS[strategy] ?? {};
          const { hits } = await memory.recall(query, {
            ...{ now: new Date(now), limit, track: false, typesExclude: ['entity'], association: { graph } },
          });
          return { hits: hits.map(({ memory: { id }, score }) => ({ id, score: score.value })) };
        },
        close: () => memory.close(),
      };
    },
  };
}

/** The names of a space, and the ids that their entities get. */
function namesIn(memories) {
  const counts = new Map();
  const count = (name, times) => counts.set(name, (counts.get(name) ?? 0) + times);
  for (const { content, author } of memories) {
    if (author) count(author, OFTEN);
    for (const name of namesOf(content)) count(name, 1);
  }
  const often = [...counts].filter(([, times]) => times >= OFTEN).map(([name]) => name);
  return new Map(often.sort().map((name, at) => [name, `entity-${at}`]));
}

/** Names within sentences: at their beginning every word has a capital letter. */
function namesOf(content) {
  return [...content.matchAll(NAME)]
    .filter(({ 0: name, index }) => !BEGINNING.test(content.slice(0, index)) && !isCommonWord(name))
    .map(([name]) => name);
}

/** Who speaks and whom or what it names, each with each other. */
function related({ content, author }, names) {
  const ids = new Set([author ?? [], namesOf(content)].flat().flatMap((name) => names.get(name) ?? []));
  const all = [...ids].slice(0, 8);
  const relations = all.flatMap((from, at) =>
    all.slice(at + 1).map((to) => ({ from, name: 'mentioned_with', to })),
  );
  return relations.length > 0 ? { relations } : {};
}
