// The use of a language model: calls, tokens and concurrent requests for a conversation, its contradictions and a
// rerank. The model is a script that answers after a fixed time, so that the figures are those of the engine and its
// prompts.
import { setTimeout as wait } from 'node:timers/promises';
import { openMemory } from '../dist/index.js';
import { scriptedModel } from '../dist/testing/index.js';
import { seeded } from './data.mjs';
import { round } from './measure.mjs';

const now = Date.UTC(2026, 0, 1);
const LATENCY = 50;

const people = ['Ann', 'Ben', 'Cleo', 'Dan'];
const places = ['Oslo', 'Lisbon', 'Kyoto', 'Quito', 'Bergen', 'Porto'];
const things = [
  'a new job',
  'the deadline of the report',
  'a flat',
  'her sister',
  'a marathon',
  'the budget',
];

export async function benchLanguage(log, { messages = 200, reranks = 20 } = {}) {
  const conversation = makeConversation(messages);
  const extraction = {};
  for (const concurrency of [1, 2, 8]) {
    extraction[`concurrency ${concurrency}`] = await observed(conversation, { concurrency });
    log(`extraction, concurrency ${concurrency}`, extraction[`concurrency ${concurrency}`]);
  }
  const results = { messages, latencyMs: LATENCY, extraction, ...(await judged(conversation, reranks)) };
  log('verdicts', results.verdicts);
  log('rerank', results.rerank);
  return results;
}

async function observed(conversation, options) {
  const scripted = scriptedModel(answer);
  const memory = await open(scripted.model);
  const started = performance.now();
  const { created, merged, deduplicated, usage } = await memory.observe(conversation, options);
  const ms = round(performance.now() - started);
  await memory.close();
  return {
    ...usage,
    tokensPerMessage: round((usage.promptTokens + usage.completionTokens) / conversation.length),
    atOnce: scripted.mostAtOnce(),
    created: created.length,
    merged,
    deduplicated: deduplicated.length,
    ms,
  };
}

async function judged(conversation, reranks) {
  const scripted = scriptedModel(answer);
  const memory = await open(scripted.model);
  await memory.observe(conversation);
  const started = performance.now();
  const { judged: pairs, similarPairs, usage } = await memory.maintain({ maxPairs: 1000 });
  const verdicts = {
    pairs: similarPairs.length,
    judged: pairs.length,
    ...usage,
    ms: round(performance.now() - started),
  };
  const asked = scripted.requests.length;
  let [promptTokens, completionTokens] = [0, 0];
  for (let at = 0; at < reranks; at++) {
    const query = `What did ${people[at % 4]} say about ${things[at % 6]}?`;
    const { trace } = await memory.recall(query, { rerank: true, track: false });
    const row = trace.stages.find(({ name }) => name === 'rerank');
    promptTokens += row.promptTokens;
    completionTokens += row.completionTokens;
  }
  await memory.close();
  const rerank = {
    recalls: reranks,
    callsPerRecall: round((scripted.requests.length - asked) / reranks),
    promptTokensPerRecall: round(promptTokens / reranks),
    completionTokensPerRecall: round(completionTokens / reranks),
  };
  return { verdicts, rerank };
}

function open(languageModel) {
  return openMemory({ path: ':memory:', space: 'default', clock: () => now, languageModel });
}

/** Turns of everyday length; every tenth comes back to something that was said before, with another date. */
function makeConversation(count) {
  const random = seeded(7);
  const pick = (list) => list[Math.floor(random() * list.length)];
  return Array.from({ length: count }, (_, at) => ({
    id: `m${at}`,
    role: at % 2 === 0 ? 'user' : 'assistant',
    name: people[at % 2],
    at: new Date(now - (count - at) * 3_600_000),
    content: `${pick(people)} told me about ${pick(things)} in ${pick(places)} on day ${1 + (at % 28)}, and that it went ${random() < 0.5 ? 'well' : 'badly'} in the end.`,
  }));
}

/** One memory a message, UPDATE for every pair, scores in falling order. */
async function answer({ prompt }) {
  await wait(LATENCY);
  const lines = prompt
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  if (prompt.startsWith('<messages-')) return { memories: lines.filter(({ n }) => n).map(memoryOf) };
  if (prompt.startsWith('<pairs-')) {
    return { verdicts: lines.map(({ pair }) => ({ pair, reason: 'another date', verdict: 'UPDATE' })) };
  }
  return { scores: lines.filter(({ n }) => n).map(({ n }) => ({ n, score: 1 / n })) };
}

function memoryOf({ n, content }) {
  return {
    content,
    title: null,
    type: 'event',
    tags: ['talk'],
    importance: 0.4,
    confidence: 'stated',
    validFrom: null,
    validUntil: null,
    sources: [n],
  };
}
