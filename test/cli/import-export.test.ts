import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
beforeEach(() => {
  work = createWorkplace();
});
afterEach(() => work[Symbol.dispose]());

interface Listed {
  readonly memories: readonly Record<string, unknown>[];
}
const listAll = async (...args: string[]) =>
  ((await work.json(['list', '--all', ...args])) as unknown as Listed).memories;
const lines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

const rich = [
  {
    id: 'a',
    content: 'First\nwith a line',
    title: 'T',
    tags: ['x', 'y'],
    metadata: { n: 1, deep: { list: [null, true] } },
  },
  {
    id: 'b',
    content: '第二 ✓ "quoted" \u202e',
    scope: 'team:a/project:b',
    importance: 0.1,
    confidence: 0.33,
    weight: 0.2,
  },
  {
    id: 'c',
    content: 'Third',
    validFrom: '2020-01-01',
    validUntil: '2090-01-01',
    expiresAt: '2091-01-01',
    sessionId: 's',
  },
  {
    id: 'd',
    content: 'Fourth',
    type: 'plan',
    createdAt: '2019-05-05T05:05:05.005+02:00',
    source: 'inferred',
    sourceRef: 'r',
  },
];

describe('export and import', () => {
  it('one undo takes back a whole import: its batches, what it changed, its links; the next one alone is left', async () => {
    await work.json(['remember', 'Before', '--id', 'changed']);
    const many = Array.from({ length: 1500 }, (_, at) => ({ id: `m${at}`, content: `Number ${at}` }));
    work.file('many.jsonl', lines([...many, { id: 'changed', content: 'After' }]));
    work.file('vault/one.md', 'The first [[two]]');
    work.file('vault/two.md', 'The second');
    const first = await work.json(['import', 'many.jsonl', 'vault']);
    expect(first).toMatchObject({ imported: 1504, updated: 1, linked: 1, run: expect.any(String) });
    const again = await work.json(['import', 'many.jsonl', 'vault']);
    expect(again).toMatchObject({ imported: 0, updated: 0 });
    expect(again).not.toHaveProperty('run');
    await work.json(['remember', 'Since', '--id', 'since']);
    work.file('another.jsonl', lines([{ id: 'another', content: 'A run of one operation' }]));
    await work.json(['import', 'another.jsonl']);
    const { stdout } = await work.salience(['operations']);
    const shown =
      /^operation \d+ and \d+ others are one run; to undo all of it: salience undo --run (\S+)$/gm;
    expect([...stdout.matchAll(shown)].map(([, run]) => run)).toEqual([first['run']]);
    const undone = await work.salience(['undo', '--run', first['run'] as string]);
    // 1,504 that were new, of them an entity for each of the two notes that are linked; and the one that had changed.
    expect(undone.stdout).toContain(`undid remember (run ${first['run']}) of 1,505 memories`);
    expect((await listAll()).map(({ id, content }) => [id, content])).toEqual(
      expect.arrayContaining([
        ['another', 'A run of one operation'],
        ['since', 'Since'],
        ['changed', 'Before'],
      ]),
    );
    expect(await listAll()).toHaveLength(3);
    await work.json(['import', 'vault']);
    expect(await work.json(['undo'])).toMatchObject({ memories: [{}, {}, {}, {}] });
    expect(await listAll()).toHaveLength(3);
  });

  it('bring every field of every memory back', async () => {
    work.file('rich.jsonl', lines(rich));
    expect(await work.json(['import', 'rich.jsonl'])).toMatchObject({ imported: 4, skipped: 0 });
    await work.json(['update', 'a', 'First, changed', '--importance', '0.9']);
    // Counters and clocks that no verb of this version sets, but a memory may have.
    const exported = (await work.salience(['export'])).stdout.trim().split('\n').slice(0, -1);
    const touched = exported.map((line) => ({
      ...(JSON.parse(line) as object),
      lastAccessedAt: '2026-01-01T00:00:00.000Z',
      invalidatedAt: '2099-01-01T00:00:00.000Z',
      accessCount: 7,
      sessions: ['s1', 's2'],
      usefulness: 0.25,
      stability: 0.75,
      tier: 'cold',
      core: true,
      supersedes: ['z'],
      topicKey: 'k',
    }));
    const end = { kind: 'end', count: touched.length };
    work.file('touched.jsonl', lines([...touched, end]));
    await work.json(['import', 'touched.jsonl', '--space', 'second']);
    const second = (await work.salience(['export', '--space', 'second'])).stdout;
    expect(
      second
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([...touched.map((memory) => ({ ...memory, space: 'second' })), end]);
    await work.json(['import', '--space', 'third', work.file('second.jsonl', second)]);
    const third = (await work.salience(['export', '--space', 'third'])).stdout;
    expect(third.replaceAll('"space":"third"', '"space":"second"')).toBe(second);
  });

  it('write a file that is complete or not there', async () => {
    work.file('rich.jsonl', lines(rich));
    await work.json(['import', 'rich.jsonl']);
    expect(await work.json(['export', '--output', 'out.jsonl'])).toEqual({ file: 'out.jsonl', memories: 4 });
    expect(readFileSync(join(work.directory, 'out.jsonl'), 'utf8')).toBe(
      (await work.salience(['export'])).stdout,
    );
    expect(await work.salience(['export', '--output', '-'])).toEqual(await work.salience(['export']));
    writeFileSync(join(work.directory, 'out.jsonl'), 'mine');
    const refused = await work.salience(['export', '--output', 'out.jsonl', '--json']);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'already_exists' } });
    expect(readFileSync(join(work.directory, 'out.jsonl'), 'utf8')).toBe('mine');
    expect(await work.json(['export', '--output', 'out.jsonl', '--force', '--type', 'plan'])).toMatchObject({
      memories: 1,
    });
    const nowhere = await work.salience(['export', '--output', 'no/such/folder/out.jsonl', '--json']);
    expect(JSON.parse(nowhere.stderr)).toMatchObject({ error: { code: 'unwritable_file' } });
    expect(readdirSync(work.directory).filter((name) => name.includes('tmp') || name === '-')).toEqual([]);
  });

  it('take an older export over nothing newer', async () => {
    await work.json(['remember', 'old', '--id', 'a', '--now', '2026-01-01']);
    const old = (await work.salience(['export'])).stdout;
    await work.json(['update', 'a', 'new', '--now', '2026-02-01']);
    const recent = (await work.salience(['export'])).stdout;
    const kept = await work.salience(['import', work.file('old.jsonl', old)]);
    expect(kept.stdout).toBe('imported 0 memories, kept 1 that differ from the file\n');
    expect(kept.stderr).toContain('kept a as it is: ');
    expect(await work.json(['import', work.file('old.jsonl', old)])).toMatchObject({
      imported: 0,
      unchanged: 0,
      differs: 1,
      kept: [{ where: expect.stringContaining('old.jsonl'), id: 'a' }],
    });
    const quiet = await work.salience(['import', 'old.jsonl', '--json']);
    expect(quiet).toMatchObject({ code: 0, stderr: '' });
    const bad = await work.salience(['import', work.file('bad.jsonl', '{"content":""}\n'), '--json']);
    expect(bad.code).toBe(3);
    expect(JSON.parse(bad.stderr)).toMatchObject({
      error: { code: 'skipped', details: JSON.parse(bad.stdout).problems[0] },
    });
    expect(await listAll()).toMatchObject([{ content: 'new' }]);
    expect(await work.json(['import', work.file('old.jsonl', old), '--update'])).toMatchObject({
      updated: 1,
    });
    expect(await listAll()).toMatchObject([{ content: 'old' }]);
    await work.json(['remember', 'old', '--id', 'a', '--now', '2026-01-01', '--space', 'other']);
    const updated = await work.json(['import', work.file('recent.jsonl', recent), '--space', 'other']);
    expect(updated).toMatchObject({ updated: 1 });
    expect(await listAll('--space', 'other')).toMatchObject([{ content: 'new' }]);
  });
});

