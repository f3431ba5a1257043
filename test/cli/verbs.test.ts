import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { loadDriver } from '../../src/stores/sqlite/driver.ts';
import { createSqliteStore } from '../../src/stores/sqlite/index.ts';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
beforeAll(() => {
  work = createWorkplace();
});
afterAll(() => work[Symbol.dispose]());

const now = '2026-04-20T09:30:00Z';

async function fails(args: readonly string[], code: number) {
  const outcome = await work.salience([...args, '--json']);
  expect(outcome.code).toBe(code);
  expect(outcome.stdout).toBe('');
  return (JSON.parse(outcome.stderr) as { error: { code: string; message: string; details: object } }).error;
}

describe('remember, get, list', () => {
  it('keeps what was said about a memory', async () => {
    const said = [
      ...['remember', 'Prefers dark roast', '--id', 'roast', '--type', 'preference', '--title', 'Coffee'],
      ...[
        '--tag',
        'coffee',
        '--tag',
        'taste',
        '--scope',
        'team:a',
        '--importance',
        '0.7',
        '--confidence',
        '0.9',
      ],
      ...['--weight', '0.5', '--metadata', 'by=ann', '--metadata', 'year=2026', '--metadata', 'sure=true'],
      ...['--session', 's1', '--source-ref', 'chat#1', '--created-at', '2026-04-01', '--now', now],
    ];
    expect(await work.json(said)).toEqual({ id: 'roast', outcome: 'created' });
    expect(await work.json(['get', 'roast'])).toMatchObject({
      id: 'roast',
      space: 'default',
      scope: 'team:a',
      type: 'preference',
      title: 'Coffee',
      content: 'Prefers dark roast',
      tags: ['coffee', 'taste'],
      metadata: { by: 'ann', year: 2026, sure: true },
      sessionId: 's1',
      createdAt: '2026-04-01T00:00:00.000Z',
      importance: 0.7,
      importanceSource: 'caller',
      confidence: 0.9,
      weight: 0.5,
      source: 'stated',
      sourceRef: 'chat#1',
    });
    const shown = await work.salience(['get', 'roast', '--now', now]);
    expect(shown.stdout).toContain('created     2026-04-01T00:00:00.000Z (19 d)');
    expect(shown.stdout).toMatch(/\n\nPrefers dark roast\n$/);
  });

  it('reads the content from stdin, without its last line break', async () => {
    const remembered = await work.salience(['remember', '--id', 'piped'], { input: 'two\nlines\n' });
    expect(remembered).toMatchObject({ code: 0, stdout: 'remembered piped\n' });
    expect(await work.json(['get', 'piped'])).toMatchObject({ content: 'two\nlines' });
    await work.json(['remember', '-', '--id', 'dash'], { input: 'from a dash' });
    expect(await work.json(['get', 'dash'])).toMatchObject({ content: 'from a dash' });
  });

  it('lists by filters and by pages', async () => {
    const all = (await work.json(['list', '--all', '--limit', '1'])) as { memories: { id: string }[] };
    expect(all.memories.map(({ id }) => id).sort()).toEqual(['dash', 'piped', 'roast']);
    const first = (await work.json(['list', '--limit', '2'])) as {
      memories: { id: string }[];
      nextCursor: string;
    };
    expect(first.memories).toHaveLength(2);
    const rest = (await work.json(['list', '--limit', '2', '--cursor', first.nextCursor])) as typeof first;
    expect([...first.memories, ...rest.memories].map(({ id }) => id)).toEqual(
      all.memories.map(({ id }) => id),
    );
    expect(rest.nextCursor).toBeUndefined();
    const tagged = (await work.json(['list', '--tag', 'coffee', '--type', 'preference'])) as typeof first;
    expect(tagged.memories.map(({ id }) => id)).toEqual(['roast']);
    const others = (await work.json(['list', '--not-type', 'preference'])) as typeof first;
    expect(others.memories.map(({ id }) => id).sort()).toEqual(['dash', 'piped']);
    const sorted = await work.json([
      'list',
      '--sort',
      'created',
      '--direction',
      'asc',
      '--offset',
      '1',
      '--limit',
      '1',
    ]);
    expect(sorted).toMatchObject({ position: 1, total: 3 });
    const page = await work.salience(['list', '--limit', '2', '--sort', 'importance', '--now', now]);
    expect(page.stdout).toMatch(/\n1–2 of 3\nmore: --cursor /);
    const middle = await work.salience([
      'list',
      '--limit',
      '1',
      '--around',
      'roast',
      '--no-count',
      '--now',
      now,
    ]);
    expect(middle.stdout).not.toContain(' of ');
    const thousands = join(work.directory, 'thousands');
    {
      await using memory = await openMemory({ path: thousands, space: 'default', embedder: 'none' });
      const notes = Array.from({ length: 1200 }, (_, at) => ({ content: `note ${at}` }));
      await memory.rememberMany(notes.slice(0, 600));
      await memory.rememberMany(notes.slice(600));
    }
    const many = await work.salience(['list', '--path', thousands, '--limit', '1', '--offset', '1000']);
    expect(many.stdout).toContain('\n1,001–1,001 of 1,200\n');
    const beyond = await work.salience(['list', '--offset', '9', '--created-before', '2100-01-01']);
    expect(beyond.stdout).toBe('no memories\nnone here: 3 before\n');
    expect((await work.salience(['list', '--all'])).stdout).not.toContain(' of ');
    const table = await work.salience(['list', '--tag', 'coffee', '--now', now]);
    expect(table.stdout).toBe(
      'id     type        scope   updated  content\nroast  preference  team:a     19 d  Coffee: Prefers dark roast\n',
    );
  });

  it('refuses what is wrong, with its typed code, and writes nothing', async () => {
    const before = await work.json(['stats']);
    expect(await fails(['remember', '  '], 1)).toMatchObject({ code: 'invalid_argument' });
    const large = await fails(['remember', 'x'.repeat(32 * 1024 + 1)], 1);
    expect(large).toMatchObject({ code: 'content_too_large', details: { bytes: 32_769, limit: 32_768 } });
    expect(await fails(['remember', 'a\u0007b'], 1)).toMatchObject({ code: 'invalid_text' });
    expect(await fails(['remember', 'x', '--importance', '2'], 2)).toMatchObject({ code: 'usage' });
    expect(await fails(['remember', 'x', '--created-at', 'yesterday'], 1)).toMatchObject({
      code: 'invalid_time',
    });
    expect(await fails(['remember', 'x', '--now', 'soon'], 1)).toMatchObject({ code: 'invalid_time' });
    expect(await fails(['remember', 'x', '--scope', '../y'], 1)).toMatchObject({ code: 'invalid_scope' });
    expect(await fails(['remember', 'x', '--space', '../x'], 1)).toMatchObject({
      code: 'invalid_space_name',
    });
    expect(await fails(['remember', 'x', '--embedder', 'magic'], 1)).toMatchObject({
      code: 'unknown_embedder',
    });
    expect(await fails(['remember', 'again', '--id', 'roast'], 1)).toMatchObject({ code: 'already_exists' });
    expect(await fails(['get', 'nothing'], 1)).toMatchObject({ code: 'not_found' });
    expect(await work.json(['stats'])).toEqual(before);
  });

  it('says wrong usage with 2, and does nothing', async () => {
    expect(await fails(['rember', 'x'], 2)).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('remember'),
    });
    expect(await fails(['get'], 2)).toMatchObject({ code: 'usage' });
    expect(await fails(['list', '--limit', 'many'], 2)).toMatchObject({ code: 'usage' });
    expect(await fails(['remember', 'x', '--importance', 'high'], 2)).toMatchObject({ code: 'usage' });
    expect(await fails(['remember', 'x', '--metadata', 'novalue'], 2)).toMatchObject({ code: 'usage' });
    expect(await fails(['list', '--type', 'fact', '--not-type', 'event'], 2)).toMatchObject({
      code: 'usage',
      message: "option '--not-type <type>' cannot be used with option '--type <type>'",
    });
    expect(await fails(['remember', 'x', '--nonsense'], 2)).toMatchObject({ code: 'usage' });
    for (const port of ['99999', '-1', '1.5']) {
      expect(await fails(['serve', '--port', port], 2)).toMatchObject({ code: 'usage' });
    }
    for (const args of [
      ['remember', 'Likes', 'tea'],
      ['recall', 'which', 'tea'],
    ]) {
      expect(await fails(args, 2)).toMatchObject({ message: expect.stringMatching(/in quotes\.$/) });
    }
    expect(await fails(['list', 'tea'], 2)).toMatchObject({
      message: expect.stringMatching(/It takes options only; --help lists them\.$/),
    });
    expect(await fails(['remember', '- buy milk'], 2)).toMatchObject({
      message: expect.stringContaining('comes last, after --'),
    });
    const after = await work.salience(['remember', '--path', 'dashes', '--', '- buy milk']);
    expect(after).toMatchObject({ code: 0, stderr: '' });
    const bare = await work.salience([]);
    expect(bare).toMatchObject({ code: 2, stdout: '' });
    expect(bare.stderr).toContain('Usage: salience');
  });

  it('takes no value for a wish: --version and --json after a command, or after --', async () => {
    const env = { SALIENCE_PATH: join(work.directory, 'wishes') };
    const run = (...args: readonly string[]) => work.salience(args, { env });
    expect((await run('remember', '--id', 'v', '--', '--version')).stdout).toBe('remembered v\n');
    expect((await run('remember', 'x', '--id', 't', '--title', '--version')).stdout).toBe('remembered t\n');
    const { memories } = await work.json(['list'], { env });
    expect(memories).toEqual([
      expect.objectContaining({ content: 'x', title: '--version' }),
      expect.objectContaining({ content: '--version' }),
    ]);
    expect(await run('remember', 'x', '--version')).toMatchObject({ code: 2, stdout: '' });
    expect((await run('get', '--', '--json')).stderr).toMatch(/^error: memory "--json" does not exist/);
    for (const flag of ['--version', '-V']) {
      expect((await run('--path', 'x', flag)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    }
  });

  it('takes an empty variable for none', async () => {
    const empty = Object.fromEntries(
      ['PATH', 'SPACE', 'EMBEDDER', 'EMBEDDER_URL', 'MODEL', 'MODEL_URL', 'STORE', 'STORE_FILE'].map(
        (name) => [`SALIENCE_${name}`, ''],
      ),
    );
    const env = { ...empty, SALIENCE_PATH: join(work.directory, 'empty') };
    expect(await work.json(['remember', 'x', '--id', 'x'], { env })).toMatchObject({ id: 'x' });
    expect(await work.json(['get', 'x'], { env })).toMatchObject({ space: 'default' });
    expect(await work.json(['doctor'], { env })).toMatchObject({
      embedder: { name: 'builtin' },
      problems: [],
    });
  });

  it('repeats a recall that was ranked by a formula of its own, with the same file', async () => {
    const path = ['--path', join(work.directory, 'replayed')];
    const mine = work.file(
      'mine.json',
      JSON.stringify({ name: 'mine', description: 'As balanced.', extends: 'balanced' }),
    );
    await work.json(['remember', 'Ann drinks tea', ...path]);
    await work.json(['configure', '--record-recalls', '7', '--record-texts', ...path]);
    await work.json(['recall', 'tea', '--profile', mine, ...path]);
    expect(await fails(['replay', '1', ...path], 2)).toMatchObject({
      code: 'unknown_strategy',
      message: expect.stringMatching(/"mine".*--profile/),
    });
    expect(await work.json(['replay', '1', '--profile', mine, ...path])).toMatchObject({ equal: true });
  });

  it('says what to do in the words of the command line', async () => {
    const path = join(work.directory, 'words');
    await work.json(['remember', 'x', '--path', path]);
    for (const [args, code, said] of [
      [['resolve', '999', 'keep-both'], 1, 'conflict 999 is not open; conflicts lists those that are'],
      [['resolve', 'x', 'keep-both'], 1, 'conflicts lists them'],
      [['replay', '999'], 1, 'recalls lists the recorded ones'],
      [['replay', 'x'], 1, 'recalls lists them'],
      [['forget', '--below', '--yes'], 1, '--below: name a scope with --in-scope'],
      [['remember', 'y', '--expires-at', 'soon'], 1, '--expires-at: "soon" is not a time'],
      [['recall', 'x', '--tag', ''], 1, '--tag: it must not be empty'],
      [['curate', '--actions', 'burn'], 1, '--actions: "burn" is not one of'],
      [['session', 'end', 'It went well'], 1, 'start one with "salience session start"'],
    ] as const) {
      expect((await fails([...args, '--path', path], code)).message).toContain(said);
    }
  });

  it.each(
    [
      ['get', 'typo'],
      ['timeline', 'typo'],
      ['curve', 'typo'],
      ['links', 'typo'],
      ['feedback', 'typo', 'up'],
      ['forget', 'typo', '--yes'],
      ['mark-used', 'typo'],
    ].map((args) => ({ args })),
  )('says how to find the id that was meant: $args', async ({ args }) => {
    const path = join(work.directory, 'ids');
    await work.json(['remember', 'x', '--id', 'x', '--path', path]);
    expect(await fails([...args, '--path', path], 1)).toMatchObject({
      code: 'not_found',
      message: 'memory "typo" does not exist in space "default"; "salience list" shows the ids',
      details: { space: 'default' },
    });
  });

  it('refuses to name one space where a command takes others', async () => {
    const path = join(work.directory, 'several');
    await work.json(['remember', 'x', '--path', path]);
    const all = ['maintain', '--all-spaces', '--path', path];
    expect((await fails([...all, '--run', 'x'], 2)).message).toContain(
      "'--all-spaces' cannot be used with option '--run",
    );
    expect((await fails([...all, '--space', 'default'], 2)).message).toContain("'--space <name>' cannot");
    expect(await work.json(all, { env: { SALIENCE_SPACE: 'default' } })).toMatchObject({ failed: [] });
    const copy = ['copy', '--from', path, '--to', `${path}-copy`];
    expect((await fails([...copy, '--space', 'default'], 2)).message).toContain('name the spaces to copy');
    expect(await work.json([...copy, 'default'])).toMatchObject([{ space: 'default' }]);
  });

  it('says where there is no space to maintain', async () => {
    const outcome = await work.salience(['maintain', '--all-spaces', '--path', 'nowhere']);
    expect(outcome).toMatchObject({ code: 0, stdout: 'there are no spaces in nowhere\n', stderr: '' });
    expect(existsSync(join(work.directory, 'nowhere'))).toBe(false);
  });

  const halfway = {
    TERM: 'xterm',
    NODE_OPTIONS: `--import ${new URL('interrupted-halfway.mjs', import.meta.url).href}`,
  };

  it('shows how many spaces are maintained, and which were when it is interrupted', async () => {
    const path = join(work.directory, 'two');
    for (const space of ['one', 'two']) await work.json(['remember', 'x', '--path', path, '--space', space]);
    const all = ['maintain', '--all-spaces', '--every-hours', '0', '--path', path];
    const outcome = await work.salience(all, { env: halfway });
    expect(outcome).toMatchObject({ code: 130, stdout: 'one: 1 memory examined: nothing to change\n' });
    expect(outcome.stderr).toMatch(/maintaining {2}█.* 50 %/);
    expect(outcome.stderr).toContain('error: interrupted; what was reported as done is done (aborted)');
    const json = await work.salience([...all, '--json'], { env: halfway });
    expect(json.code).toBe(130);
    expect(JSON.parse(json.stdout)).toMatchObject({ maintained: [{ space: 'one' }], left: [], failed: [] });
  });

  it('says how to take back what was done in each space that something was changed in', async () => {
    const path = join(work.directory, 'alike');
    const used = (space: string) => ['--path', path, '--space', space];
    for (const day of ['Monday', 'Tuesday', 'Wednesday']) {
      await work.json(['remember', `The ferry to Lisbon leaves on ${day}`, ...used('to let')]);
    }
    await work.json(['remember', 'x', ...used('one')]);
    await work.json(['configure', '--fading', 'retention', ...used('to let')]);

    const { stdout } = await work.salience([
      'maintain',
      '--all-spaces',
      '--path',
      path,
      '--now',
      '2099-01-01',
    ]);

    expect(stdout).toMatch(
      /^one: [^\n]*nothing to change\nto let: [^\n]*\n {2}to take it back: salience undo --run (\S+) --space "to let"\n$/,
    );
  });

  it('shows how many spaces are checked', async () => {
    const terminal = new URL('terminal.mjs', import.meta.url).href;
    const env = { TERM: 'xterm', NODE_OPTIONS: `--import ${terminal}` };
    const path = join(work.directory, 'checked');
    for (const space of ['one', 'two']) await work.json(['remember', 'x', '--path', path, '--space', space]);
    const { code, stderr } = await work.salience(['doctor', '--path', path], { env });
    expect(code).toBe(0);
    expect(stderr).toMatch(/checking {2}█.* 50 %/);
    expect(stderr.endsWith('\r\u001b[2K')).toBe(true);
    const curating = await work.salience(['curate', '--path', path, '--space', 'one'], { env });
    expect(curating.stderr).toMatch(/curating {2}\d+ s/);
    expect(curating.stderr.endsWith('\r\u001b[2K')).toBe(true);
  });

  it('says which spaces were copied before one failed', async () => {
    const path = join(work.directory, 'of-two');
    await work.json(['remember', 'x', '--path', path, '--space', 'one']);
    const copyTo = (to: string) => ['copy', '--from', path, '--to', `${path}-${to}`, 'one', 'nosuch'];
    const outcome = await work.salience(copyTo('text'));
    expect(outcome).toMatchObject({
      code: 1,
      stdout: 'copied one: 1 memory, 1 event, 0 uses; counts and checksums are the same\n',
    });
    expect(outcome.stderr).toContain('The spaces before it are complete. Not copied: "nosuch" (not_found)');
    const json = await work.salience([...copyTo('json'), '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject([{ space: 'one' }]);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { details: { left: ['nosuch'] } } });
  });

  it('says where an interrupted copy is kept', async () => {
    const path = join(work.directory, 'copied');
    await work.json(['remember', 'x', '--path', path]);
    const copy = ['copy', '--from', path, '--to', `${path}-to`];
    const { code, stderr } = await work.salience(copy, { env: halfway });
    expect(code).toBe(130);
    const kept = join(
      `${path}-to`,
      '.copying',
      readdirSync(path).find((name) => name.endsWith('.db')) as string,
    );
    expect(stderr).toContain(
      `error: the copy of space "default" was interrupted. ${kept} is a copy that has not ended, with texts in it; copy or restore that space again`,
    );
    expect(existsSync(kept)).toBe(true);
    expect((await work.salience(copy)).code).toBe(0);
    expect(existsSync(kept)).toBe(false);
  });

  it('names a file that could not be maintained', async () => {
    const path = join(work.directory, 'damaged');
    await work.json(['remember', 'x', '--path', path]);
    writeFileSync(join(path, 'other-3e23e8160039594a.db'), 'no database');
    const outcome = await work.salience(['maintain', '--all-spaces', '--path', path]);
    expect(outcome).toMatchObject({ code: 3, stdout: 'default: 1 memory examined: nothing to change\n' });
    expect(outcome.stderr).toContain('other-3e23e8160039594a.db is not a store of this engine');
  });

  it('says where it looked for a space that does not exist', async () => {
    expect(await fails(['list', '--path', 'nowhere'], 1)).toEqual({
      code: 'not_found',
      message: 'space "default" does not exist (available: none yet); looked in nowhere',
      details: { space: 'default' },
    });
  });

  it('makes no store for a question', async () => {
    const path = join(work.directory, 'elsewhere');
    for (const args of [['recall', 'x'], ['list'], ['get', 'x'], ['stats'], ['export'], ['history', 'x']]) {
      expect(await fails([...args, '--path', path], 1)).toMatchObject({ code: 'not_found' });
    }
    expect(readdirSync(work.directory)).not.toContain('elsewhere');
  });
});

describe('update, history, undo, forget', () => {
  it('changes what is named and nothing else', async () => {
    const before = await work.json(['get', 'roast']);
    const updated = await work.json([
      ...['update', 'roast', 'Prefers light roast', '--tag', 'new', '--clear', 'title', '--now', now],
    ]);
    expect(updated).toEqual({
      ...Object.fromEntries(Object.entries(before).filter(([name]) => name !== 'title')),
      content: 'Prefers light roast',
      tags: ['new'],
      updatedAt: '2026-04-20T09:30:00.000Z',
      textChangedAt: '2026-04-20T09:30:00.000Z',
      revisionCount: 2,
    });
    expect(await fails(['update', 'roast'], 2)).toMatchObject({ code: 'usage' });
    expect(await fails(['update', 'nobody', 'x'], 1)).toMatchObject({ code: 'not_found' });
  });

  it('takes tags and metadata away, and nothing that is given a value too', async () => {
    const space = ['--path', 'cleared'];
    await work.json(['remember', 'Likes tea', '--id', 'tea', '--tag', 'a', '--metadata', 'by=ann', ...space]);
    expect(await fails(['update', 'tea', '--tag', 'b', '--clear', 'tag', ...space], 1)).toMatchObject({
      message: '--clear: --tag gives tag a value: leave one of them out',
    });
    const cleared = await work.json(['update', 'tea', ...space, '--clear', 'tag', 'metadata']);
    expect(cleared).toMatchObject({ tags: [], metadata: {}, revisionCount: 2 });
  });

  it('shows the writes of a memory and takes one back', async () => {
    const { events } = (await work.json(['history', 'roast'])) as {
      events: { verb: string; operation: number }[];
    };
    expect(events.map(({ verb }) => verb)).toEqual(['remember', 'update']);
    const operation = events[1]?.operation as number;
    expect(await work.json(['undo', String(operation)])).toMatchObject({
      operation,
      verb: 'update',
      memories: [{ id: 'roast', memory: { content: 'Prefers dark roast' } }],
    });
    expect(await work.json(['get', 'roast'])).toMatchObject({
      content: 'Prefers dark roast',
      title: 'Coffee',
    });
    const table = await work.salience(['history', 'roast']);
    expect(table.stdout).toContain(`undo of ${operation}`);
    expect(await fails(['undo', '9999'], 1)).toMatchObject({ code: 'cannot_undo' });
  });

  it('forgets only when told so, and then for good', async () => {
    expect(await fails(['forget', 'roast'], 2)).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('--yes'),
    });
    expect(await work.json(['get', 'roast'])).toMatchObject({ id: 'roast' });
    const forgot = await work.salience(['forget', 'roast', '--yes']);
    expect(forgot).toMatchObject({ code: 0, stdout: 'forgot roast for good\n' });
    expect(await fails(['get', 'roast'], 1)).toMatchObject({ code: 'not_found' });
    const history = await work.salience(['history', 'roast']);
    expect(history.stdout).toContain('(forgotten)');
    expect(history.stdout).not.toContain('dark roast');
    expect(await fails(['forget', 'roast', '--yes'], 1)).toMatchObject({ code: 'not_found' });
  });
});

