import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString();

beforeEach(async () => {
  work = createWorkplace();
  onTestFinished(() => work[Symbol.dispose]());
  const memories = [
    { id: 'roast', content: 'Prefers dark roast coffee', type: 'preference', createdAt: day(0) },
    { id: 'grinder', content: 'The grinder is set to 12', createdAt: day(0) },
    { id: 'rain', content: 'It rained on the way', type: 'event', importance: 0, createdAt: day(0) },
    { id: 'museum', content: 'Visit the museum', type: 'plan', createdAt: day(0), validUntil: day(5) },
  ];
  work.file('four.jsonl', memories.map((each) => JSON.stringify(each)).join('\n'));
  await work.json(['import', 'four.jsonl', '--now', day(0)]);
  await work.json(['configure', '--fading', 'retention', '--now', day(0)]);
});

interface Answer {
  readonly hits: readonly {
    readonly memory: { readonly id: string };
    readonly isAssociative: boolean;
    readonly viaDeepRecall: boolean;
    readonly path?: readonly string[];
  }[];
  readonly evidenceChains: readonly { readonly ids: readonly string[]; readonly weight: number }[];
  readonly trace: { readonly stages: readonly { readonly name: string }[] };
}
const recall = async (query: string, ...rest: readonly string[]) =>
  (await work.json(['recall', query, ...rest])) as unknown as Answer;
const idsOf = ({ hits }: Answer) => hits.map(({ memory }) => memory.id);
const accessesOf = async (id: string) => (await work.json(['get', id]))['accessCount'];

async function fails(...args: readonly string[]) {
  const { code, stderr } = await work.salience([...args, '--json']);
  return [code, (JSON.parse(stderr) as { error: { code: string } }).error.code] as const;
}

/** The bytes of the databases, as one hash. Readers of a database make files for its locks beside it. */
function storeHash(): string {
  const directory = join(work.directory, 'memory');
  const hash = createHash('sha256');
  const names = readdirSync(directory).filter((name) => /\.db(-wal)?$/.test(name));
  for (const name of names.sort()) hash.update(readFileSync(join(directory, name)));
  return hash.digest('hex');
}

describe('links, link, unlink', () => {
  it('states that two memories belong together, shows it and takes it away', async () => {
    const linked = await work.json(['link', 'roast', 'grinder', '--weight', '0.9', '--now', day(1)]);
    expect(linked).toEqual({ id: 'grinder', kind: 'stated', weight: 0.9, storedWeight: 0.9, at: day(1) });
    expect(await work.json(['links', 'grinder', '--now', day(99)])).toEqual({
      id: 'grinder',
      links: [{ id: 'roast', kind: 'stated', weight: 0.9, storedWeight: 0.9, at: day(1) }],
    });
    const { stdout } = await work.salience(['links', 'roast', '--now', day(3)]);
    expect(stdout).toBe(
      'id       kind    weight  stored  since  content\n' +
        'grinder  stated   0.900   0.900    2 d  The grinder is set to 12\n',
    );
    expect((await work.salience(['links', 'rain'])).stdout).toBe('rain has no links\n');
    const unlinked = await work.salience(['unlink', 'grinder', 'roast']);
    expect(unlinked.stdout).toBe('removed 1 link between grinder and roast (stated)\n');
    expect(await work.json(['unlink', 'grinder', 'roast'])).toEqual({
      ids: ['grinder', 'roast'],
      removed: [],
      left: [],
    });
  });

  it('takes away the kinds that are named, and only those', async () => {
    await work.json(['link', 'roast', 'grinder']);
    await recall('roast grinder', '--strategy', 'retention');
    expect(await work.json(['unlink', 'roast', 'grinder', '--kind', 'co-retrieval'])).toMatchObject({
      removed: ['co-retrieval'],
      left: ['stated'],
    });
    const named = await work.salience(['unlink', 'roast', 'grinder', '--kind', 'birth']);
    expect(named.stdout).toBe('removed 0 links between roast and grinder; 1 link left (stated)\n');
    expect(await fails('unlink', 'roast', 'grinder', '--kind', 'blood')).toEqual([2, 'usage']);
  });

  it('undoes a link, and shows it in the history', async () => {
    await work.json(['link', 'roast', 'grinder', '--weight', '0.5']);
    const { stdout } = await work.salience(['history', 'grinder']);
    expect(stdout).toMatch(/link +stated link with roast: none$/m);
    expect((await work.salience(['undo'])).stdout).toMatch(/^undid link \(operation \d+\)\n$/);
    expect(await work.json(['links', 'roast'])).toEqual({ id: 'roast', links: [] });
    expect(await work.json(['get', 'roast'])).toMatchObject({ revisionCount: 1 });
    await work.json(['link', 'roast', 'grinder', '--weight', '0.5']);
    await work.json(['unlink', 'roast', 'grinder']);
    expect(await work.json(['undo'])).toMatchObject({ verb: 'unlink' });
    expect(await work.json(['links', 'roast'])).toMatchObject({ links: [{ id: 'grinder', weight: 0.5 }] });
  });

  it('refuses what cannot be', async () => {
    expect(await fails('link', 'roast', 'roast')).toEqual([1, 'invalid_argument']);
    expect(await fails('link', 'roast', 'nobody')).toEqual([1, 'not_found']);
    expect(await fails('link', 'roast', 'grinder', '--weight', '2')).toEqual([2, 'usage']);
    expect(await fails('links', 'nobody')).toEqual([1, 'not_found']);
    const elsewhere = ['--path', join(work.directory, 'elsewhere')];
    for (const args of [['links', 'a'], ['link', 'a', 'b'], ['unlink', 'a', 'b'], ['maintain']]) {
      expect(await fails(...args, ...elsewhere)).toEqual([1, 'not_found']);
    }
    expect(await fails('recall', 'x', '--strategy', 'retention', ...elsewhere)).toEqual([1, 'not_found']);
    expect(readdirSync(work.directory)).not.toContain('elsewhere');
  });
});