describe('what a command printed with --json', () => {
  const commands = [
    'get light',
    'list',
    'recall coffee',
    'compare coffee',
    'context coffee',
    'bootstrap',
    'timeline light',
    'beliefs coffee/roast',
  ];

  it.each(commands)('is imported with its ids: %s', async (command) => {
    using work = createWorkplace();
    await work.shell(
      'salience remember "Prefers light roast coffee" --id light --topic coffee/roast --type rule --created-at 2024-05-01',
    );
    await work.shell(`salience ${command} --json > printed.json`);
    const { stdout, code } = await work.shell('salience import printed.json --space copy');
    expect(stdout).toBe('imported 1 memory\n');
    expect(code).toBe(0);
    const kept = await work.json(['get', 'light', '--space', 'copy']);
    expect(kept).toMatchObject({ topicKey: 'coffee/roast', createdAt: '2024-05-01T00:00:00.000Z' });
  });

  it('is refused when it holds former versions only', async () => {
    using work = createWorkplace();
    await work.shell('salience remember "dark" --id roast; salience update roast "light"');
    const { stderr, code } = await work.shell(
      'salience history roast --json > printed.json; salience import printed.json --format answer --space copy',
    );
    expect(stderr).toContain('history holds former versions only; salience export writes');
    expect(code).toBe(1);
  });
});