describe('mark-used', () => {
  const there = ['--path', 'used', '--embedder', 'none'];

  it('names the ids that it does not know, and marks the others', async () => {
    for (const id of ['mill', 'filter']) await work.json(['remember', `Has a ${id}`, '--id', id, ...there]);
    expect(await fails(['mark-used', 'never', 'nowhere', 'never', ...there], 1)).toMatchObject({
      code: 'not_found',
      message: 'memories "never", "nowhere" do not exist in space "default"; "salience list" shows the ids',
      details: { ids: ['never', 'nowhere'] },
    });
    expect(
      await work.salience(['mark-used', 'mill', 'never', 'filter', '--effect', 'count', ...there]),
    ).toEqual({
      code: 3,
      stdout: 'used mill, filter\n',
      stderr:
        'skipped 1 id: memory "never" does not exist in space "default"; "salience list" shows the ids\n',
    });
    expect(await work.json(['get', 'mill', ...there])).toMatchObject({ accessCount: 1 });
    const partly = await work.salience(['mark-used', 'mill', 'never', '--json', ...there]);
    expect(partly).toMatchObject({ code: 3, stdout: '["mill"]\n' });
    expect(JSON.parse(partly.stderr)).toMatchObject({
      error: { code: 'not_found', details: { id: 'never' } },
    });
    expect(await work.salience(['mark-used', 'mill', '--json', ...there])).toEqual({
      code: 0,
      stdout: '["mill"]\n',
      stderr: '',
    });
  });
});

