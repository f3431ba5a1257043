import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshSchema, freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

/** The server takes any password: whatever shows it, shows this. */
const CANARY = 'canary-password';

describe('a URL of a database', () => {
  it.each(['--from', '--to'])('with a password is refused by %s of copy', (option) => {
    const other = option === '--from' ? '--to' : '--from';
    const { status, stderr } = spawnSync(
      process.execPath,
      [main, 'copy', other, './a', option, `postgresql://user:${CANARY}@host/db`],
      { encoding: 'utf8' },
    );
    expect(status).not.toBe(0);
    expect(stderr).toContain('env:SALIENCE_STORE');
    expect(stderr).not.toContain(CANARY);
  });

  it('is refused on the command line, with a hint and without being repeated', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [main, 'spaces', '--path', `postgresql://user:${CANARY}@host/db`],
      { encoding: 'utf8' },
    );
    expect(status).not.toBe(0);
    expect(stderr).toContain('SALIENCE_STORE');
    expect(stdout + stderr).not.toContain(CANARY);
  });
});

describe('a database that cannot be reached', () => {
  const commands: readonly (readonly string[])[] = [
    ['remember', 'Prefers tea'],
    ['recall', 'tea'],
    ['list', '--json'],
    ['stats'],
    ['spaces'],
    ['doctor'],
    ['doctor', '--json'],
    ['check'],
    ['token', 'list'],
    ['serve', '--port', '0'],
    ['migrate'],
    ['erase', '--yes'],
    ['copy', '--from', 'env:SALIENCE_STORE', '--to', './nowhere'],
    ['mcp', '--print-config'],
    ['help'],
    ['remember', '--unknown'],
  ];
  it.each(commands.map((args) => [args]))('says what it has to say, and never its password: %j', (args) => {
    const { stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
      encoding: 'utf8',
      input: '',
      timeout: 20_000,
      env: { ...process.env, SALIENCE_STORE: `postgresql://user:${CANARY}@127.0.0.1:9/none`, NO_COLOR: '1' },
    });
    expect(stdout + stderr).not.toBe('');
    expect(stdout + stderr).not.toContain(CANARY);
    if (args[0] === 'doctor')
      expect(stdout).toContain('the store of SALIENCE_STORE: PostgreSQL at 127.0.0.1:9/none');
    expect(stdout).not.toContain('the store the store');
  });
});

