import { mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SalienceError } from '../../domain/errors.ts';
import { atOnce } from '../../domain/slices.ts';
import type { MemoryEngine } from '../../engine/memory-engine.ts';
import { openMemory } from '../../open.ts';
import { encodePages } from '../../search/pages.ts';
import { createResidence } from '../../search/residence.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { connect } from './connection.ts';
import { indexRows } from './feed.ts';
import { fileNameOf } from './files.ts';
import { savePages } from './pages.ts';

const FILES = 200;
const now = Date.UTC(2026, 5, 1);
const seed = Number(process.env['SALIENCE_FUZZ_SEED'] ?? 20260601);

let directory: string;
let bytes: Buffer;
let expected: Readonly<Record<string, unknown>>;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-fuzz-'));
  await fill(directory);
  bytes = await readFile(join(directory, fileNameOf('alice')));
  expected = await answersOf(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** An embedder of few components, so that rows and not one table of vectors make up the file. */
const embedder = {
  model: 'letters-16',
  dimensions: 16,
  calibration: { floor: 0, ceiling: 1 },
  thresholds: { conflict: 0.999, birthLink: 0.999, consolidation: 0.999, similarPair: 0.999 },
  async embed(texts: readonly string[]) {
    return texts.map((text) => {
      const vector = new Float32Array(16).fill(0.01);
      for (const letter of text.toLowerCase()) vector[letter.charCodeAt(0) % 16]! += 1;
      const length = Math.sqrt(vector.reduce((sum, each) => sum + each * each, 0));
      return vector.map((each) => each / length);
    });
  },
};

async function openAt(path: string, readOnly = true): Promise<MemoryEngine> {
  return openMemory({ path, space: 'alice', embedder, clock: () => now, synchronous: 'normal', readOnly });
}

/** A store with memories, vectors, links, a session, metadata, uses, history and saved pages. */
async function fill(path: string): Promise<void> {
  await using memory = await openAt(path, false);
  const drinks = ['tea', 'coffee', 'water', 'milk', 'juice', 'cocoa'];
  await memory.rememberMany(
    Array.from({ length: 36 }, (_, at) => ({
      id: `m${at}`,
      content: `${drinks[at % 6]} number ${at} is kept on shelf ${at % 7}`,
      type: at % 5 === 0 ? 'preference' : 'fact',
      tags: [`shelf-${at % 7}`],
      metadata: { shelf: at % 7, drink: drinks[at % 6] ?? '' },
      ...(at % 4 === 0 ? { sessionId: 's1' } : {}),
      createdAt: new Date(now - (300 - at) * 3_600_000),
    })),
  );
  for (let at = 0; at < 8; at++) await memory.update(`m${at}`, { content: `tea number ${at} was moved` });
  await memory.link('m1', 'm2', { weight: 0.7 });
  await memory.link('m3', 'm9', { weight: 0.4 });
  for (const query of ['tea on the shelf', 'coffee']) await memory.recall(query, { strategy: 'retention' });
  await memory.remember('tea number 30 is gone', { id: 'newer', supersedes: 'm30' });
  await memory.close();
  const connection = await connect(join(path, fileNameOf('alice')), { readOnly: false, timeout: 0 });
  const { index, position } = await createResidence('alice').refresh(indexRows(() => connection));
  atOnce(savePages(connection, encodePages(index), position));
  connection.close();
}

const questions: Readonly<Record<string, (memory: MemoryEngine) => Promise<unknown>>> = {
  bm25: (memory) => hitsOf(memory, 'bm25'),
  vector: (memory) => hitsOf(memory, 'vector'),
  hybrid: (memory) => hitsOf(memory, 'hybrid'),
  filtered: async (memory) =>
    (await memory.recall('tea', { metadata: { shelf: 3 }, track: false })).hits.map(
      ({ memory: { id } }) => id,
    ),
  get: (memory) => memory.get('m5'),
  list: (memory) => memory.list({ limit: 1000 }),
  history: (memory) => memory.history('m1'),
  links: (memory) => memory.links('m1'),
};

async function hitsOf(memory: MemoryEngine, strategy: 'bm25' | 'vector' | 'hybrid'): Promise<unknown> {
  const { hits } = await memory.recall('tea shelf 3', { strategy, limit: 8, track: false });
  return hits.map((hit) => [hit.memory, hit.score.value]);
}

/** The answers to all questions; where one fails with a typed error, its code. */
async function answersOf(path: string): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = {};
  const memory = await attempt(() => openAt(path));
  if (typeof memory === 'string') return { open: memory };
  try {
    for (const [name, ask] of Object.entries(questions)) answers[name] = await attempt(() => ask(memory));
    answers['check'] = await attempt(async () => (await memory.check()).length);
  } finally {
    const closed = await attempt(() => memory.close());
    if (typeof closed === 'string') answers['close'] = closed;
  }
  return answers;
}

