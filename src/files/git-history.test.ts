import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseInstant } from '../domain/time.ts';
import { type GitCommit, type GitHistoryOptions, readGitHistory } from './git-history.ts';

let directory: string;
let repository: string;

/** The tests may run in a hook of another repository, which git must then forget. */
function outsideOfHooks(): NodeJS.ProcessEnv {
  const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, ...environment } = process.env;
  return environment;
}

async function git(at: string, ...rest: readonly string[]): Promise<void> {
  const settings = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgsign=false'];
  await promisify(execFile)('git', ['-C', repository, ...settings, ...rest], {
    env: { ...outsideOfHooks(), GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at },
  });
}

async function read(path: string, options?: GitHistoryOptions): Promise<readonly GitCommit[]> {
  const commits: GitCommit[] = [];
  for await (const commit of readGitHistory(path, options)) commits.push(commit);
  return commits;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-git-'));
  repository = join(directory, 'repository');
  await mkdir(join(repository, 'docs'), { recursive: true });
  await git('2026-01-01T00:00:00Z', 'init', '-q');
  await writeFile(join(repository, 'docs/naïve plan.md'), 'one');
  await writeFile(join(repository, 'HEAD'), 'a name that git could take for a revision');
  await git('2026-01-02T10:00:00+02:00', 'add', '.');
  await git('2026-01-02T10:00:00+02:00', 'commit', '-qm', 'Add a plan');
  await writeFile(join(repository, 'docs/naïve plan.md'), 'two');
  const message = 'Change the plan\n\nBecause “one” was wrong.\n\n- really\n';
  await git('2026-01-03T10:00:00Z', 'commit', '-qam', message);
  await git('2026-01-04T10:00:00Z', 'commit', '-q', '--allow-empty', '-m', 'Touch nothing');
});
afterAll(() => rm(directory, { recursive: true }));

test('commits, newest first, with message, author date and files', async () => {
  const commits = await read(repository);
  expect(commits).toEqual([
    {
      hash: expect.stringMatching(/^[0-9a-f]{40}$/),
      at: '2026-01-04T10:00:00.000Z',
      author: 'Ada',
      subject: 'Touch nothing',
      body: '',
      files: [],
    },
    {
      hash: expect.stringMatching(/^[0-9a-f]{40}$/),
      at: '2026-01-03T10:00:00.000Z',
      author: 'Ada',
      subject: 'Change the plan',
      body: 'Because “one” was wrong.\n\n- really',
      files: ['docs/naïve plan.md'],
    },
    {
      hash: expect.stringMatching(/^[0-9a-f]{40}$/),
      at: '2026-01-02T08:00:00.000Z',
      author: 'Ada',
      subject: 'Add a plan',
      body: '',
      files: ['HEAD', 'docs/naïve plan.md'],
    },
  ]);
  expect(new Set(commits.map(({ hash }) => hash)).size).toBe(3);
  expect(await read(join(repository, 'docs'), { max: 2 })).toEqual(commits.slice(0, 2));
});

test('the variables of a hook lead to no other repository', async () => {
  process.env['GIT_DIR'] = join(directory, 'elsewhere');
  try {
    expect(await read(repository)).toHaveLength(3);
  } finally {
    delete process.env['GIT_DIR'];
  }
});

test('the settings of whoever runs it decide nothing', async () => {
  const before = await read(repository);
  const settings = {
    'log.showRoot': 'false',
    'diff.relative': 'true',
    'color.ui': 'always',
    'log.date': 'unix',
  };
  for (const [name, value] of Object.entries(settings)) {
    await git('2026-01-05T10:00:00Z', 'config', name, value);
  }
  try {
    expect(await read(join(repository, 'docs'))).toEqual(before);
  } finally {
    for (const name of Object.keys(settings)) await git('2026-01-05T10:00:00Z', 'config', '--unset', name);
  }
});

test('a reader may stop early', async () => {
  for await (const { subject } of readGitHistory(repository)) {
    expect(subject).toBe('Touch nothing');
    break;
  }
});

test('a repository without commits has no history', async () => {
  const empty = join(directory, 'empty');
  await promisify(execFile)('git', ['init', '-q', empty], { env: outsideOfHooks() });
  expect(await read(empty)).toEqual([]);
});

test('failures are typed and say what to do', async () => {
  const bare = join(directory, 'no-repository');
  await mkdir(bare);
  await expect(read(bare)).rejects.toMatchObject({
    code: 'unreadable_file',
    message: expect.stringContaining('name a folder inside a git repository'),
    details: { file: bare },
  });
  await expect(read(join(directory, 'nowhere'))).rejects.toMatchObject({ code: 'unreadable_file' });
  await expect(read(repository, { max: -1 })).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(read(repository, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });

  const path = process.env['PATH'];
  process.env['PATH'] = bare;
  try {
    await expect(read(repository)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('install git'),
    });
  } finally {
    process.env['PATH'] = path;
  }
});

test('an abort in the middle ends the reading', async () => {
  const controller = new AbortController();
  const seen: string[] = [];
  const reading = async () => {
    for await (const { subject } of readGitHistory(repository, { signal: controller.signal })) {
      seen.push(subject);
      controller.abort();
    }
  };
  await expect(reading()).rejects.toMatchObject({ code: 'aborted' });
  expect(seen).toEqual(['Touch nothing']);
});

test('a commit whose author date is no time has it as it is, and the others follow', async () => {
  const odd = join(directory, 'odd');
  const run = async (...args: readonly string[]) =>
    (await promisify(execFile)('git', ['-C', odd, ...args], { env: outsideOfHooks() })).stdout.trim();
  await mkdir(odd);
  await run('init', '-q');
  const tree = await run('hash-object', '-t', 'tree', '-w', '/dev/null');
  let parent = '';
  for (const zone of ['+0100', '+051800', '+0200']) {
    const text = `tree ${tree}\n${parent}author A <a@b> 1312735823 ${zone}\ncommitter A <a@b> 1312735823 +0000\n\nAt ${zone}\n`;
    await writeFile(join(directory, 'commit'), text);
    const hash = await run('hash-object', '-t', 'commit', '-w', '--literally', join(directory, 'commit'));
    parent = `parent ${hash}\n`;
    await run('update-ref', 'HEAD', hash);
  }
  const commits = await read(odd);
  expect(commits.map(({ subject }) => subject)).toEqual(['At +0200', 'At +051800', 'At +0100']);
  expect(commits[2]?.at).toBe('2011-08-07T16:50:23.000Z');
  expect(() => parseInstant(commits[1]!.at)).toThrow();
});
