// Runs the examples of doc comments that test/docs/doc-examples.test.ts has written into the folder it is started in,
// one after the other, each in a folder of its own with the same memories, and prints what each failed with as JSON.
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { openMemory, openSpaces } from 'salience';
import { openTokenStore, startServer } from 'salience/http';
import { openMem } from 'salience/mem';

const folder = process.cwd();
const clock = () => Date.parse('2026-04-20T09:00:00Z');
const open = () => openMemory({ path: './memory', space: 'alice', clock, synchronous: 'normal' });

async function prepare() {
  const memory = await open();
  await memory.rememberMany([
    { content: 'Drinks two cups of coffee a day', tags: ['coffee'] },
    { content: 'Never deploy on a Friday', type: 'rule', scope: 'project:website', importance: 0.9 },
    { content: 'The draft of the talk is in the wiki', tags: ['draft'] },
    { content: 'Voucher for the café', type: 'plan', ttl: '7d' },
  ]);
  await memory.remember('Ann prefers dark roast coffee', { type: 'preference' });
  await memory.remember('Ann prefers light roast coffee', { type: 'preference' });
  const memories = ['red house', 'green tree'].map((content, index) => ({
    ...{ kind: 'memory', space: 's', id: `m${index}`, content, createdAt: '2026-01-01T00:00:00Z' },
  }));
  const query = {
    kind: 'query',
    space: 's',
    id: 'q',
    query: 'a tree',
    now: '2026-02-01T00:00:00Z',
    type: 'fact',
  };
  const lines = [
    ...memories,
    { ...query, relevant: ['m1'] },
    { ...query, id: 'q2', query: 'a house', relevant: ['m0'] },
  ];
  writeFileSync('questions.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await memory.close();
}

async function run(file) {
  const own = join(folder, `in-${file}`);
  cpSync(join(folder, 'prepared'), own, { recursive: true });
  process.chdir(own);
  const { example, needs } = await import(pathToFileURL(join(folder, file)).href);
  const memory = needs.includes('memory') ? await open() : undefined;
  const mem = needs.includes('mem') ? openMem({ path: './observations', clock }) : undefined;
  try {
    await example(memory, mem);
  } finally {
    await mem?.close();
    await memory?.close();
  }
}

/**
 * Throws unless what an example prints, or what a call in it gives, is what the comment after it shows. Words may follow
 * a colon, and numbers may be rounded.
 */
globalThis.shows = (comment, ...values) => {
  const shown = format(...values);
  const decimals = /^-?\d+\.(\d+)/.exec(comment)?.[1].length;
  const rounded = decimals && typeof values[0] === 'number' ? values[0].toFixed(decimals) : shown;
  if (comment === rounded || comment.startsWith(`${rounded}: `)) return;
  throw new Error(`it shows ${shown}, and its comment ${comment}`);
};

/** A server over the prepared memories, for the examples of its client. */
async function serve() {
  const tokens = openTokenStore(join(folder, 'tokens'));
  const { token } = await tokens.create({ space: 'alice' }, clock());
  const spaces = openSpaces({ path: join(folder, 'prepared', 'memory') });
  const server = await startServer({ spaces, tokens, port: 0 });
  process.env.SALIENCE_URL = server.url;
  process.env.SALIENCE_TOKEN = token;
  return server;
}

const print = console.log;
console.log = console.error = () => {};
const failures = {};
mkdirSync(join(folder, 'prepared'));
process.chdir(join(folder, 'prepared'));
await prepare();
// Its agents have a model from now on.
await import(pathToFileURL(join(folder, 'node_modules', '@openai', 'agents', 'index.js')).href);
const server = await serve();
for (const file of readdirSync(folder).filter((name) => /^\d+\.mjs$/.test(name))) {
  try {
    await run(file);
  } catch (error) {
    failures[file] = String(error?.stack ?? error);
  }
}
await server.close();
print(JSON.stringify(failures));