describe('a dry run', () => {
  // Other tests may try something at the same time.
  const ownTemporary = () => {
    const TMPDIR = join(work.directory, 'temporary');
    mkdirSync(TMPDIR);
    return { env: { TMPDIR }, left: () => readdirSync(TMPDIR) };
  };
  const first = lines([
    { id: 'a', content: 'Likes tea', topicKey: 'drink', updatedAt: '2025-01-01' },
    { id: 'b', content: 'Lives in Rome', updatedAt: '2025-01-01' },
  ]);
  const second = lines([
    { id: 'a', content: 'Likes coffee', topicKey: 'drink', updatedAt: '2026-01-01' },
    { id: 'b', content: 'Lives in Rome', updatedAt: '2026-01-01' },
    { id: 'c', content: 'Has a cat' },
    { id: 'd', content: '' },
  ]);

  it('says what the import then does, and changes and leaves nothing', async () => {
    work.file('first.jsonl', first);
    work.file('second.jsonl', second);
    const { env, left } = ownTemporary();
    const shown = await work.salience(['import', 'first.jsonl', '--dry-run'], { env });
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(
      /^dry run, nothing was changed: would have imported 2 memories\n\nfor example:\nid +a\n.*topic key +drink\n.*\n\nLikes tea\n$/s,
    );
    expect(existsSync(join(work.directory, 'memory'))).toBe(false);
    await work.json(['import', 'first.jsonl']);
    const before = [await listAll(), await work.json(['operations'])];
    const tried = await work.salience(['import', 'second.jsonl', '--dry-run', '--json'], { env });
    expect([await listAll(), await work.json(['operations'])]).toEqual(before);
    expect(left()).toEqual([]);
    const { code, stdout, stderr } = await work.salience(['import', 'second.jsonl', '--json']);
    const { run, ...done } = JSON.parse(stdout);
    expect(run).toEqual(expect.any(String));
    expect(done).toMatchObject({ imported: 1, updated: 1, unchanged: 1, skipped: 1 });
    const { example, ...would } = JSON.parse(tried.stdout);
    expect(would).toEqual({ dryRun: true, ...done });
    expect(example).toMatchObject({ id: 'a', content: 'Likes coffee', topicKey: 'drink' });
    const again = await work.json(['import', 'first.jsonl', '--dry-run']);
    expect(again).not.toHaveProperty('example');
    expect([tried.code, tried.stderr]).toEqual([code, stderr]);
  });

  it('creates no space, also if a file cannot be read', async () => {
    work.file('broken.json', '{"memories": [');
    const { env, left } = ownTemporary();
    const { code, stderr } = await work.salience(['import', 'broken.json', '--dry-run'], { env });
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('broken.json') });
    expect(existsSync(join(work.directory, 'memory'))).toBe(false);
    expect(left()).toEqual([]);
  });

  it('needs no permission to write', async () => {
    work.file('first.jsonl', first);
    work.file('second.jsonl', second);
    await work.json(['import', 'first.jsonl']);
    const store = join(work.directory, 'memory');
    for (const name of readdirSync(store)) chmodSync(join(store, name), 0o444);
    chmodSync(store, 0o555);
    for (const folder of [work.directory, join(work.directory, '..')]) chmodSync(folder, 0o755);
    // Nothing is forbidden to root, so the program runs as nobody.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    try {
      const tried = await work.salience(['import', 'second.jsonl', '--dry-run'], nobody);
      expect(tried.stdout).toContain('would have imported 1 memory, updated 1');
    } finally {
      chmodSync(store, 0o755);
    }
  });
});

