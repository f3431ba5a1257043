import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorkplace } from '../cli/cli.ts';
import { blocksOf, fencesOf, normalise } from '../cli/guide.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from '../postgres/server.ts';
import { root } from './public-surface.ts';

/**
 * Follows each tutorial like a reader, in an empty folder: saves each code block that begins with a file name, runs each
 * command, and compares its output. `UPDATE_GUIDES=1` writes the current output into the pages.
 */
const updating = process.env['UPDATE_GUIDES'] === '1';
const folder = join(root, 'docs', 'tutorials');
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map((file) => file.replace('.md', ''));

/** A language model that knows only what its prompt says. */
const model = createServer(async (request, response) => {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly content: string }[] };
  const prompt = messages.map(({ content }) => content).join('\n');
  const isQuestion = messages.at(-1)?.content.includes('?');
  const content = !isQuestion
    ? 'Noted.'
    : prompt.includes('dark roast')
      ? 'Dark roast, without sugar.'
      : 'I do not know that yet.';
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
});
let modelUrl = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  modelUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
});
afterAll(() => model.close());

async function follow(name: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const path = join(folder, `${name}.md`);
  let page = readFileSync(path, 'utf8');
  using work = createWorkplace();
  // Links the package, and the packages that the tutorials install.
  const modules = join(work.directory, 'node_modules');
  mkdirSync(modules);
  symlinkSync(root, join(modules, 'salience'), 'dir');
  for (const scope of ['@langchain', '@modelcontextprotocol']) {
    symlinkSync(join(root, 'node_modules', scope), join(modules, scope), 'dir');
  }
  symlinkSync(join(root, 'node_modules', 'pg'), join(modules, 'pg'), 'dir');
  const fences = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(({ index, 1: text = '' }) => {
    const file = /^\/\/ (\S+\.mjs)\n/.exec(text)?.[1];
    expect(file, text).toBeDefined();
    return { index, run: async () => writeFileSync(join(work.directory, file as string), text) };
  });
  const shells = blocksOf(page).map(({ text, commands, output }) => ({
    index: page.indexOf(text),
    run: async () => {
      const { stdout } = await work.shell(`exec 2>&1\n${commands}`, {
        env: { MODEL_URL: modelUrl, SALIENCE_PATH: undefined, ...env },
      });
      const dateless = (text: string) => normalise(text).replace(/\d{4}-\d\d-\d\d/g, 'DATE');
      if (!updating) expect(dateless(stdout), commands).toBe(dateless(output));
      page = page.replace(text, () => fencesOf(commands, stdout));
    },
  }));
  const inOrder = [...fences, ...shells].sort((a, b) => a.index - b.index);
  expect(inOrder.length).toBeGreaterThan(1);
  for (const { run } of inOrder) await run();
  if (updating) writeFileSync(path, page);
}

describe('the tutorials', () => {
  it('are all listed in README.md', () => {
    const list = readFileSync(join(folder, 'README.md'), 'utf8');
    expect(names).toHaveLength(5);
    for (const name of names) expect(list).toContain(`(${name}.md)`);
  });

  it.each(names)('%s does what it says', async (name) => {
    await follow(name);
  });

  it.skipIf(SERVER === undefined)(`server does the same on PostgreSQL (${WITHOUT_SERVER})`, async () => {
    await using schema = freshSchema();
    await follow('server', { SALIENCE_STORE: schema.url, SALIENCE_STORE_SCHEMA: schema.schema });
  });
});
