// The cost and benefit of the relevance floor: the share of questions that lose their best answer, and the share of
// questions to a space without the answer that get no hits, by dataset, size of the store and floor.
import { join } from 'node:path';
import { builtinEmbedder } from '../build/providers/builtin/embedder.js';
import { readDataset } from '../dist/eval/index.js';
import { openMemory } from '../dist/index.js';
import { seeded } from './data.mjs';

const STORES = [
  ...[3, 10, 30, 100].flatMap((size) => [
    { store: `${size}, scattered`, size, draw: scattered },
    { store: `${size}, in pieces`, size, draw: inPieces },
  ]),
  { store: 'whole', size: Number.POSITIVE_INFINITY, draw: (_, memories) => memories },
];
const FLOORS = [0.1, 0.12, 0.14, 0.15, 0.16, 0.17, 0.18, 0.19, 0.2, 0.25, 0.3];
/** The share of a set's questions that may lose their best answer. */
const MOST_LOST = 0.05;
const SEED = 21;

const LOOKUP_KINDS = [
  'information_extraction',
  'multi_session_reasoning',
  'temporal_reasoning',
  'knowledge_update',
  'contradiction_resolution',
  'preference_following',
];

/** Which questions are counted together; those without an answer are not asked. */
const GROUPS = {
  'locomo-dev': ({ type }) => (type === 'adversarial' ? 'locomo-dev, adversarial' : 'locomo-dev, others'),
  'beam-dev': ({ type }) =>
    LOOKUP_KINDS.includes(type) ? 'beam-dev, lookup kinds' : 'beam-dev, other kinds',
};

export async function benchFloor(directory, log) {
  const { calibration } = builtinEmbedder();
  const embedder = embedOnce(builtinEmbedder());
  const results = [];
  for (const [name, groupOf] of Object.entries(GROUPS)) {
    const { spaces } = await readDataset(join(directory, `${name}.jsonl.gz`));
    for (const store of STORES) {
      const asked = await askAll([...spaces], store, embedder, calibration.minRelevance);
      const groups = [...new Set(asked.map(({ query }) => groupOf(query)))];
      for (const group of [name, ...groups.filter((each) => each !== name)]) {
        const questions = asked.filter(({ query }) => group === name || groupOf(query) === group);
        const row = { group, store: store.store, ...summary(questions, calibration.minRelevance) };
        log(`${group}, ${store.store}`, row);
        results.push(row);
      }
    }
  }
  const wholeSets = results.filter(({ group }) => group in GROUPS);
  const highest = FLOORS.findLast((floor) =>
    wholeSets.every(({ byFloor }) => byFloor[floor].lost <= MOST_LOST),
  );
  return {
    results: {
      minRelevance: calibration.minRelevance,
      highest,
      mostLost: MOST_LOST,
      seed: SEED,
      rows: results,
    },
  };
}

/**
 * Each question in a store that holds its evidence, and in the same store one whose answer lies in another space. A small
 * store holds the evidence of one question for each ten memories.
 */
async function askAll(spaces, { size, draw }, embedder, minRelevance) {
  const random = seeded(SEED);
  const asked = [];
  for (const [at, [space, { memories, queries }]] of spaces.entries()) {
    const foreign = spaces.flatMap(([, each], other) => (other === at ? [] : each.queries));
    const answerable = queries.filter(({ relevant }) => relevant.length > 0 && relevant.length <= size);
    for (const group of inGroups(answerable, size)) {
      const kept = new Set(group.flatMap(({ relevant }) => relevant));
      const drawn = draw(random, memories, kept, size);
      const { memory, idOf } = await openWith(space, drawn, embedder);
      for (const query of group) {
        const own = { ...query, relevant: query.relevant.map((id) => idOf.get(id) ?? id) };
        const other = { ...pick(random, foreign), now: query.now };
        asked.push({
          query,
          evidence: await matchesOf(memory, own, drawn.length, minRelevance),
          foreign: await bestMatch(memory, other, drawn.length, minRelevance),
        });
      }
      await memory.close();
    }
  }
  return asked;
}

/** Questions that share a store, as many as fill a tenth of it with evidence. */
function inGroups(queries, size) {
  const groups = [];
  let room = 0;
  for (const query of queries) {
    if (groups.length === 0 || query.relevant.length > room) {
      groups.push([]);
      room = Math.max(query.relevant.length, size / 10);
    }
    groups.at(-1).push(query);
    room -= query.relevant.length;
  }
  return groups;
}