describe('lines that cannot be used', () => {
  it('are named by number, and the rest is imported', async () => {
    const good = (index: number) => JSON.stringify({ content: `statement ${index}` });
    const bytes = Buffer.concat([
      Buffer.from(`${good(1)}\n\n{"content":"cut o\n`),
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from(
        `[1]\n{"content":" "}\n{"content":"x","colour":"red"}\n{"content":"y","createdAt":"soon"}\n`,
      ),
      Buffer.from(
        `{"content":"z","id":7}\n${good(2)}\n{"content":"${'w'.repeat(33_000)}"}\n{"content":"last, cut`,
      ),
    ]);
    writeFileSync(join(work.directory, 'bad.jsonl'), bytes);
    const outcome = await work.salience(['import', 'bad.jsonl']);
    expect(outcome.code).toBe(3);
    expect(outcome.stdout).toBe('imported 2 memories, skipped 9\n');
    const reported = outcome.stderr
      .trim()
      .split('\n')
      .map((line) => /^skipped bad\.jsonl:(\d+): (.+)$/.exec(line)?.slice(1));
    expect(reported.map((each) => Number(each?.[0]))).toEqual([3, 4, 5, 6, 7, 8, 9, 11, 12]);
    const reasonOf = (line: number) => reported.find((each) => Number(each?.[0]) === line)?.[1];
    expect(reasonOf(4)).toContain('UTF-8');
    expect(reasonOf(7)).toContain('colour');
    expect(reasonOf(8)).toContain('"soon" is not a time');
    expect(reasonOf(11)).toContain('32768');
    expect(reasonOf(12)).toContain('cut off');
    expect(await listAll()).toHaveLength(2);

    const json = await work.salience(['import', 'bad.jsonl', '--json']);
    expect(json.code).toBe(3);
    const summary = JSON.parse(json.stdout) as { unchanged: number; problems: { where: string }[] };
    expect(summary).toMatchObject({ imported: 0, unchanged: 2, skipped: 9 });
    expect(summary.problems).toContainEqual({ where: 'bad.jsonl:5', reason: 'is not a JSON object' });
  });

  it('does not stop at a file that is broken or missing without saying so', async () => {
    writeFileSync(join(work.directory, 'cut.jsonl.gz'), gzipSync(lines(rich)).subarray(0, 80));
    const cut = await work.salience(['import', 'cut.jsonl.gz', '--json']);
    expect(cut.code).toBe(1);
    expect(JSON.parse(cut.stderr)).toMatchObject({ error: { code: 'unreadable_file' } });
    const missing = await work.salience(['import', 'absent.jsonl']);
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('absent.jsonl cannot be read'),
    });
    const unknown = await work.salience(['import', work.file('data.bin', '\u0001')]);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('--format') });
  });
});