describe.skipIf(SERVER === undefined)(
  `the command line and servers over one store (${WITHOUT_SERVER})`,
  () => {
    let fresh: FreshSchema;
    let environment: NodeJS.ProcessEnv;
    const said: string[] = [];
    const servers: ChildProcess[] = [];

    beforeAll(async () => {
      fresh = freshSchema();
      const url = new URL(fresh.url);
      url.password = CANARY;
      environment = {
        ...process.env,
        SALIENCE_STORE: String(url),
        SALIENCE_STORE_SCHEMA: fresh.schema,
        NO_COLOR: '1',
      };
      delete environment['SALIENCE_PATH'];
    });
    afterAll(async () => {
      for (const server of servers) server.kill('SIGKILL');
      await fresh[Symbol.asyncDispose]();
      expect(said.join('\n')).not.toContain(CANARY);
    });

    function salience(...args: readonly string[]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
        encoding: 'utf8',
        env: environment,
      });
      said.push(stdout, stderr);
      return { status, stdout, stderr };
    }

    async function serve(): Promise<string> {
      const server = spawn(process.execPath, [main, 'serve', '--port', '0', '--json'], { env: environment });
      servers.push(server);
      server.stderr.on('data', (text: Buffer) => said.push(String(text)));
      const { value } = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
      said.push(String(value));
      return (JSON.parse(String(value)) as { url: string }).url;
    }

    it('commands read and write it', () => {
      expect(salience('spaces')).toMatchObject({
        status: 0,
        stdout: '',
        stderr: 'no spaces in the store of SALIENCE_STORE\n',
      });
      expect(salience('remember', 'Prefers dark roast coffee', '--id', 'a').status).toBe(0);
      expect(salience('recall', 'coffee').stdout).toContain('dark roast');
      expect(salience('spaces').stdout).toBe('default\n');
      expect(salience('recall', 'coffee', '--space', 'typo')).toMatchObject({ stdout: '' });
      const report = salience('doctor', '--json');
      expect(JSON.parse(report.stdout)).toMatchObject({ store: { state: 'shared' }, problems: [] });
      expect(salience('forget', 'a', '--yes').status).toBe(0);
      expect(salience('list').stdout).not.toContain('dark roast');
    });

    it('copies spaces there and back, migrates, and erases', () => {
      const path = mkdtempSync(join(tmpdir(), 'salience-copy-'));
      try {
        const local = ['--path', join(path, 'one'), '--space', 'moved'];
        const here = { ...environment };
        for (const name of ['SALIENCE_STORE', 'SALIENCE_STORE_FILE']) delete here[name];
        const { status } = spawnSync(
          process.execPath,
          [main, 'remember', 'Lives by the harbour', '--id', 'h', ...local],
          { env: here },
        );
        expect(status).toBe(0);
        const copy = (...args: readonly string[]) => salience('copy', ...args);
        expect(copy('--from', join(path, 'one'), '--to', 'env:SALIENCE_STORE')).toMatchObject({
          status: 0,
          stdout: 'copied moved: 1 memory, 1 event, 0 uses; counts and checksums are the same\n',
        });
        expect(salience('recall', 'harbour', '--space', 'moved').stdout).toContain('Lives by the harbour');
        const back = copy('--from', 'env:SALIENCE_STORE', '--to', join(path, 'two'), 'moved', '--json');
        expect(JSON.parse(back.stdout)).toMatchObject([{ space: 'moved', rows: { memory: 1 } }]);
        expect(copy('--from', join(path, 'two'), '--to', 'env:SALIENCE_STORE').stderr).toContain('exists');
        expect(copy('--from', path, '--to', 'env:NOT_SET').stderr).toContain('NOT_SET is not set');
        expect(salience('migrate').stdout).toMatch(/^the schema is of version \d+ already\n$/);
        expect(salience('erase').status).toBe(2);
        expect(salience('erase', '--yes').stdout).toMatch(/^rewrote \d+ tables: /);
        expect(salience('spaces', 'delete', 'moved', '--yes').status).toBe(0);
      } finally {
        rmSync(path, { recursive: true, force: true });
      }
    });

    it('an import is tried on a copy', () => {
      expect(salience('remember', 'Likes tea', '--id', 'tried', '--space', 'tried').status).toBe(0);
      const directory = mkdtempSync(join(tmpdir(), 'salience-tried-'));
      try {
        const file = join(directory, 'new.jsonl');
        writeFileSync(file, '{"id":"tried","content":"Likes tea"}\n{"id":"new","content":"Has a cat"}\n');
        expect(salience('import', file, '--dry-run', '--space', 'tried')).toMatchObject({
          status: 0,
          stdout: expect.stringMatching(
            /^dry run, nothing was changed: would have imported 1 memory, 1 already there\n.*Has a cat\n$/s,
          ),
        });
        expect(salience('list', '--space', 'tried').stdout).not.toContain('cat');
        expect(salience('spaces', 'delete', 'tried', '--yes').status).toBe(0);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    });

    it('two stores are one too many', () => {
      expect(salience('spaces', '--path', './files').stderr).toContain('leave one of them out');
    });

    it('two servers behave as one: tokens, their revocation, and what is remembered', async () => {
      const { token, id } = JSON.parse(salience('token', 'create', '--space', 'team', '--json').stdout) as {
        token: string;
        id: string;
      };
      const [one, two] = [await serve(), await serve()];
      const ask = (url: string, path: string, body?: object, headers: Record<string, string> = {}) =>
        fetch(`${url}${path}`, {
          method: body ? 'POST' : 'GET',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
          ...(body ? { body: JSON.stringify(body) } : {}),
        });
      for (const url of [one, two]) expect((await fetch(`${url}/readyz`)).status).toBe(200);
      for (let index = 0; index < 10; index++) {
        const [writer, reader] = index % 2 ? [one, two] : [two, one];
        const content = `statement ${index} about harbour${index}`;
        expect((await ask(writer, '/v1/memories', { content })).status).toBeLessThan(300);
        const found = await ask(reader, '/v1/recall', {
          query: `harbour${index}`,
          strategy: 'bm25',
          limit: 1,
        });
        expect(await found.text()).toContain(content);
      }
      const key = { 'idempotency-key': 'once' };
      const content = 'Said once, sent to both';
      const [first, second] = await Promise.all(
        [one, two].map((url) => ask(url, '/v1/memories', { content }, key)),
      );
      expect([first?.status, await first?.text()]).toEqual([second?.status, await second?.text()]);
      expect([first, second].filter((each) => each?.headers.get('idempotency-replayed'))).toHaveLength(1);
      expect((await ask(one, '/v1/memories', { content: 'another' }, key)).status).toBe(422);
      expect(salience('token', 'revoke', id).status).toBe(0);
      for (const url of [one, two]) expect((await ask(url, '/v1/recall', { query: 'x' })).status).toBe(401);
    });
  },
);
