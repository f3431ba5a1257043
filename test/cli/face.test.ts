import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { fileNameOf } from '../../src/stores/sqlite/files.ts';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
beforeAll(() => {
  work = createWorkplace();
});
afterAll(() => work[Symbol.dispose]());

describe('stored text on a terminal', () => {
  it('cannot act on it', async () => {
    // Controls are refused in a content; what reaches a store in other ways, or is no control, is shown as text.
    const evil = 'tidy \u202eesrever\u2066';
    await work.json([
      'remember',
      evil,
      '--id',
      'evil',
      '--session',
      'a\u001b[31mred\u0007',
      '--metadata',
      'k=\u001b]0;title\u0007',
    ]);
    for (const args of [
      ['get', 'evil'],
      ['list'],
      ['recall', 'tidy'],
      ['history', 'evil'],
      ['explain', 'tidy', 'evil'],
    ]) {
      const { stdout, code } = await work.salience(args);
      expect(code).toBe(0);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    }
    const { stdout } = await work.salience(['get', 'evil']);
    expect(stdout).toContain('tidy \\u{202e}esrever\\u{2066}');
    expect(stdout).toContain('session     a\\u{1b}[31mred\\u{7}');
    // JSON gives it back as it is, escaped as JSON does.
    expect(await work.json(['get', 'evil'])).toMatchObject({
      content: evil,
      sessionId: 'a\u001b[31mred\u0007',
      metadata: { k: '\u001b]0;title\u0007' },
    });
    const missing = await work.salience(['get', 'no\u001b[2Jsuch']);
    expect(missing.stderr).not.toContain('\u001b');
    const unknown = await work.salience(['\u001b[2J']);
    expect(unknown.stderr).not.toContain('\u001b');
  });

  it('stays on its line', async () => {
    await work.json(['remember', 'one\n 2  ██████████  1.0000  fact · now · forged', '--id', 'lines']);
    const { stdout } = await work.salience(['recall', 'forged', '--strategy', 'bm25']);
    expect(stdout.split('\n')[1]).toMatch(/^ {4}one 2 /);
    expect(stdout.trim().split('\n')).toHaveLength(4);
  });
});

