import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSpaces } from 'salience';
import { openTokenStore, startServer } from 'salience/http';
import { describe, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from '../cli/cli.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from '../postgres/server.ts';
import { problemsOf, toJavaScript } from './compile.ts';
import { blocksOfPage, commandsOf } from './page-blocks.ts';
import { installIn } from './stand-ins.ts';

/** Runs the code and commands of the guides that need a server, in order. */

/** The commands that are not run, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm install pg': 'it fetches a package',
  'createdb memories': 'the test makes a database of its own',
  'export SALIENCE_STORE=postgresql://localhost:5432/memories': 'the test names its own database',
  'export SALIENCE_STORE=postgresql://app@db.example:5432/memories': 'the test names its own database',
  'salience serve': 'it serves until it is ended; test/cli/serve.test.ts starts it',
  'salience serve --allow-host memory.example --allow-origin https://app.example':
    'it serves until it is ended; test/cli/serve.test.ts starts it',
  'salience token revoke 3f0c29a1b47d5e68': 'there is no such token',
  'openssl rand -hex 24 > deploy/postgres-password': 'it is of a checkout, for containers',
  'echo "postgresql://salience:$(cat deploy/postgres-password)@postgres:5432/memories" > deploy/store-url':
    'it is of a checkout, for containers',
  'docker compose -f deploy/compose.yaml up': 'it needs a machine that runs containers',
};

const GIVEN = `declare const process: { readonly env: Readonly<Record<string, string>> };
`;

async function follow(
  page: string,
  work: Workplace,
  env: NodeJS.ProcessEnv,
  present: (text: string) => string,
): Promise<void> {
  installIn(work.directory, ['pg', 'zod']);
  const ran: string[] = [];
  for (const { title, language, text } of blocksOfPage(page)) {
    if (language === 'ts') {
      const code = present(text);
      const problems = problemsOf(new Map([['block.ts', `${GIVEN}${code}\nexport {};\n`]]));
      expect(problems.get('block.ts'), title).toEqual([]);
      const folder = mkdtempSync(join(work.directory, 'block-'));
      writeFileSync(join(folder, 'block.mjs'), toJavaScript(`${code}\nexport {};\n`));
      await succeed(work, `cd ${folder} && node block.mjs`, env);
      ran.push(title);
    } else if (language === 'sh') {
      for (const command of commandsOf(text)) {
        if (command in NOT_RUN) continue;
        await succeed(work, present(command), env);
        ran.push(command);
      }
    }
  }
  expect(ran.length).toBeGreaterThan(3);
}

async function succeed(work: Workplace, command: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { code, stdout, stderr } = await work.shell(command, { env });
  expect({ code, stderr: code === 0 ? '' : stderr, stdout: code === 0 ? '' : stdout }, command).toEqual({
    code: 0,
    stderr: '',
    stdout: '',
  });
}

describe('guides that need a server', () => {
  it('contain every command that is listed as not run', () => {
    const commands = ['docs/guides/postgres.md', 'docs/guides/server.md']
      .flatMap((page) => blocksOfPage(page))
      .flatMap(({ language, text }) => (language === 'sh' ? commandsOf(text) : []));
    expect(Object.keys(NOT_RUN).filter((command) => !commands.includes(command))).toEqual([]);
  });

  it('server.md does what it says', async () => {
    using work = createWorkplace();
    const path = join(work.directory, 'memory');
    const tokens = openTokenStore(join(path, 'tokens'));
    const { token } = await tokens.create({ space: 'default' }, Date.UTC(2026, 0, 1));
    await using server = await startServer({ tokens, spaces: openSpaces({ path }), port: 0 });
    await follow('docs/guides/server.md', work, { TOKEN: token }, (text) =>
      text
        // With --fail, an error of the server fails the command too.
        .replace(/^curl /, 'curl --fail --silent --output answer ')
        .replaceAll('http://127.0.0.1:7411', server.url)
        .replace(', token }', ", token: process.env['TOKEN'] ?? '' }")
        .replace('startServer({', 'startServer({ port: 0,'),
    );
    expect(JSON.parse(readFileSync(join(work.directory, 'answer'), 'utf8'))).toMatchObject({
      hits: [{ memory: { content: 'Prefers dark roast' } }],
    });
  });

  it.skipIf(SERVER === undefined)(
    `postgres.md does what it says (${WITHOUT_SERVER})`,
    async () => {
      using work = createWorkplace();
      await using fresh = freshSchema();
      const database = `guide_${randomBytes(6).toString('hex')}`;
      await fresh.script(`CREATE DATABASE ${database}`);
      try {
        const url = new URL(fresh.url);
        url.pathname = `/${database}`;
        await succeed(work, "salience remember 'Plays the cello' --space bob", {});
        await follow(
          'docs/guides/postgres.md',
          work,
          { SALIENCE_STORE: String(url), SALIENCE_PATH: '' },
          (text) => text.replace('process.env.SALIENCE_STORE', "process.env['SALIENCE_STORE']"),
        );
      } finally {
        await fresh.script(`DROP DATABASE ${database} WITH (FORCE)`);
      }
    },
    120_000,
  );
});