describe('recall', () => {
  it('leaves nothing behind unless the strategy learns', async () => {
    const before = storeHash();
    await recall('coffee roast');
    await recall('coffee roast', '--strategy', 'bm25', '--session', 'monday');
    await recall('coffee roast', '--strategy', 'retention', '--no-track', '--session', 'monday');
    await work.json(['explain', 'coffee', 'roast', '--strategy', 'retention']);
    await work.json(['why-not', 'coffee', 'rain', '--strategy', 'retention']);
    await work.json(['explain', 'coffee', 'roast', '--strategy', 'five-factor', '--deep']);
    expect(storeHash()).toBe(before);
  });

  it('teaches what it returns, where the strategy or its origin does', async () => {
    const options = ['--now', day(14), '--session', 'monday', '--limit', '1'];
    expect(idsOf(await recall('dark roast coffee', '--strategy', 'retention', ...options))).toEqual([
      'roast',
    ]);
    expect(await work.json(['get', 'roast'])).toMatchObject({
      accessCount: 1,
      lastAccessedAt: day(14),
      sessions: ['monday'],
      stability: expect.closeTo(0.25 + 0.2, 12),
    });
    expect(await accessesOf('grinder')).toBe(0);
    work.file('mine.json', JSON.stringify({ name: 'mine', description: 'Mine.', extends: 'retention' }));
    await recall('dark roast coffee', '--profile', 'mine.json', '--limit', '1');
    await recall('dark roast coffee', '--strategy', 'five-factor', '--limit', '1');
    expect(await accessesOf('roast')).toBe(3);
    expect((await work.json(['get', 'roast']))['revisionCount']).toBe(1);
  });

  it('marks associates with the way that led to them, and shows chains', async () => {
    await work.json(['link', 'roast', 'grinder', '--weight', '0.9']);
    await work.json(['link', 'grinder', 'rain', '--weight', '0.8']);
    const strict = ['--strategy', 'bm25', '--now', day(1)];
    expect(idsOf(await recall('coffee', ...strict))).toEqual(['roast']);
    const lent = await recall('coffee', ...strict, '--association', 'propagated');
    // Both are worth the same share; of equals the one that was made last comes first.
    expect(idsOf(lent)).toEqual(['roast', 'rain', 'grinder']);
    expect(lent.hits[1]).toMatchObject({ isAssociative: true, path: ['roast', 'grinder', 'rain'] });
    expect(lent.trace.stages.map(({ name }) => name)).toContain('expand');
    const { stdout } = await work.salience([
      'recall',
      'coffee rained',
      ...strict,
      '--association',
      'propagated',
    ]);
    expect(stdout).toContain('fact · 24 h · grinder · via roast\n');
    expect(stdout).toContain('evidence: rain → grinder → roast (0.72)\n');
    const chained = await recall('coffee rained', ...strict, '--association', 'direct');
    expect(chained.evidenceChains).toEqual([
      { ids: ['rain', 'grinder', 'roast'], weight: expect.closeTo(0.72, 12) },
    ]);
    const without = await recall('coffee rained', ...strict, '--association', 'none');
    expect(without.evidenceChains).toEqual([]);
    expect(await fails('recall', 'x', '--association', 'stolen')).toEqual([2, 'usage']);
    expect(await fails('recall', 'x', '--effects', 'all')).toEqual([2, 'usage']);
  });

  it('finds cold and ended memories only when asked to, and says so', async () => {
    await work.json(['maintain', '--now', day(60)]);
    const late = ['--strategy', 'bm25', '--now', day(61)];
    expect(idsOf(await recall('rained', ...late))).toEqual([]);
    const deep = await recall('rained', ...late, '--deep');
    expect(deep.hits).toMatchObject([{ memory: { id: 'rain', tier: 'cold' }, viaDeepRecall: true }]);
    const { stdout } = await work.salience(['recall', 'rained', ...late, '--deep']);
    expect(stdout).toContain('event · 2 mo · rain · deep\n');
    expect(idsOf(await recall('museum', ...late))).toEqual([]);
    expect(idsOf(await recall('museum', ...late, '--include-expired'))).toEqual(['museum']);
    expect(await work.json(['why-not', 'museum', 'museum', ...late])).toMatchObject({ outcome: 'excluded' });
    expect(await work.json(['why-not', 'museum', 'museum', ...late, '--include-expired'])).toMatchObject({
      outcome: 'returned',
    });
  });
});

