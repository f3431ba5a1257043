// A flame graph of recalls, as a picture that needs nothing else: `node bench/flame.mjs OUT.svg [--build FOLDER] [--size N]`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeMemories, makeQueries } from './data.mjs';

const now = Date.UTC(2026, 0, 1);
const args = process.argv.slice(2);
const after = (flag, otherwise) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : otherwise);
const size = Number(after('--size', '100000'));
const build = pathToFileURL(resolve(after('--build', 'build'), 'index.js')).href;
const WIDTH = 1200;
const ROW = 17;
/** Narrower than this, in pixels, nothing can be read. */
const NARROWEST = 1;

const { openMemory } = await import(build);
const directory = mkdtempSync(join(tmpdir(), 'salience-flame-'));
try {
  const store = { path: directory, space: 'bench', clock: () => now };
  const writing = await openMemory(store);
  const memories = makeMemories(size, now);
  for (let at = 0; at < size; at += 1000) await writing.rememberMany(memories.slice(at, at + 1000));
  await writing.close();
  const memory = await openMemory({ ...store, readOnly: true });
  const queries = makeQueries(300);
  const recall = (query) => memory.recall(query, { track: false });
  for (const query of queries.slice(0, 100)) await recall(query);
  const profile = await profiled(async () => {
    for (const query of queries.slice(100)) await recall(query);
  });
  await memory.close();
  const title = `hybrid recalls over ${size.toLocaleString('en')} memories, Node.js ${process.version}`;
  writeFileSync(args[0], draw(merge(profile), title));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function profiled(work) {
  const session = new Session();
  session.connect();
  const post = (method, params) =>
    new Promise((done, fail) =>
      session.post(method, params, (error, result) => (error ? fail(error) : done(result))),
    );
  await post('Profiler.enable');
  await post('Profiler.setSamplingInterval', { interval: 200 });
  await post('Profiler.start');
  await work();
  const { profile } = await post('Profiler.stop');
  return profile;
}

/** Calls of the same functions, one below the other, with the samples that fell into them. */
function merge({ nodes }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const add = (into, node) => {
    const { functionName, url, lineNumber } = node.callFrame;
    if (functionName === '(idle)') return;
    const file = url.split('/').slice(-2).join('/');
    const name = functionName || (file ? `(anonymous, ${file}:${lineNumber + 1})` : '(anonymous)');
    const key = `${name} ${file}`;
    let found = into.children.get(key);
    if (!found) {
      found = { name, file, own: 0, total: 0, children: new Map() };
      into.children.set(key, found);
    }
    found.own += node.hitCount ?? 0;
    for (const child of node.children ?? []) add(found, byId.get(child));
  };
  const root = { name: 'recall', file: '', own: 0, total: 0, children: new Map() };
  for (const child of nodes[0].children ?? []) add(root, byId.get(child));
  const sum = (node) => {
    node.total = node.own;
    for (const child of node.children.values()) node.total += sum(child);
    return node.total;
  };
  sum(root);
  return root;
}

function draw(root, title) {
  const boxes = [];
  let deepest = 0;
  const place = (node, left, depth) => {
    const width = (node.total / root.total) * WIDTH;
    if (width < NARROWEST) return;
    deepest = Math.max(deepest, depth);
    boxes.push({ node, left, width, depth });
    let at = left;
    const children = [...node.children.values()].sort((a, b) => b.total - a.total);
    for (const child of children) {
      place(child, at, depth + 1);
      at += (child.total / root.total) * WIDTH;
    }
  };
  place(root, 0, 0);
  const height = (deepest + 2) * ROW + 12;
  const rects = boxes.map(({ node, left, width, depth }) => {
    const share = `${((100 * node.total) / root.total).toFixed(1)} %`;
    const label = width > 40 ? escapeText(node.name).slice(0, Math.floor(width / 6.6)) : '';
    const hue = 20 + (hash(node.file) % 40);
    const y = (depth + 1) * ROW + 8;
    return `<g><title>${escapeText(`${node.name} ${node.file}`)}: ${share}</title><rect x="${left.toFixed(1)}" y="${y}" width="${Math.max(0.3, width - 0.5).toFixed(1)}" height="${ROW - 1}" rx="1" fill="hsl(${hue} 85% 62%)"/>${label ? `<text x="${(left + 3).toFixed(1)}" y="${y + 12}">${label}</text>` : ''}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="11"><title>${escapeText(title)}</title><rect width="100%" height="100%" fill="#fff"/><text x="3" y="15">${escapeText(title)}</text>${rects.join('')}</svg>\n`;
}

function escapeText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function hash(text) {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + character.charCodeAt(0)) >>> 0;
  return sum;
}