/** Returns `size` memories in their order: those in `kept`, and others drawn at random. */
function scattered(random, memories, kept, size) {
  const rest = memories.filter(({ id }) => !kept.has(id));
  const chosen = new Set(kept);
  while (chosen.size < Math.min(size, memories.length)) {
    const [taken] = rest.splice(Math.floor(random() * rest.length), 1);
    chosen.add(taken.id);
  }
  return memories.filter(({ id }) => chosen.has(id));
}

/** Returns `size` memories as pieces of a conversation: those in `kept`, and the nearest ones around them. */
function inPieces(random, memories, kept, size) {
  const starts = memories.flatMap(({ id }, at) => (kept.has(id) ? [at] : []));
  const distance = memories.map(
    (_, at) => Math.min(...starts.map((start) => Math.abs(start - at))) + random() / 2,
  );
  const nearest = [...memories.keys()].sort((a, b) => distance[a] - distance[b]);
  const chosen = new Set(nearest.slice(0, Math.max(size, starts.length)));
  return memories.filter((_, at) => chosen.has(at));
}

function pick(random, list) {
  return list[Math.floor(random() * list.length)];
}

/**
 * Returns the match and rank of the first evidence, and the best match of any evidence; `undefined` if none is a hit.
 */
async function matchesOf(memory, { query, now, relevant }, limit, minRelevance) {
  const options = { now: new Date(now), track: false, association: 'none' };
  const { hits: all } = await memory.recall(query, { ...options, limit });
  const found = all.filter((hit) => relevant.includes(hit.memory.id));
  const [first] = found;
  if (!first) return undefined;
  const { match } = first.features;
  const rank = all.indexOf(first) + 1;
  const { hits: kept } = await memory.recall(query, { ...options, limit: rank, minRelevance: 'auto' });
  check(
    kept.some((hit) => hit.memory.id === first.memory.id),
    match >= minRelevance,
    query,
  );
  return { match, rank, best: Math.max(...found.map(({ features }) => features.match)) };
}

/** Returns the best match of any memory. */
async function bestMatch(memory, { query, now }, limit, minRelevance) {
  const options = { now: new Date(now), track: false, association: 'none' };
  const { hits: all } = await memory.recall(query, { ...options, limit });
  const { hits: kept } = await memory.recall(query, { ...options, limit: 1, minRelevance: 'auto' });
  const best = all.reduce((most, { features }) => Math.max(most, features.match), 0);
  check(kept.length > 0, best >= minRelevance, query);
  return best;
}

/** Checks that the engine keeps exactly the memories whose match reaches the floor. */
function check(isKept, isRelevant, query) {
  if (isKept !== isRelevant) throw new Error(`floor: ${JSON.stringify(query)} is kept: ${isKept}`);
}

function summary(questions, minRelevance) {
  const share = (test) => round(questions.filter(test).length / questions.length);
  const at = (floor) => ({
    /** The evidence that ranks first, wherever that is, falls below the floor. */
    lost: share(({ evidence }) => evidence !== undefined && evidence.match < floor),
    /** The same, where it stood among the first ten. */
    lostOfFirstTen: share(({ evidence }) => evidence && evidence.rank <= 10 && evidence.match < floor),
    /** All evidence falls below it. */
    lostAll: share(({ evidence }) => evidence !== undefined && evidence.best < floor),
    /** Of questions to the wrong space: nothing is left to return. */
    refused: share(({ foreign }) => foreign < floor),
  });
  return {
    questions: questions.length,
    ...at(minRelevance),
    byFloor: Object.fromEntries(FLOORS.map((floor) => [floor, at(floor)])),
  };
}

/** Opens a space with these memories. Also returns the ids under which duplicates are stored. */
async function openWith(space, memories, embedder) {
  const idOf = new Map();
  const memory = await openMemory({
    path: ':memory:',
    space,
    embedder,
    maxContentBytes: Number.POSITIVE_INFINITY,
  });
  const last = memories.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0);
  for (let start = 0; start < memories.length; start += 1000) {
    const inputs = memories.slice(start, start + 1000).map(({ session, createdAt, ...fields }) => ({
      ...fields,
      sessionId: session,
      createdAt: new Date(createdAt),
    }));
    const outcomes = await memory.rememberMany(inputs, { now: new Date(last) });
    for (const [at, { id }] of outcomes.entries()) idOf.set(inputs[at].id, id);
  }
  return { memory, idOf };
}

/** The same texts are embedded in many stores. */
function embedOnce(embedder) {
  const known = new Map();
  return {
    ...embedder,
    async embed(texts) {
      const fresh = [...new Set(texts.filter((text) => !known.has(text)))];
      const vectors = await embedder.embed(fresh);
      for (const [at, text] of fresh.entries()) known.set(text, vectors[at]);
      return texts.map((text) => known.get(text));
    },
  };
}

function round(value) {
  return Number(value.toFixed(4));
}