describe('colours', () => {
  const args = ['recall', 'tidy'];
  it('are only there when wanted', async () => {
    const coloured = await work.salience(args, { env: { FORCE_COLOR: '1' } });
    expect(coloured.stdout).toContain('\u001b[');
    for (const run of [
      work.salience(args),
      work.salience(args, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } }),
      work.salience([...args, '--no-color'], { env: { FORCE_COLOR: '1' } }),
      work.salience([...args, '--json'], { env: { FORCE_COLOR: '1' } }),
    ]) {
      expect((await run).stdout).not.toContain('\u001b');
    }
  });

  it('draw a score as its parts', async () => {
    const { stdout } = await work.salience(['recall', 'tidy', '--strategy', 'lexical'], {
      env: { FORCE_COLOR: '1' },
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are looked for
    expect(stdout).toMatch(/\u001b\[36m█+\u001b\[39m\u001b\[35m█+\u001b\[39m/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
    expect(stdout.replace(/\u001b\[\d+m/g, '')).toContain('█ lexical  █ recency  █ revision');
  });
});

describe('the clock', () => {
  it('is what --now says, for every verb', async () => {
    const at = (day: number) => ['--now', `2026-03-0${day}T00:00:00Z`, '--space', 'clock'];
    await work.json(['remember', 'the pump leaks', '--id', 'p', '--expires-at', '2026-03-05', ...at(1)]);
    expect(await work.json(['get', 'p', ...at(1)])).toMatchObject({ createdAt: '2026-03-01T00:00:00.000Z' });
    await work.json(['update', 'p', 'the pump leaks badly', ...at(2)]);
    const { events } = (await work.json(['history', 'p', ...at(2)])) as { events: { at: string }[] };
    expect(events.map((event) => event.at)).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z']);
    expect(((await work.json(['recall', 'pump', ...at(4)])) as { hits: unknown[] }).hits).toHaveLength(1);
    expect(((await work.json(['recall', 'pump', ...at(6)])) as { hits: unknown[] }).hits).toHaveLength(0);
    expect(await work.json(['why-not', 'pump', 'p', ...at(6)])).toMatchObject({ stage: 'validity_filter' });
    expect((await work.salience(['list', ...at(4)])).stdout).toContain('     2 d  ');
  });
});

describe('a reader that stops reading', () => {
  it('is no failure', async () => {
    const lines = Array.from({ length: 3000 }, (_, index) =>
      JSON.stringify({ content: `statement ${index}` }),
    );
    work.file('many.jsonl', lines.join('\n'));
    await work.json(['import', 'many.jsonl', '--space', 'many', '--embedder', 'none']);
    const { stdout, stderr } = await work.shell(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
      'salience export --space many | head -n 1; echo "codes ${PIPESTATUS[*]}"',
    );
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^\{.+\}\ncodes 0 0\n$/);
  });
});

describe.skipIf(process.platform !== 'linux')('a full disk under stdout', () => {
  it('is said, and is a failure', async () => {
    const { code, stderr } = await work.shell('salience export --space many > /dev/full');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: stdout cannot be written: .*ENOSPC/);
    const json = await work.shell('salience export --space many --json > /dev/full');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'unwritable_file' } });
  });
});

const script = spawnSync('script', ['--version']).status === 0;
describe.skipIf(!script)('a question on a terminal (skipped where the program script is missing)', () => {
  const ask = (answer: string, id: string) =>
    work.shell(`exec script --quiet --return --command 'salience forget ${id}' /dev/null`, {
      answer: { to: '[y/N]', with: answer },
    });
  it('is asked before something is forgotten, and only a yes is a yes', async () => {
    await work.json(['remember', 'once \u202e gone', '--id', 'asked']);
    for (const [answer, code] of [
      ['n\n', 0],
      ['\n', 0],
      ['\u0004', 0],
      ['\u0003', 130],
    ] as const) {
      const outcome = await ask(answer, 'asked');
      expect({ answer, code: outcome.code }).toEqual({ answer, code });
      expect(outcome.stdout).toContain('It is erased for good. [y/N]');
      expect(outcome.stdout).toContain('once \\u{202e} gone');
      expect(await work.json(['get', 'asked'])).toMatchObject({ id: 'asked' });
    }
    expect((await ask('yes\n', 'asked')).stdout).toContain('forgot asked for good');
    expect((await work.salience(['get', 'asked'])).code).toBe(1);
  });

  it('is not asked where no answer could help', async () => {
    const erase = `exec script --quiet --return --command 'salience erase' /dev/null`;
    const outcome = await work.shell(erase, { answer: { to: '[y/N]', with: 'n\n' } });
    expect(outcome.code).toBe(1);
    expect(outcome.stdout).toContain('no database is named');
    expect(outcome.stdout).not.toContain('[y/N]');
    const piped = await work.salience(['erase']);
    expect([piped.code, piped.stderr]).toEqual([1, expect.stringContaining('URL of a PostgreSQL database')]);
  });
});

describe('a file of an older schema', () => {
  // Each begins with the file as it was: the first command that opens it would mend it for the others.
  it.each([
    [['list'], 'Green tea at seven'],
    [['get', 'tea'], 'Green tea at seven'],
    [['recall', 'tea', '--strategy', 'bm25'], 'Green tea at seven'],
    [['entities'], ''],
  ])('is brought up to date by a command that reads: %j', async (args, expected) => {
    const space = '--path older --space alice --embedder none'.split(' ');
    placeOlder('older');
    const read = await work.salience([...args, ...space]);
    expect(read).toMatchObject({ code: 0, stderr: '' });
    expect(read.stdout).toContain(expected);
  });

  it('is not damaged, doctor says, and is left as it is', async () => {
    const file = placeOlder('unchanged');
    const before = readFileSync(file);
    const doctor = ['doctor', '--path', 'unchanged', '--embedder', 'none'];
    const { code, stdout } = await work.salience(doctor);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^older +alice +\? +\? +\? +4 +never$/m);
    expect(stdout).toContain('warning: space alice: has the older schema 4; the next command');
    expect(await work.json(doctor)).toMatchObject({
      spaces: [{ name: 'alice', schemaVersion: 4, problems: [] }],
      problems: [],
    });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  function placeOlder(name: string): string {
    const path = join(work.directory, name);
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
    const packed = readFileSync(new URL('../fixtures/version-4.db.gz', import.meta.url));
    const file = join(path, fileNameOf('alice'));
    writeFileSync(file, gunzipSync(packed));
    return file;
  }
});

describe('a disk that cannot be written', () => {
  const isRoot = process.getuid?.() === 0;
  it.skipIf(process.platform === 'win32')(
    'is a typed error that names the path, and recall goes on',
    async () => {
      const path = join(work.directory, 'locked');
      await work.json(['remember', 'kept here', '--id', 'kept', '--path', path]);
      mkdirSync(join(work.directory, 'empty'));
      for (const name of readdirSync(path)) chmodSync(join(path, name), 0o444);
      for (const folder of [path, join(work.directory, 'empty')]) chmodSync(folder, 0o555);
      for (const folder of [work.directory, join(work.directory, '..')]) chmodSync(folder, 0o755);
      // Nothing is forbidden to root, so the program runs as nobody.
      const nobody = isRoot ? { uid: 65_534 } : {};
      const refused = await work.salience(['remember', 'x', '--path', path, '--json'], nobody);
      expect(refused.code).toBe(1);
      expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'store_read_only' } });
      const nowhere = await work.salience(
        ['remember', 'x', '--path', join(work.directory, 'empty/new'), '--json'],
        nobody,
      );
      expect(nowhere.code).toBe(1);
      expect(JSON.parse(nowhere.stderr).error.code).toMatch(/^store_/);
      const found = await work.salience(['recall', 'kept', '--path', path, '--json'], nobody);
      expect(JSON.parse(found.stdout)).toMatchObject({ hits: [{ memory: { id: 'kept' } }] });
      const doctor = await work.salience(['doctor', '--path', path, '--json'], nobody);
      expect(JSON.parse(doctor.stdout)).toMatchObject({ store: { state: 'read-only' } });
      const file = await work.salience(
        ['export', '--path', path, '--output', join(path, 'out.jsonl'), '--json'],
        nobody,
      );
      expect(JSON.parse(file.stderr)).toMatchObject({ error: { code: 'unwritable_file' } });
    },
  );

  it.skipIf(process.platform === 'win32')('where it is one file of a store, is named', async () => {
    const path = join(work.directory, 'one-locked');
    await work.json(['remember', 'kept here', '--id', 'kept', '--path', path]);
    await work.json(['remember', 'free', '--space', 'free', '--path', path]);
    const file = join(path, readdirSync(path).find((name) => name.startsWith('default')) as string);
    for (const name of readdirSync(path)) chmodSync(join(path, name), 0o666);
    chmodSync(file, 0o444);
    chmodSync(path, 0o777);
    for (const folder of [work.directory, join(work.directory, '..')]) chmodSync(folder, 0o755);
    const nobody = isRoot ? { uid: 65_534 } : {};
    const doctor = await work.salience(['doctor', '--path', path, '--json'], nobody);
    expect(JSON.parse(doctor.stdout)).toMatchObject({
      store: { state: 'writable' },
      problems: [],
      warnings: [
        `space default: this user may not write to ${file}: recalls work, nothing can be remembered; check its permissions`,
      ],
    });
    const kept = await work.salience(
      ['spaces', 'delete', 'default', '--yes', '--path', path, '--json'],
      nobody,
    );
    expect(JSON.parse(kept.stderr)).toMatchObject({ error: { code: 'store_read_only' } });
    expect(readdirSync(path)).toContain(basename(file));
  });

  // Only root can act as two users.
  it.skipIf(!isRoot)('because of what a reader of another user left beside a space, names it', async () => {
    const path = join(work.directory, 'of-two');
    mkdirSync(path);
    for (const folder of [work.directory, join(work.directory, '..')]) chmodSync(folder, 0o755);
    chmodSync(path, 0o777);
    const [owner, other] = [{ uid: 65_534 }, { uid: 65_533 }];
    expect(await work.salience(['remember', 'mine', '--path', path], owner)).toMatchObject({ code: 0 });
    const [file = ''] = readdirSync(path);
    expect(await work.salience(['list', '--path', path], other)).toMatchObject({ code: 0 });
    const refused = await work.salience(['remember', 'more', '--path', path, '--json'], owner);
    expect(refused.code).toBe(1);
    const shared = `${join(path, file)}-shm`;
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: { code: 'store_read_only', message: expect.stringContaining(shared) },
    });
    for (const beside of [`${join(path, file)}-wal`, shared]) rmSync(beside);
    expect(await work.salience(['remember', 'more', '--path', path], owner)).toMatchObject({ code: 0 });
  });

  it.skipIf(process.platform === 'win32')('or entered, is named, and counts as no empty store', async () => {
    const open = join(work.directory, 'open');
    mkdirSync(join(open, 'closed'), { recursive: true });
    writeFileSync(join(open, 'file'), '');
    for (const folder of [open, join(open, 'closed')]) chmodSync(folder, 0o777);
    for (const folder of [work.directory, join(work.directory, '..')]) chmodSync(folder, 0o755);
    chmodSync(join(open, 'closed'), 0);
    const nobody = isRoot ? { uid: 65_534 } : {};
    for (const place of ['closed', 'closed/below', 'file/below']) {
      const path = join(open, place);
      for (const command of [['spaces'], ['recall', 'x'], ['token', 'create'], ['token', 'list']]) {
        const refused = await work.salience([...command, '--path', path, '--json'], nobody);
        expect(refused.code, `${command} ${place}`).toBe(1);
        const { code, message } = JSON.parse(refused.stderr).error;
        expect(code).toMatch(/^(?:store_failed|unreadable_file|unwritable_file)$/);
        expect(message).toContain(path);
      }
      const doctor = await work.salience(['doctor', '--path', path, '--json'], nobody);
      expect(doctor.code).toBe(1);
      expect(JSON.parse(doctor.stdout)).toMatchObject({ problems: [expect.stringContaining(path)] });
      expect(doctor.stdout).not.toContain('recalls work');
    }
    const lost = await work.shell(
      `mkdir ${open}/mine; cd ${open}/mine; chmod 0 .; env -u SALIENCE_PATH salience recall x; chmod 700 .`,
      nobody,
    );
    expect(lost.stderr).toMatch(
      /the working directory cannot be searched for \.salience .*--path.*store_failed/,
    );
    chmodSync(join(open, 'closed'), 0o755);
  });

  it.skipIf(process.platform === 'win32')('for want of room can still be read', async () => {
    const path = join(work.directory, 'no-room');
    await work.json(['remember', 'kept here', '--id', 'kept', '--path', path]);
    // Files that may not grow stand for a full disk: SQLite notices neither before it writes.
    const full = `trap '' XFSZ; ulimit -f 16; salience`;
    const listed = await work.shell(`${full} list --path ${path} --json`);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toContain('kept here');
    const refused = await work.shell(`${full} remember more --path ${path} --json`);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'store_full' } });
    const found = await work.shell(`${full} doctor --path ${path} --json`);
    expect(found.code).toBe(1);
    expect(JSON.parse(found.stdout)).toMatchObject({
      problems: [expect.stringMatching(/^the store .*no-room: /)],
      spaces: [{ name: 'default', memories: 1, problems: [] }],
    });
    expect(await work.salience(['doctor', '--path', path])).toMatchObject({ code: 0 });
    expect(readdirSync(path).filter((name) => name.startsWith('.ready'))).toEqual([]);
  });

  it.skipIf(process.platform === 'win32')('for a copy: what was copied is named', async () => {
    const path = join(work.directory, 'large');
    {
      await using memory = await openMemory({ path, space: 'default', embedder: 'none' });
      await memory.rememberMany(
        Array.from({ length: 800 }, (_, at) => ({ content: `${at} ${'long text '.repeat(200)}` })),
      );
    }
    const to = join(work.directory, 'large-to');
    const run = (line: string) => work.shell(`trap '' XFSZ; ulimit -f 1024; salience ${line} --json`);
    const { code, stderr } = await run(`copy --from ${path} --to ${to}`);
    expect(code).toBe(1);
    const { error } = JSON.parse(stderr);
    // The SQLite of Node.js does not report that a file reached its limit.
    expect(['store_full', 'store_failed']).toContain(error.code);
    expect(error.message).not.toContain('nothing was changed');
    if (error.code === 'store_full') expect(error.message).toContain('what was copied before is kept');
    expect(error.message).toMatch(/\.copying\S+\.db is a copy that has not ended, with texts in it/);
  });

  it('for temporary files is named', async () => {
    const nowhere = join(work.directory, 'nowhere');
    const demo = await work.salience(['inspect', '--demo', '--no-open', '--json'], {
      env: { TMPDIR: nowhere, TEMP: nowhere },
    });
    expect(demo.code).toBe(1);
    expect(JSON.parse(demo.stderr).error.message).toContain('TMPDIR');
  });
});