describe('spaces, backup, reindex, doctor', () => {
  it('keeps spaces apart and lists them', async () => {
    await work.json(['remember', 'only for bob', '--space', 'acme/bob', '--id', 'b']);
    expect(await work.json(['spaces'])).toMatchObject({ spaces: ['acme/bob', 'default'] });
    expect(await fails(['get', 'b'], 1)).toMatchObject({ code: 'not_found' });
    const viaEnvironment = await work.json(['get', 'b'], { env: { SALIENCE_SPACE: 'acme/bob' } });
    expect(viaEnvironment).toMatchObject({ space: 'acme/bob' });
    const before = await work.json(['--space', 'acme/bob', 'get', 'b']);
    expect(before).toEqual(viaEnvironment);
  });

  it('backs up into a new file and overwrites none', async () => {
    const backups = async () => {
      const { spaces } = (await work.json(['doctor'])) as { spaces: { lastBackup?: string }[] };
      return spaces.map(({ lastBackup }) => lastBackup);
    };
    expect(await backups()).toEqual([undefined, undefined]);
    expect(await work.json(['backup', 'copy.db'])).toEqual({ file: 'copy.db' });
    expect(await backups()).toEqual([undefined, expect.stringMatching(/^\d{4}-\d\d-\d\dT/)]);
    expect(readdirSync(work.directory)).toContain('copy.db');
    expect(await fails(['backup', 'copy.db'], 1)).toMatchObject({ code: 'already_exists' });
    expect(await fails(['backup', '-'], 1)).toMatchObject({ code: 'invalid_argument' });
    expect(readdirSync(work.directory)).not.toContain('-');
  });

  it('makes no backup at Ctrl-C, and says so', async () => {
    const interrupted = new URL('interrupted-while-listing.mjs', import.meta.url).href;
    mkdirSync(join(work.directory, 'backups', 'watched'), { recursive: true });
    const outcome = await work.salience(['backup', 'backups/watched/copy.db'], {
      env: { NODE_OPTIONS: `--import ${interrupted}` },
    });
    expect(outcome).toEqual({
      code: 130,
      stdout: '',
      stderr: 'error: interrupted; what was reported as done is done (aborted)\n',
    });
    expect(readdirSync(join(work.directory, 'backups', 'watched'))).toEqual([]);
  });

  it('says where a link leads that leads nowhere, and keeps nothing elsewhere', async () => {
    const elsewhere = join(work.directory, 'links');
    mkdirSync(elsewhere);
    symlinkSync('gone', join(elsewhere, '.salience'));
    const said = /\.salience leads to \/.*\/links\/gone, which is not there; mount or make that/;
    const here = (command: string) => work.shell(`cd links && ${command}`, { env: { SALIENCE_PATH: '' } });
    for (const command of ['list', 'remember x', 'spaces', 'recall x', 'spaces delete default --yes']) {
      const { code, stdout, stderr } = await here(`salience ${command}`);
      expect({ command, code, stdout, stderr }).toEqual({
        ...{ command, code: 1, stdout: '' },
        stderr: expect.stringMatching(said),
      });
    }
    const doctor = await here('salience doctor --json');
    expect(doctor.code).toBe(1);
    expect(JSON.parse(doctor.stdout)).toMatchObject({
      problems: [expect.stringMatching(said)],
      warnings: [],
      store: { state: 'absent' },
    });
    mkdirSync(join(elsewhere, 'gone'));
    expect((await here('salience remember x --id x')).stdout).toBe('remembered x\n');
    expect(readdirSync(join(elsewhere, 'gone')).length).toBeGreaterThan(0);
  });

  it('says that the working directory is gone, where a path starts there', async () => {
    const gone = (command: string) =>
      work.shell(`mkdir lost && cd lost && rmdir ../lost && ${command}`, { env: { SALIENCE_PATH: 'here' } });
    const { code, stderr } = await gone('salience list');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error: here cannot be found: the working directory is gone; .* \(store_failed\)$/m,
      ),
    ]);
    expect((await gone('salience mcp --print-config claude-code 2>&1')).stdout).toContain(
      'the working directory is gone',
    );
    expect((await gone(`salience spaces --path ${work.directory}/memory`)).code).toBe(0);
  });

  it('copies nothing from a store without spaces, and says so', async () => {
    const { code, message } = await fails(['copy', '--from', 'nosuch', '--to', 'copies'], 1);
    expect(code).toBe('not_found');
    expect(message).toBe('--from: there are no spaces in nosuch; check that it names the right store');
    expect(readdirSync(work.directory)).not.toContain('copies');
  });

  it('stops examining at Ctrl-C', async () => {
    const interrupted = new URL('interrupted-while-listing.mjs', import.meta.url).href;
    const env = { NODE_OPTIONS: `--import ${interrupted}` };
    await work.json(['remember', 'Has a cat', '--path', 'watched', '--embedder', 'none']);
    const outcome = await work.salience(['doctor', '--path', 'watched', '--embedder', 'none'], { env });
    expect(outcome).toEqual({
      code: 130,
      stdout: '',
      stderr: 'error: interrupted; what was reported as done is done (aborted)\n',
    });
  });

  it('takes a blank path for a mistake, whoever asks, and makes nothing', async () => {
    for (const args of [
      ['token', 'create'],
      ['token', 'list'],
      ['serve', '--port', '0'],
      ['spaces'],
      ['list'],
    ]) {
      const { code, stdout, stderr } = await work.salience([...args, '--path', ' ']);
      expect([code, stdout, stderr], args[0]).toEqual([2, '', expect.stringContaining('It is empty: name')]);
    }
    for (const ends of [
      ['--from', ' ', '--to', 'copies'],
      ['--from', join(work.directory, 'memory'), '--to', ''],
    ]) {
      expect((await fails(['copy', ...ends], 1)).message).toContain('it must not be empty: name');
    }
    expect(readdirSync(work.directory)).not.toContain(' ');
  });

  it('removes what runs that were killed have left: they hold what may be forgotten since', async () => {
    await work.json(['remember', 'Has a secret', '--path', 'killed', '--embedder', 'none']);
    await work.json(['backup', 'killed.db', '--path', 'killed', '--embedder', 'none']);
    const place = join(work.directory, 'written');
    mkdirSync(place);
    const unfinished = () => readdirSync(place).filter((name) => !name.startsWith('one'));
    // Both what is written and what is only there for a moment lie here.
    const env = { TMPDIR: place };
    const halfway = `--import ${new URL('killed-halfway.mjs', import.meta.url).href}`;
    for (const [args, left] of [
      [['restore', 'killed.db', '--path', 'back'], 'salience-restore-'],
      [['export', '--path', 'killed', '--output', 'written/one.jsonl'], '.salience-output-'],
      [['backup', 'written/one.db', '--path', 'killed', '--embedder', 'none'], '.backup-'],
    ] as const) {
      const killed = await work.salience(args, { env: { ...env, NODE_OPTIONS: halfway } });
      expect(killed.code, args[0]).toBe(null);
      expect(unfinished(), args[0]).toEqual([expect.stringContaining(left)]);
      const again = await work.salience(args, { env });
      expect(again, args[0]).toMatchObject({ code: 0 });
      expect(unfinished(), args[0]).toEqual([]);
    }
  });

  it('copies no store onto itself, whose spaces must not be deleted first', async () => {
    await work.json(['remember', 'Has a cat', '--path', 'alone']);
    symlinkSync(join(work.directory, 'alone'), join(work.directory, 'linked'));
    for (const to of ['alone', './alone/', join(work.directory, 'alone'), 'linked']) {
      expect(await fails(['copy', '--from', 'alone', '--to', to], 1)).toEqual({
        code: 'invalid_argument',
        message: '--to: this is the store to copy from; name another one',
        details: { field: '--to' },
      });
    }
  });

  it('copies no store of which a file cannot be read, unless the spaces are named', async () => {
    await work.json(['remember', 'Has a cat', '--path', 'half']);
    work.file('half/old-0123456789abcdef.db', 'no database');
    const every = ['copy', '--from', 'half', '--to', 'copies'];
    expect(await fails(every, 1)).toMatchObject({
      code: 'store_corrupt',
      message: expect.stringMatching(
        /^nothing was copied, .*old-0123456789abcdef\.db.* Or name the spaces to copy$/,
      ),
    });
    expect(readdirSync(work.directory)).not.toContain('copies');
    expect(await work.json([...every, 'default'])).toMatchObject([{ space: 'default', rows: { memory: 1 } }]);
  });

  it('restores a whole backup under the name of its space, and replaces nothing', async () => {
    await work.json(['backup', 'bob.db', '--space', 'acme/bob']);
    const file = join(work.directory, 'bob.db');
    const kept = readFileSync(file);
    expect(await fails(['restore', 'bob.db'], 1)).toMatchObject({
      code: 'already_exists',
      message: expect.stringContaining('salience spaces delete'),
    });
    const restored = { file: 'bob.db', space: 'acme/bob', memories: 1 };
    expect(await work.json(['restore', 'bob.db', '--path', 'restored'])).toEqual(restored);
    expect(await work.json(['get', 'b', '--space', 'acme/bob', '--path', 'restored'])).toMatchObject({
      content: 'only for bob',
    });
    expect(readFileSync(file)).toEqual(kept);
    const damaged = Buffer.from(kept);
    damaged.write('only for eve', damaged.indexOf('only for bob'));
    writeFileSync(join(work.directory, 'damaged.db'), damaged);
    expect(await fails(['restore', 'damaged.db', '--path', 'nowhere'], 1)).toMatchObject({
      code: 'store_corrupt',
      message: expect.stringMatching(/^damaged\.db: .*nothing was restored, take an older backup$/),
    });
    work.file('words.db', 'no backup');
    const named = ['restore', 'bob.db', '--space', 'ann', '--path', 'nowhere'];
    expect(await fails(named, 2)).toMatchObject({
      message: expect.stringContaining('under the name that is in the backup'),
    });
    expect(await fails(['restore', 'words.db'], 1)).toMatchObject({ code: 'not_a_store' });
    expect(await fails(['restore', 'missing.db'], 1)).toMatchObject({ code: 'unreadable_file' });
    expect(existsSync(join(work.directory, 'nowhere'))).toBe(false);
  });

  it('indexes anew, also for another embedder', async () => {
    expect(await work.json(['reindex'])).toMatchObject({ memories: 2, vectors: 2 });
    expect(await work.json(['reindex', '--embedder', 'none'])).toMatchObject({ memories: 2, vectors: 0 });
    expect((await work.salience(['reindex'])).stdout).toBe('indexed 2 memories with builtin-1\n');
  });

  it('examines the installation and the store', async () => {
    const report = await work.json(['doctor']);
    expect(report).toMatchObject({
      versions: { salience: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.versions.node },
      embedder: { name: 'builtin', model: 'builtin-1', dimensions: 256 },
      store: { path: join(work.directory, 'memory'), state: 'writable' },
      spaces: [
        { name: 'acme/bob', memories: 1, problems: [] },
        { name: 'default', memories: 2, problems: [] },
      ],
      warnings: [],
      problems: [],
    });
    expect((await work.salience(['doctor'])).stdout).toContain('everything works');
    const lexical = await work.json(['doctor', '--embedder', 'none']);
    expect(lexical['warnings']).toEqual(['no embedder: recalls go by words alone']);
    const down = await work.salience([
      'doctor',
      '--embedder',
      'openai:m:3',
      '--base-url',
      'not a url',
      '--json',
    ]);
    expect(down.code).toBe(1);
    expect(JSON.parse(down.stdout)).toMatchObject({ problems: [expect.stringContaining('the embedder')] });
  });

  it('indexes the words of another language, which every later command uses', async () => {
    const place = ['--path', join(work.directory, 'german')];
    const backup = join(work.directory, 'german.db');
    await work.json(['remember', 'Anna kauft Bücher', '--id', 'books', ...place]);
    expect(await work.json(['reindex', '--language', 'german', ...place])).toMatchObject({ vectors: 1 });
    const { hits, trace } = await work.json(['recall', 'Buch', '--strategy', 'bm25', ...place]);
    expect(hits).toHaveLength(1);
    // Not by its spelling, as in English.
    expect(trace).not.toHaveProperty('spelling');
    await work.json(['backup', backup, ...place]);
    const restored = ['--path', join(work.directory, 'restored')];
    expect((await work.salience(['restore', backup, ...restored])).code).toBe(0);
    expect((await work.salience(['doctor', ...restored])).stdout).toContain('everything works');
    const unknown = await work.salience(['reindex', '--language', 'klingon', ...place]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('german') });
  });

  it('warns of bytes that are not erased yet, which are no damage', async () => {
    const path = join(work.directory, 'erasing');
    await work.json(['remember', 'hello', '--id', 'a', '--path', path]);
    const [file = ''] = readdirSync(path);
    const { DatabaseSync } = await loadDriver();
    const reader = new DatabaseSync(join(path, file), { readOnly: true });
    reader.exec('BEGIN; SELECT count(*) FROM memory');
    // Does not wait for the reader, as the command would.
    const store = createSqliteStore({ directory: path, busyTimeout: 1 });
    const memory = await openMemory({ store, path, space: 'default' });
    await expect(memory.forget('a')).rejects.toThrow('its log still holds the bytes');
    await memory.close();
    await store.close();
    const { code, stdout } = await work.salience(['doctor', '--path', path]);
    reader.close();
    expect(stdout).toMatch(/^good .*default/m);
    expect(stdout).toContain('warning: space default: bytes of forgotten memories are not erased yet');
    expect(code).toBe(0);
  });

  it('shows a space that opens, and whose check finds something, as damaged', async () => {
    const path = join(work.directory, 'altered');
    await work.json(['remember', 'hello', '--path', path]);
    const [file = ''] = readdirSync(path);
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(join(path, file));
    // Another program writes other checksums than ours.
    database.function('salience_checksum', { deterministic: true, varargs: true }, () => 0);
    database.exec(`UPDATE memory SET content = 'altered'`);
    database.close();
    const { code, stdout } = await work.salience(['doctor', '--path', path]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^damaged +default +1 /m);
    expect(stdout).toContain('problem: space default: ');
  });

  it('finds the files that no space is read from', async () => {
    const path = join(work.directory, 'spoilt');
    await work.json(['remember', 'hello', '--path', path]);
    const [file = ''] = readdirSync(path);
    truncateSync(join(path, file), 100);
    const damaged = `${join(path, file)} is damaged, or its disk cannot be read. Check the disk and try again; if the error stays, restore the file from a backup`;
    const { code, stdout } = await work.salience(['doctor', '--path', path]);
    expect(code).toBe(1);
    expect(stdout).toContain(`problem: ${damaged}\n1 to mend\n`);
    const json = await work.salience(['doctor', '--path', path, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ spaces: [], problems: [expect.stringContaining(file)] });
    const spaces = await work.salience(['spaces', '--path', path]);
    expect(spaces).toEqual({
      code: 0,
      stdout: '',
      stderr: `not listed: ${damaged}\nno spaces in ${path}\n`,
    });
    const said = await work.salience(['spaces', '--path', path, '--json']);
    expect({ ...said, stdout: JSON.parse(said.stdout) }).toEqual({
      code: 0,
      stdout: { path, spaces: [], notListed: [damaged] },
      stderr: '',
    });
  });

  it('names copies that did not end, which hold texts', async () => {
    const path = join(work.directory, 'interrupted');
    await work.json(['remember', 'hello', '--path', path]);
    const [file = ''] = readdirSync(path);
    const unfinished = join(path, '.copying', file);
    mkdirSync(join(path, '.copying'));
    copyFileSync(join(path, file), unfinished);
    const { code, stdout } = await work.salience(['doctor', '--path', path]);
    expect(code).toBe(0);
    expect(stdout).toContain(`warning: ${unfinished} is a copy that has not ended`);
    rmSync(join(path, '.copying'), { recursive: true });
    expect(await work.json(['doctor', '--path', path])).toMatchObject({ warnings: [] });
  });

  it('says that the store is a file where it should be a directory', async () => {
    const path = work.file('a-file', 'text');
    for (const args of [['list'], ['remember', 'x'], ['spaces'], ['stats']]) {
      const { code, message } = await fails([...args, '--path', path], 1);
      expect(code).toBe('store_failed');
      expect(message).toContain('choose a directory');
    }
    const tokens = await fails(['token', 'list', '--path', path], 1);
    expect(tokens.message).toMatch(/tokens cannot be read \(.+\); check that it is a directory/);
    const { stdout } = await work.salience(['doctor', '--path', path]);
    expect(stdout).toContain(`problem: the store ${path}: ${path} cannot be opened`);
  });

  it('reports a file that is no store and goes on', async () => {
    const name = readdirSync(join(work.directory, 'memory')).find((file) =>
      /^acme-bob-[0-9a-f]+\.db$/.test(file),
    );
    work.file(`other/${name}`, 'this is no database, though it has the name of one');
    const path = join(work.directory, 'other');
    expect(await fails(['recall', 'x', '--path', path, '--space', 'acme/bob'], 1)).toMatchObject({
      code: 'not_a_store',
    });
    expect(await fails(['remember', 'x', '--path', path, '--space', 'acme/bob'], 1)).toMatchObject({
      code: 'not_a_store',
    });
  });
});