/** What the work gives, or the code of its typed error; throws every other error. */
async function attempt<Result>(work: () => Promise<Result>): Promise<Result | string> {
  try {
    return await work();
  } catch (error) {
    if (SalienceError.isInstance(error)) return `failed: ${error.code}`;
    throw error;
  }
}

const typed = ['store_corrupt', 'not_a_store', 'newer_store'].map((code) => `failed: ${code}`);

test(`${FILES} damaged files answer right, fail with a typed error, or are found by check (seed ${seed})`, async () => {
  expect(expected).toMatchObject({ check: 0 });
  const random = seededRandom(seed);
  const problems: string[] = [];
  const outcomes = { right: 0, refused: 0, found: 0 };
  const place = join(directory, 'damaged');
  await mkdir(place);
  for (let round = 0; round < FILES; round++) {
    const damaged = Buffer.from(bytes);
    // Most of a small file is empty: what is there is damaged.
    let at = 0;
    do at = Math.floor(random() * damaged.length);
    while (damaged[at] === 0);
    if (round % 2 === 0) damaged[at] = (damaged[at] as number) ^ (1 << Math.floor(random() * 8));
    else
      for (let each = at; each < Math.min(at + 16, damaged.length); each++)
        damaged[each] = Math.floor(random() * 256);
    const path = join(place, String(round));
    await mkdir(path);
    const file = await open(join(path, fileNameOf('alice')), 'w');
    await file.writeFile(damaged).finally(() => file.close());
    const what = `round ${round}, offset ${at}`;
    const answers = await answersOf(path).catch((error: unknown) => ({
      threw: String((error as Error).stack),
    }));
    const wrong = Object.keys({ ...expected, ...answers }).filter(
      (name) => name !== 'check' && JSON.stringify(answers[name as never]) !== JSON.stringify(expected[name]),
    );
    // A memory that a damaged index does not find is a wrong answer like any other.
    const failures = Object.values(answers).filter(
      (each) => typeof each === 'string' && each !== 'failed: not_found',
    );
    const check = (answers as { readonly check?: unknown }).check;
    if ('threw' in answers) problems.push(`${what}: ${answers.threw}`);
    else if (failures.some((each) => !typed.includes(each as string)))
      problems.push(`${what}: ${failures.join(', ')}`);
    else if (wrong.length === 0) outcomes.right++;
    else if (failures.length > 0) outcomes.refused++;
    else if (check !== 0) outcomes.found++;
    else problems.push(`${what}: ${wrong.join(', ')} answered otherwise, and check found nothing`);
    await rm(path, { recursive: true, force: true });
  }
  expect(problems).toEqual([]);
  expect(outcomes.right + outcomes.refused + outcomes.found).toBe(FILES);
  // Damage was met.
  expect(outcomes.right).toBeLessThan(FILES);
  expect(outcomes.refused).toBeGreaterThan(0);
});
