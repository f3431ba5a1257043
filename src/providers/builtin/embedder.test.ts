import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtinEmbedder } from './embedder.ts';
import { openWordTable } from './table.ts';
import { findWord } from './tokenize.ts';

const embedder = builtinEmbedder();

async function embedOne(text: string): Promise<Float32Array | undefined> {
  return (await embedder.embed([text]))[0];
}

async function cosine(left: string, right: string): Promise<number> {
  const [a, b] = await embedder.embed([left, right]);
  if (a === undefined || b === undefined) throw new Error('A text without a vector has no cosine.');
  return dot(a, b);
}

function dot(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * (right[index] ?? Number.NaN), 0);
}

describe('builtinEmbedder', () => {
  it('returns one unit vector of the stated dimensions per text, in order', async () => {
    const texts = ['I like coffee', 'The meeting moved to Tuesday', 'I like coffee'];
    const vectors = await embedder.embed(texts);
    expect(vectors).toHaveLength(3);
    for (const vector of vectors) {
      expect(vector).toBeInstanceOf(Float32Array);
      expect(vector).toHaveLength(embedder.dimensions);
      expect(dot(vector as Float32Array, vector as Float32Array)).toBeCloseTo(1, 6);
    }
    expect(vectors[0]).toEqual(vectors[2]);
    expect(vectors[0]).not.toEqual(vectors[1]);
  });

  it('returns the same bits alone, in a batch, from another instance and for a query', async () => {
    const text = "She doesn't eat meat, but she loves Caf\u00e9 Central's omelettes.";
    const alone = await embedOne(text);
    expect((await embedder.embed(['first', text, 'last']))[1]).toEqual(alone);
    expect((await builtinEmbedder().embed([text], { purpose: 'query' }))[0]).toEqual(alone);
  });

  it('sums words in their order, whatever their number', async () => {
    const table = openWordTable(new URL('./table.bin', import.meta.url), 0);
    const words = [
      'tea',
      'coffee',
      'house',
      'giraffe',
      'running',
      'of',
      'green',
      'mountain',
      'lamp',
      'river',
    ];
    for (let count = 1; count <= words.length; count++) {
      const sum = new Float64Array(table.dimensions);
      for (const word of words.slice(0, count)) {
        const number = findWord(table, word);
        const factor = table.weights[number]! * table.scales[number]!;
        const row = table.rows.subarray(number * table.dimensions, (number + 1) * table.dimensions);
        for (let at = 0; at < sum.length; at++) sum[at]! += factor * row[at]!;
      }
      let squares = 0;
      for (const value of sum) squares += value * value;
      const [vector] = await embedder.embed([words.slice(0, count).join(' ')]);
      expect(vector).toEqual(Float32Array.from(sum, (value) => value / Math.sqrt(squares)));
    }
  });

  it('returns no vector for a text without a known word', async () => {
    const vectors = await embedder.embed([
      '',
      '   \n',
      '?!',
      'zxqvbn qwrtzp',
      '\ud83d\ude80',
      '\u4f60\u597d\u4e16\u754c',
    ]);
    expect(vectors).toEqual([undefined, undefined, undefined, undefined, undefined, undefined]);
  });

  it('skips unknown words, whatever their script', async () => {
    const plain = await embedOne('the dog sleeps on the sofa');
    expect(await embedOne('the dog zxqvbn sleeps \u72d7 on the sofa \ud83d\udc36')).toEqual(plain);
    expect(
      await embedOne(
        '\u6771\u4eac de \u4ed5\u4e8b\u3092\u3057\u3066\u3044\u307e\u3059 \uc548\ub155\ud558\uc138\uc694',
      ),
    ).not.toBe(null);
  });

  it('reads letters with marks, capitals and curly apostrophes like their plain forms', async () => {
    expect(await embedOne('Caf\u00e9 IN Paris')).toEqual(await embedOne('cafe in paris'));
    expect(await embedOne('I don\u2019t know')).toEqual(await embedOne("I don't know"));
    expect(await embedOne("the dog's bowl")).toEqual(await embedOne('the dog bowl'));
  });

  it('accepts hostile text', async () => {
    const vectors = await embedder.embed([
      'constructor __proto__ toString',
      '\ud800 lone surrogate',
      'word '.repeat(50_000),
    ]);
    expect(vectors).toHaveLength(3);
    expect(dot(vectors[2] as Float32Array, vectors[2] as Float32Array)).toBeCloseTo(1, 6);
  });

  it.each([
    [
      'Her car broke down on the highway',
      'The automobile had engine trouble on the road',
      'He bakes bread every Sunday',
    ],
    ['I am allergic to peanuts', 'Nuts make me sick', 'My flight leaves from the second terminal'],
    ['We adopted a puppy', 'They got a new dog', 'The server ran out of disk space'],
    ['The doctor prescribed an antibiotic', 'A physician gave him medicine', 'The band released a new album'],
    ['He was promoted at work', 'His boss gave him a better job', 'The cat hides under the bed'],
  ])('puts a paraphrase of %j above an unrelated text', async (text, paraphrase, unrelated) => {
    expect(await cosine(text, paraphrase)).toBeGreaterThan((await cosine(text, unrelated)) + 0.1);
  });

  it('stops when it is aborted', async () => {
    await expect(embedder.embed(['text'], { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    });
  });

  it('yields to other work during thousands of texts, and stops when it is aborted meanwhile', async () => {
    const texts = Array.from({ length: 20_000 }, (_, at) => `a dog has chased the cat of neighbour ${at}`);
    const abort = new AbortController();
    setImmediate(() => abort.abort());
    await expect(embedder.embed(texts, { signal: abort.signal })).rejects.toMatchObject({ code: 'aborted' });
  });

  it('says which file is missing or is not a table', async () => {
    const missing = builtinEmbedder({ table: new URL('./no-such-table.bin', import.meta.url) });
    await expect(missing.embed(['text'])).rejects.toMatchObject({ code: 'embedder_failed' });
    const noTable = builtinEmbedder({ table: new URL('./embedder.test.ts', import.meta.url) });
    await expect(noTable.embed(['text'])).rejects.toThrow(/is not of version 1/);
  });

  it('has a floor below its ceiling, and thresholds in ascending order', () => {
    const { calibration, thresholds } = embedder;
    expect(calibration.floor).toBeLessThan(calibration.ceiling);
    expect(thresholds.birthLink).toBeLessThan(thresholds.consolidation);
    expect(thresholds.consolidation).toBeLessThan(thresholds.conflict);
    expect(thresholds.conflict).toBeLessThan(thresholds.similarPair);
  });
});

const data = process.env['SALIENCE_DATA'];
const pairsFile = data === undefined ? undefined : join(data, 'stsb', 'stsb-en-dev.csv');
const available = pairsFile !== undefined && existsSync(pairsFile);

describe.skipIf(!available)(
  `on the STS benchmark's dev part${available ? '' : ' (skipped: SALIENCE_DATA does not name a folder that holds it)'}`,
  () => {
    it('orders sentence pairs as people do: Spearman ≥ .74', async () => {
      const rows = readPairs(readFileSync(pairsFile as string, 'utf8'));
      const [left, right] = [0, 1].map((column) => rows.map((row) => row[column] ?? ''));
      const a = await embedder.embed(left ?? []);
      const b = await embedder.embed(right ?? []);
      const cosines = a.map((vector, index) => (vector && b[index] ? dot(vector, b[index]) : 0));
      const scores = rows.map((row) => Number(row[2]));
      expect(rows.length).toBeGreaterThan(1000);
      expect(spearman(cosines, scores)).toBeGreaterThanOrEqual(0.74);
    });
  },
);

function readPairs(csv: string): string[][] {
  const rows = csv
    .split(/\r?\n/)
    .filter((line) => line !== '')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );
  return rows.filter((row) => row.length === 3 && row[2] !== '' && Number.isFinite(Number(row[2])));
}

function spearman(left: readonly number[], right: readonly number[]): number {
  const [a, b] = [ranks(left), ranks(right)];
  const mean = (left.length + 1) / 2;
  let both = 0;
  let onlyA = 0;
  let onlyB = 0;
  for (let index = 0; index < left.length; index++) {
    const x = (a[index] ?? 0) - mean;
    const y = (b[index] ?? 0) - mean;
    both += x * y;
    onlyA += x * x;
    onlyB += y * y;
  }
  return both / Math.sqrt(onlyA * onlyB);
}

/** Ranks from 1, ties sharing their mean. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, index) => index).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const result = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && values[order[to] ?? 0] === values[order[from] ?? 0]) to++;
    for (let at = from; at < to; at++) result[order[at] ?? 0] = (from + 1 + to) / 2;
    from = to;
  }
  return result;
}