describe('simple lines', () => {
  it('are remembered once, however often they are imported', async () => {
    work.file(
      'simple.jsonl',
      lines([
        { content: 'one', tags: ['own'] },
        { content: 'two', scope: 'team:b' },
        { content: 'one', tags: ['own'] },
      ]),
    );
    const args = ['import', 'simple.jsonl', '--scope', 'team:a', '--tag', 'added'];
    expect(await work.json(args)).toMatchObject({ imported: 2, unchanged: 1 });
    expect(await work.json(args)).toMatchObject({ imported: 0, unchanged: 3 });
    const found = await listAll();
    expect(found.find(({ content }) => content === 'one')).toMatchObject({
      scope: 'team:a',
      tags: ['own', 'added'],
      source: 'imported',
      sourceRef: 'simple.jsonl#L1',
    });
    expect(found.find(({ content }) => content === 'two')).toMatchObject({
      scope: 'team:b',
      tags: ['added'],
    });
  });

  it('may be compressed, and more than a transaction holds', async () => {
    const many = Array.from({ length: 2500 }, (_, index) => ({ content: `statement number ${index}` }));
    writeFileSync(join(work.directory, 'many.ndjson.gz'), gzipSync(lines(many)));
    expect(await work.json(['import', 'many.ndjson.gz', '--embedder', 'none'])).toMatchObject({
      imported: 2500,
    });
    const stats = await work.json(['stats']);
    expect(stats).toMatchObject({ memories: 2500, vectors: 0 });
    const { events } = (await work.json(['history', (await listAll())[0]?.['id'] as string])) as {
      events: { operation: number }[];
    };
    expect([1, 1001, 2001]).toContain(events[0]?.operation);
  });
});

describe('Markdown and text', () => {
  const guide =
    '---\ntags: [a, b]\ndate: 2024-02-03\nowner: ann\n---\n# Guide\nIntro\n## Install\nRun it\n## Install\nAgain\n';

  it('becomes one memory a section or paragraph', async () => {
    work.file('notes/guide.md', guide);
    work.file('notes/decisions/0001.md', 'Use SQLite\n');
    work.file('notes/log.txt', 'first\nline\n\nsecond\n');
    work.file('notes/other.json', '{}');
    expect(await work.json(['import', 'notes'])).toMatchObject({ imported: 6, skipped: 0 });
    const found = await listAll();
    const by = (ref: string) => found.find(({ sourceRef }) => sourceRef === ref);
    expect(by('notes/guide.md#L6')).toMatchObject({
      title: 'Guide',
      content: 'Intro',
      type: 'fact',
      tags: ['a', 'b'],
      createdAt: '2024-02-03T00:00:00.000Z',
      metadata: { owner: 'ann' },
      source: 'imported',
    });
    expect(by('notes/guide.md#L8')).toMatchObject({ title: 'Guide › Install', content: 'Run it' });
    expect(by('notes/decisions/0001.md#L1')).toMatchObject({ title: '0001', type: 'decision' });
    expect(by('notes/log.txt#L1')).toMatchObject({ content: 'first\nline' });
    expect(by('notes/log.txt#L4')).toMatchObject({ content: 'second' });
  });

  it('is updated, not doubled, when it is imported again', async () => {
    work.file('guide.md', guide);
    await work.json(['import', 'guide.md']);
    expect(await work.json(['import', './guide.md'])).toMatchObject({
      imported: 0,
      updated: 0,
      unchanged: 3,
    });
    work.file('guide.md', `${guide.replace('Run it', 'Run it twice')}## New\nMore\n`);
    expect(await work.json(['import', 'guide.md'])).toMatchObject({ imported: 1, updated: 1, unchanged: 2 });
    const found = await listAll();
    expect(found.filter(({ content }) => content === 'Run it twice')).toMatchObject([{ revisionCount: 2 }]);
    expect(found).toHaveLength(4);
    // The same file for another scope is another statement.
    expect(await work.json(['import', 'guide.md', '--scope', 'team:a'])).toMatchObject({ imported: 4 });
  });

  it('says which links of a folder it did not follow', async () => {
    work.file('elsewhere/note.md', 'far\n');
    mkdirSync(join(work.directory, 'notes'));
    symlinkSync('../elsewhere', join(work.directory, 'notes/more'));
    symlinkSync('../elsewhere/note.md', join(work.directory, 'notes/note.md'));
    expect(await work.salience(['import', 'notes'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is 2 symbolic link: .*symbolic links are not followed/),
    });
    work.file('notes/near.md', 'near\n');
    expect(await work.salience(['import', 'notes'])).toMatchObject({
      code: 0,
      stdout: 'imported 1 memory; left out: symbolic links (2)\n',
    });
  });

  it('reports a broken file and imports the others', async () => {
    work.file('notes/good.md', 'fine\n');
    work.file('notes/bad.md', '---\ntags: [a\n---\ntext\n');
    writeFileSync(join(work.directory, 'notes/latin1.txt'), Buffer.from([0x63, 0xe9]));
    const outcome = await work.salience(['import', 'notes']);
    expect(outcome).toMatchObject({ code: 3, stdout: 'imported 1 memory, skipped 2\n' });
    expect(outcome.stderr).toMatch(/^skipped notes\/bad\.md:\d+: /m);
    expect(outcome.stderr).toMatch(/^skipped notes\/latin1\.txt: .*UTF-8/m);
  });

  it('cuts a section that is longer than a memory may be', async () => {
    work.file(
      'long.md',
      `# Long\n${Array.from({ length: 3000 }, (_, at) => `Sentence ${at} of words. `).join('')}\n`,
    );
    expect(await work.json(['import', 'long.md'])).toMatchObject({ imported: 3, skipped: 0 });
    expect(await work.json(['import', 'long.md'])).toMatchObject({ unchanged: 3 });
  });
});