describe('operations and activity', () => {
  it('shows all of the activity without a limit, as the help says', async () => {
    expect((await work.salience(['help', 'activity'])).stdout).toMatch(
      /--limit [^-]*\(default: all of\s+it\)/,
    );
    const many = Array.from({ length: 101 }, (_, at) => ({ content: `Ann owns book ${at}`, id: `b${at}` }));
    await using memory = await openMemory({ path: join(work.directory, 'memory'), space: 'busy' });
    for (const each of many) await memory.remember(each.content, { id: each.id });
    const { entries } = await work.json(['activity', '--space', 'busy']);
    expect(entries).toHaveLength(many.length);
  });

  it('advises no longer path than one may be', async () => {
    await work.salience(['remember', 'Ann', '--id', 'ann', '--space', 'paths']);
    await work.salience(['remember', 'A bus', '--id', 'bus', '--space', 'paths']);
    const asked = ['paths', 'ann', 'bus', '--space', 'paths', '--max-length'];
    expect((await work.salience([...asked, '5'])).stdout).toBe(
      'no path: a higher --max-length may find one\n',
    );
    expect((await work.salience([...asked, '6'])).stdout).toBe('no path\n');
  });

  it('shows what was done and what happened', async () => {
    const at = ['--space', 'looking', '--now', now];
    await work.salience(['remember', 'Ann drinks tea', '--id', 'tea', ...at]);
    await work.salience(['update', 'tea', 'Ann drinks green tea', ...at]);
    const { stdout } = await work.salience(['operations', '--space', 'looking']);
    expect(stdout.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['operation', 'at', 'verb', 'undo', 'memories'],
      ['2', expect.any(String), 'update', 'yes', 'tea'],
      ['1', expect.any(String), 'remember', 'changed since: undo that first', 'tea'],
      [''],
    ]);
    expect(await work.json(['operations', '--verb', 'remember', '--space', 'looking'])).toMatchObject({
      operations: [{ operation: 1, undoable: false, because: 'changed' }],
    });
    const activity = await work.salience(['activity', '--space', 'looking']);
    expect(activity.stdout).toMatch(/^\S+Z remember tea\n\S+Z update tea\nposition 2\.0\.[0-9a-f]{8}\n$/);
    const { position } = await work.json(['activity', '--limit', '1', '--space', 'looking']);
    expect(
      await work.json(['activity', String(position), '--limit', '5', '--space', 'looking']),
    ).toMatchObject({
      entries: [{ kind: 'write', verb: 'update', ids: ['tea'] }],
      position: expect.stringMatching(/^2\.0\./),
    });
    expect(await fails(['activity', '--limit', '1001', '--space', 'looking'], 2)).toMatchObject({
      code: 'usage',
    });
    expect(await fails(['activity', '9.9.00000000', '--space', 'looking'], 1)).toMatchObject({
      code: 'invalid_argument',
    });
  });
});