describe('maintain', () => {
  it('shows in a dry run what it then does, and nothing the second time', async () => {
    await work.json([
      'remember',
      'The code is blue',
      '--id',
      'code',
      '--expires-at',
      day(30),
      '--now',
      day(0),
    ]);
    const now = ['--now', day(60)];
    const before = storeHash();
    const planned = await work.json(['maintain', '--dry-run', ...now]);
    expect(planned).toMatchObject({
      dryRun: true,
      examined: 5,
      cooled: ['rain'],
      expired: ['code'],
      archived: [],
    });
    const shown = await work.salience(['maintain', '--dry-run', ...now]);
    expect(shown.stdout).toBe(
      'change     id    with  content\n' +
        'cooled     rain        It rained on the way\n' +
        'forgotten  code        The code is blue\n' +
        'dry run, nothing was changed: 5 memories examined: 1 cooled, 1 forgotten\n',
    );
    expect(storeHash()).toBe(before);
    const done = await work.salience(['maintain', ...now]);
    expect(done.stdout).toContain('cooled     rain        It rained on the way\n');
    expect(done.stdout).toContain('forgotten  code        (forgotten)\n');
    expect(done.stdout).not.toContain('blue');
    expect(done.stdout).toMatch(
      /1 cooled, 1 forgotten\nto take it back: salience undo --run [0-9a-f-]{36}\n$/,
    );
    expect(await work.json(['get', 'rain'])).toMatchObject({ tier: 'cold', coldSince: day(60) });
    expect(await fails('get', 'code')).toEqual([1, 'not_found']);
    const again = await work.salience(['maintain', ...now]);
    expect(again.stdout).toBe('4 memories examined: nothing to change\n');
    const archived = await work.json(['maintain', '--now', day(60 + 180)]);
    expect(archived).toMatchObject({ archived: ['rain'] });
    expect(await work.json(['get', 'rain'])).toMatchObject({ tier: 'stub' });
  });

  it('names what may be an update of what, and recalls it first', async () => {
    const lines = [
      { id: 'cups', content: 'Ann grinds coffee beans for 12 cups a week', createdAt: day(0) },
      { id: 'fewer', content: 'Ann now grinds beans for 9 cups', createdAt: day(1) },
    ];
    work.file('cups.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await work.json(['import', 'cups.jsonl', '--now', day(1)]);
    expect((await work.salience(['maintain', '--now', day(2)])).stdout).toMatch(
      /^change +id +with +content\nupdated\? +cups +fewer \(0\.\d\d\) +Ann grinds coffee beans for 12 cups a week\n6 memories examined: 1 possible update\n$/,
    );
    const { stdout } = await work.salience([
      'recall',
      'how many cups of coffee a week does Ann grind beans for',
      '--now',
      day(2),
    ]);
    expect(stdout).toMatch(/^ 1 .* · fewer · via cups\n/);
  });

  it('names pairs that say nearly the same, once', async () => {
    work.file(
      'again.jsonl',
      JSON.stringify({
        id: 'again',
        content: 'Prefers dark roast coffee!',
        type: 'preference',
        createdAt: day(1),
      }),
    );
    await work.json(['import', 'again.jsonl', '--now', day(1)]);
    const report = await work.json(['maintain', '--dry-run', '--now', day(2)]);
    expect(report['similarPairs']).toEqual([
      { older: 'roast', newer: 'again', kind: 'similar', similarity: expect.closeTo(1, 3) },
    ]);
    expect((await work.salience(['maintain', '--now', day(2)])).stdout).toBe(
      'change   id     with          content\n' +
        'similar  roast  again (1.00)  Prefers dark roast coffee\n' +
        '5 memories examined: 1 new similar pair\n',
    );
    const again = await work.salience(['maintain', '--now', day(2)]);
    expect(again.stdout).toBe('5 memories examined: nothing to change\n');
  });

  it('consolidates what is old, faded and alike when asked to', async () => {
    const alike = [1, 2, 3, 4, 5].map((each) => ({
      id: `bus-${each}`,
      content: `The bus to the office came ${each} minutes late this morning`,
      type: 'event',
      importance: each === 5 ? 0.5 : 0.3,
      createdAt: day(0),
    }));
    work.file('alike.jsonl', alike.map((each) => JSON.stringify(each)).join('\n'));
    await work.json(['import', 'alike.jsonl', '--now', day(0)]);
    expect(await work.json(['maintain', '--now', day(40), '--dry-run'])).toMatchObject({ consolidated: [] });
    const { consolidated } = (await work.json(['maintain', '--now', day(40), '--consolidate'])) as {
      consolidated: readonly { id: string; from: readonly string[] }[];
    };
    expect(consolidated).toHaveLength(1);
    const [consolidation] = consolidated;
    expect([...(consolidation?.from ?? [])].sort()).toEqual(alike.map(({ id }) => id));
    expect(await work.json(['get', consolidation?.id as string])).toMatchObject({
      source: 'consolidated',
      type: 'event',
      importance: 0.5,
    });
  });
});

it.each(['maintain', 'curate'])('the help of %s says where the id is that undo takes', async (command) => {
  const { stdout } = await work.salience([command, '--help']);
  expect(stdout).toMatch(/salience undo\s+--run\s+ID/);
  expect(stdout).toMatch(/last\s+line\s+names\s+the\s+ID;\s+--json\s+prints\s+it\s+as\s+run/);
  expect(await work.json([command, '--now', day(1)])).toMatchObject({ run: expect.any(String) });
});

it('a run is undone by the id that its JSON gives, after later writes', async () => {
  const { run, cooled } = await work.json(['maintain', '--now', day(60)]);
  expect(cooled).toEqual(['rain']);
  await work.json(['remember', 'It is dry today', '--now', day(61)]);
  expect(await work.json(['undo', '--run', String(run), '--now', day(62)])).toMatchObject({
    run,
    skipped: [],
  });
  expect(await work.json(['get', 'rain', '--now', day(62)])).toMatchObject({ tier: 'hot' });
});

it('curate prints the command that takes back its run, if it changed something', async () => {
  const original = await work.json(['get', 'roast']);
  const lines = [
    { ...original, id: 'twin' },
    { kind: 'end', count: 1 },
  ];
  work.file('twin.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const curate = ['curate', '--actions', 'deduplicate', '--now', day(2)];
  expect((await work.salience(curate)).stdout).toBe('nothing to change\n');
  await work.json(['import', 'twin.jsonl', '--now', day(1)]);
  const { stdout } = await work.salience(curate);
  const [, run] = /1 merged\nto take it back: salience undo --run ([0-9a-f-]{36})\n$/.exec(stdout) ?? [];
  expect(await work.json(['undo', '--run', String(run), '--now', day(3)])).toMatchObject({ run });
});