describe('git history', () => {
  it('becomes one event a commit', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], {
        cwd: work.directory,
        env: { ...process.env, GIT_AUTHOR_DATE: '2024-05-06T07:08:09+02:00', GIT_CONFIG_GLOBAL: '/dev/null' },
        encoding: 'utf8',
      }).trim();
    git('init', '--quiet');
    work.file('src/pump.ts', '1');
    git('add', 'src');
    git('commit', '--quiet', '-m', 'Fix the pump\n\nIt leaked at night.');
    const hash = git('rev-parse', 'HEAD');
    expect(await work.json(['import', '.', '--format', 'git', '--tag', 'history'])).toMatchObject({
      imported: 1,
    });
    expect(await work.json(['import', '.git'])).toMatchObject({ imported: 0, unchanged: 1 });
    expect(await work.json(['get', `git:${hash}`])).toMatchObject({
      type: 'event',
      title: 'Fix the pump',
      content: 'Fix the pump\n\nIt leaked at night.\n\nFiles: src/pump.ts',
      createdAt: '2024-05-06T05:08:09.000Z',
      author: 'Ann',
      source: 'imported',
      sourceRef: `git:${hash}`,
    });
    expect(existsSync(join(work.directory, 'memory'))).toBe(true);
    const lines = Array.from({ length: 4000 }, (_, at) => `Change number ${at}.`);
    work.file('long.txt', `Squashed\n\n${lines.join('\n')}\n\nThe pump is green.`);
    git('commit', '--quiet', '--allow-empty', '-F', 'long.txt');
    const long = git('rev-parse', 'HEAD');
    expect(await work.json(['import', '.git'])).toMatchObject({ imported: 5, unchanged: 1 });
    expect(await work.json(['import', '.git'])).toMatchObject({ imported: 0, unchanged: 6 });
    expect(await work.json(['recall', 'which pump is green', '--limit', '1'])).toMatchObject({
      hits: [{ memory: { title: 'Squashed', sourceRef: `git:${long}` } }],
    });
    git('commit', '--quiet', '--allow-empty', '-m', 'Print \u001b[31mred\n\nBell\u0007 rings');
    const coloured = git('rev-parse', 'HEAD');
    expect(await work.json(['import', '.git'])).toMatchObject({ imported: 1, skipped: 0 });
    expect(await work.json(['get', `git:${coloured}`])).toMatchObject({
      title: 'Print [31mred',
      content: 'Print [31mred\n\nBell rings',
    });
    const none = await work.salience(['import', work.directory.replace(/work$/, 'home'), '--format', 'git']);
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('git repository') });
  });
});

