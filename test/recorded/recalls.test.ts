import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SalienceError } from '../../src/domain/errors.ts';
import { type MemoryEngine, openMemory, type RecallOptions } from '../../src/index.ts';
import { scaledRuns } from '../../src/testing/runs.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';

/*
 * What 2,000 random recalls answered when they were recorded: ids, the bits of every score, paths, the bound, and how
 * many memories each stage saw and kept. A change of the code's shape must change none of them. After a change that is
 * meant to change answers: SALIENCE_RECORD=1 ./run test test/recorded
 */
const file = fileURLToPath(new URL('recalls.json', import.meta.url));
const RECALLS = 2000;
const isRecording = Boolean(process.env['SALIENCE_RECORD']);
const asked = isRecording ? RECALLS : Math.min(RECALLS, scaledRuns(RECALLS));
const now = Date.UTC(2026, 4, 1);
const DAY = 86_400_000;

const random = seededRandom(42);
const whole = (below: number) => Math.floor(random() * below);
const one = <Value>(...values: readonly Value[]): Value => values[whole(values.length)] as Value;
const sometimes = <Value>(chance: number, value: () => Value) => (random() < chance ? value() : undefined);

const people = ['Anna', 'Ben', 'Carla', 'Dmitri'];
const doings = ['drinks', 'hates', 'buys', 'grinds', 'forgot the', 'asked for'];
const things = ['coffee', 'green tea', 'milk', 'the train to Lisbon', 'a passport', 'running shoes', 'beans'];
const places = ['at home', 'in Porto', 'in Lisbon', 'on Mondays', 'since March', 'at the office', ''];
const scopes = ['global', 'project:a', 'project:a/part:b', 'project:b'];
const types = ['fact', 'preference', 'event', 'decision', 'plan', 'profile'];
const strategies = [
  ...['lexical', 'ambient', 'retention', 'balanced', 'personal-assistant', 'support-desk', 'coding-agent'],
  ...['research-notes', 'news', 'five-factor', 'scoped', 'hybrid', 'bm25', 'vector'],
];
const sentence = () => `${one(...people)} ${one(...doings)} ${one(...things)} ${one(...places)}`.trim();

let directory: string;
let memory: MemoryEngine;
let moment = now - 200 * DAY;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-recorded-'));
  let id = 0;
  const clock = () => moment;
  memory = await openMemory({
    path: directory,
    space: 'recorded',
    synchronous: 'normal',
    clock,
    newId: () => `g${String(id++).padStart(4, '0')}`,
  });
  await memory.configure({ fading: { mode: 'retention' } });
  await fill(memory);
  moment = now;
});
afterAll(async () => {
  await memory.close();
  await rm(directory, { recursive: true, force: true });
});

const at = (from: number, days: number) => new Date(from + Math.floor(random() * days * DAY)).toISOString();

async function fill(memory: MemoryEngine): Promise<void> {
  for (let batch = 0; batch < 30; batch++) {
    moment += 6 * DAY;
    await memory.rememberMany(
      Array.from({ length: 1 + whole(20) }, () => ({
        content: sentence(),
        type: one(...types),
        scope: one(...scopes),
        importance: sometimes(0.7, () => whole(11) / 10),
        confidence: sometimes(0.5, () => whole(11) / 10),
        weight: sometimes(0.3, () => (1 + whole(10)) / 10),
        tags: sometimes(0.5, () => [one('red', 'green'), one('new', 'old')]),
        metadata: sometimes(0.4, () => ({ shelf: whole(4), kind: one('x', 'y') })),
        sessionId: sometimes(0.5, () => one('s1', 's2', 's3')),
        topicKey: sometimes(0.1, () => one('drink', 'trip')),
        validUntil: sometimes(0.1, () => at(moment, 200)),
        expiresAt: sometimes(0.1, () => at(moment, 300)),
      })),
    );
    const { memories } = await memory.list({ limit: 1000, sort: 'inserted' });
    const picked = () => one(...memories).id;
    for (let step = 0; step < 6; step++) {
      await attempt(() =>
        memory.recall(sentence(), { strategy: one('retention', 'five-factor'), sessionId: one('u', 'v') }),
      );
      await attempt(() => memory.link(picked(), picked(), { weight: whole(11) / 10 }));
      if (step === 0) await attempt(() => memory.invalidate(picked(), 'wrong'));
      if (step === 1) await attempt(() => memory.remember(sentence(), { supersedes: picked() }));
      if (step === 2) await attempt(() => memory.feedback(picked(), one('up', 'down')));
      if (step === 3) await attempt(() => memory.update(picked(), { content: sentence() }));
    }
    if (batch % 10 === 9) await memory.maintain();
  }
}

/** What cannot be done at the time, such as linking a memory with itself, is left out. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!SalienceError.isInstance(error)) throw error;
  });
}

function randomRecall(): { readonly query: string | undefined; readonly options: RecallOptions } {
  const strategy = one(...strategies);
  const past = sometimes(0.05, () => ({ known: at(now - 100 * DAY, 90) }));
  return {
    query: strategy === 'ambient' ? undefined : random() < 0.8 ? sentence() : one(...things, 'who?', 'zyx'),
    options: {
      strategy,
      track: false,
      limit: sometimes(0.6, () => one(1, 2, 5, 15, 16, 17, 40)),
      minScore: sometimes(0.1, () => random()),
      scope: sometimes(0.3, () => one(...scopes)),
      types: sometimes(0.15, () => [one(...types), one(...types)]),
      tags: sometimes(0.1, () => [one('red', 'old')]),
      metadata: sometimes(0.1, () => ({ shelf: whole(4) })),
      deep: sometimes(0.2, () => true),
      includeExpired: sometimes(0.2, () => true),
      association:
        strategy === 'ambient' ? undefined : sometimes(0.3, () => one('none', 'direct', 'propagated')),
      asOf: past,
    },
  };
}

it(`${asked} random recalls answer as they were recorded`, async () => {
  const answers: string[] = [];
  const recalls: ReturnType<typeof randomRecall>[] = [];
  let found = 0;
  for (let number = 0; number < asked; number++) {
    const recall = randomRecall();
    recalls.push(recall);
    const { hits, trace } = await memory.recall(recall.query, recall.options);
    found += hits.length;
    const answer = JSON.stringify([
      hits.map(({ memory: { id }, score, path = [] }) => [id, bitsOf(score.value), path]),
      bitsOf(trace.upperBound),
      trace.completeness,
      trace.stages.map(({ candidates, survivors }) => [candidates, survivors]),
    ]);
    answers.push(crc32(answer).toString(16).padStart(8, '0'));
  }
  expect(found).toBeGreaterThan(asked);
  if (isRecording) writeFileSync(file, `${JSON.stringify(answers, undefined, 2)}\n`);
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as readonly string[];
  const different = recalls.flatMap((recall, number) =>
    answers[number] === recorded[number] ? [] : [{ number, ...recall }],
  );
  expect({ different: different.length, first: different.slice(0, 3) }).toEqual({ different: 0, first: [] });
  expect(recorded).toHaveLength(RECALLS);
});

function bitsOf(value: number): string {
  return new BigUint64Array(Float64Array.of(value).buffer)[0]?.toString(16) ?? '';
}