describe('an interrupted import', () => {
  it('leaves whole batches, and goes on when it is started again', async () => {
    const total = 40_000;
    const many = Array.from({ length: total }, (_, index) => ({
      content: `statement number ${index} of many`,
    }));
    work.file('many.jsonl', lines(many));
    await work.json(['remember', 'there before', '--id', 'before']);
    // Whoever looks sees the first batches; then the import is told to stop.
    const args = ['import', 'many.jsonl', '--json'];
    const first = await work.shell(
      `salience ${args.join(' ')} & pid=$!
       until [ "$(salience stats --json | sed 's/.*"memories":\\([0-9]*\\).*/\\1/')" -gt 1 ]; do :; done
       kill -INT $pid; wait $pid`,
    );
    expect(first.code).toBe(130);
    expect(first.stderr).toContain('"code":"aborted"');
    const { imported } = JSON.parse(first.stdout) as { imported: number };
    expect(imported % 1000).toBe(0);
    expect(imported).toBeLessThan(total);
    expect(await work.json(['stats'])).toMatchObject({ memories: imported + 1 });
    expect(await work.json(['doctor'])).toMatchObject({ problems: [] });
    const again = await work.json(args.slice(0, 2));
    expect(again).toMatchObject({ imported: total - imported, unchanged: imported, skipped: 0 });
  });
});

describe('what cannot be imported', () => {
  const users = [
    { id: 'a', memory: 'Ann has diabetes', user_id: 'ann' },
    { id: 'b', memory: 'Bob plays chess', user_id: 'bob', hash: 'x' },
  ];
  const stored = () => existsSync(join(work.directory, 'memory'));

  it('leaves no empty space behind, and says how to import it', async () => {
    work.file('exports/conversations.json', '[]');
    work.file('exports/users.json', '[]');
    work.file('exports/picture.png', '');
    work.file('two.json', JSON.stringify({ results: users }));
    work.file('broken.jsonl', 'no json\n');
    const folder = await work.salience(['import', 'exports']);
    expect(folder.code).toBe(1);
    expect(folder.stderr).toContain('there is 2 .json, 1 .png');
    expect(folder.stderr).toContain('for example "exports/conversations.json"');
    const two = await work.salience(['import', 'two.json']);
    expect(two).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/2 users: ann, bob; .*--user NAME/),
    });
    expect(await work.salience(['import', 'absent.json'])).toMatchObject({ code: 1 });
    expect(await work.salience(['import', 'broken.jsonl'])).toMatchObject({ code: 3 });
    expect(stored()).toBe(false);

    const bob = await work.salience(['import', 'two.json', '--user', 'bob', '--space', 'bob']);
    expect(bob).toMatchObject({
      code: 0,
      stdout: 'imported 1 memory; left out: records of other users (1), hashes (1)\n',
    });
    expect(await listAll('--space', 'bob')).toMatchObject([{ content: 'Bob plays chess' }]);
    expect(await work.json(['import', 'two.json', '--user', 'ann', '--space', 'ann'])).toMatchObject({
      imported: 1,
      leftOut: { 'records of other users': 1 },
    });
  });

  it.each([
    ['--tag', '', '--tag: it must not be empty'],
    ['--tag', 'x'.repeat(129), '--tag: '],
    ['--scope', 'not one!', 'scope "not one!" is not valid'],
  ])('is no record of the file, but the option %s "%s"', async (option, value, problem) => {
    work.file('facts.jsonl', '{"content":"One"}\n{"content":"Two","scope":"project:a","tags":["b"]}\n');
    const { code, stdout, stderr } = await work.salience(['import', 'facts.jsonl', option, value]);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(problem)]);
    expect(stderr).not.toContain('facts.jsonl');
    expect(existsSync(join(work.directory, 'memory'))).toBe(false);
  });

  it('is an empty folder too', async () => {
    work.file('empty/.hidden/note.md', 'x');
    expect(await work.salience(['import', 'empty'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is nothing'),
    });
    expect(stored()).toBe(false);
  });
});

it('links the notes of several paths', async () => {
  work.file('a.md', 'First [[b]]\n');
  work.file('b.md', 'Second\n');
  expect((await work.salience(['import', 'a.md', 'b.md'])).stdout).toBe(
    'imported 4 memories, linked 1 pair\n',
  );
});

describe('a file of several users with --space-per-user', () => {
  const team = JSON.stringify([
    { id: '1', memory: 'Ann has a canoe', user_id: 'ann' },
    { id: '2', memory: 'Bob plays chess', user_id: 'bob' },
    { id: '3', memory: 'Of nobody' },
  ]);

  it('goes into the space of each, and again changes nothing', async () => {
    work.file('team.json', team);
    const first = await work.salience(['import', 'team.json', '--space-per-user']);
    expect(first.stdout).toBe(
      'imported 2 memories; left out: records of no user (1)\ninto 2 spaces: ann, bob\n',
    );
    expect(await listAll('--space', 'ann')).toMatchObject([{ content: 'Ann has a canoe' }]);
    expect(await listAll('--space', 'bob')).toMatchObject([{ content: 'Bob plays chess' }]);
    const again = await work.json(['import', 'team.json', '--space-per-user']);
    expect(again).toMatchObject({ imported: 0, unchanged: 2 });
    await work.json(['import', 'team.json', '--space-per-user', '--space', 'acme']);
    expect(await listAll('--space', 'acme/bob')).toHaveLength(1);
  });

  it('is tried first', async () => {
    work.file('team.json', team);
    await work.json(['import', 'team.json', '--user', 'ann', '--space', 'ann']);
    const tried = await work.salience(['import', 'team.json', '--space-per-user', '--dry-run']);
    expect(tried.stdout).toMatch(
      /^dry run, nothing was changed: would have imported 1 memory, 1 already there; left out: records of no user \(1\)\n\nfor example:\n.*\nspace +bob\n.*\nBob plays chess\ninto 2 spaces: ann, bob\n$/s,
    );
    expect((await work.salience(['spaces'])).stdout).toBe('ann\n');
  });

  it.each([
    [
      'a name that is none of a space',
      [
        { memory: 'x', user_id: 'ann' },
        { memory: 'y', user_id: 'a/../b' },
      ],
      'name of the user "a/../b": space "a/../b" is not a valid name',
    ],
    [
      'the address of an account, with what to do',
      [
        { memory: 'x', user_id: 'ann' },
        { memory: 'y', user_id: 'https://id.example/7' },
      ],
      'import one user at a time, with --user NAME --space SPACE',
    ],
    ['no users', [{ id: '1', memory: 'x', hash: 'h' }], 'names no users'],
  ])('is refused for %s, before anything is written', async (_, records, reason) => {
    work.file('team.json', JSON.stringify(records));
    const { code, stderr } = await work.salience(['import', 'team.json', '--space-per-user']);
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(existsSync(join(work.directory, 'memory'))).toBe(false);
  });

  it('takes no other files, nor one user', async () => {
    work.file('notes/a.md', 'A note');
    work.file('team.json', team);
    const folder = await work.salience(['import', 'notes', '--space-per-user']);
    expect(folder.stderr).toContain('does not say which user');
    const both = await work.salience(['import', 'team.json', '--space-per-user', '--user', 'ann']);
    expect(both.stderr).toContain('exclude each other');
  });
});
