// The latency of the inspector as a user sees it: from opening its address, moving a slider or stepping to another
// moment until the answer is painted. Measured in a browser, with a server and a store on this machine.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { startServer } from '../dist/http/index.js';
import { openSpaces } from '../dist/index.js';
import { makeMemories, makeQueries } from './data.mjs';
import { summary } from './measure.mjs';

const VIEWS = 15;
const QUERIES = 12;
const MOVES = 15;
const MOMENTS = 12;
const BUILT = fileURLToPath(new URL('../dist/inspector/', import.meta.url));

export async function benchInspector(size, log) {
  const executablePath = process.env.SALIENCE_CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    throw new Error(`there is no ${executablePath}: install chromium, or set SALIENCE_CHROMIUM`);
  const directory = mkdtempSync(join(tmpdir(), 'salience-bench-'));
  const spaces = openSpaces({ path: directory, synchronous: 'normal' });
  await fill(await spaces.get('bench'), size);
  const server = await startServer({ spaces, tokens: { authenticate: async () => undefined }, port: 0 });
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
  try {
    const results = {
      memories: size,
      browser: `Chromium ${browser.version()}`,
      firstView: summary(await timeViews(browser, server)),
      slider: await timeSliders(browser, server),
      moments: await timeMoments(browser, server),
      gzippedBytes: weigh(),
    };
    for (const [name, values] of Object.entries(results)) log(name, values);
    return results;
  } finally {
    await browser.close();
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A year of memories, and as many changes of today as there are moments to go back to. */
async function fill(memory, size) {
  const all = makeMemories(size, Date.now());
  for (let from = 0; from < size; from += 1000) await memory.rememberMany(all.slice(from, from + 1000));
  await memory.configure({ recordRecalls: { days: 30, texts: true } });
  for (let at = 0; at < MOMENTS; at++)
    await memory.update(`m${at}`, { content: `${all[at].content} changed` });
  await memory.recall('the first recall loads the index');
}

/** A fresh profile each time, from the address until the first view shows what it asked for. */
async function timeViews(browser, server) {
  const times = [];
  for (let run = 0; run <= VIEWS; run++) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(server.inspectorUrl({ space: 'bench' }), { waitUntil: 'commit' });
    await page.waitForFunction(shown);
    const milliseconds = await page.evaluate(() => performance.now());
    if (run > 0) times.push(milliseconds);
    await page.close();
  }
  return times;
}

/** From the event of the slider until the frame with the new order is painted, and until the exact answer is. */
async function timeSliders(browser, server) {
  const page = await signedIn(browser, server);
  const toPaint = [];
  const toAnswer = [];
  for (const query of makeQueries(QUERIES, 5)) {
    await go(page, `#/recall?q=${encodeURIComponent(query)}`);
    if ((await page.locator('.hit').count()) < 5) throw new Error(`too few hits for ${query}`);
    await page.evaluate(() => {
      globalThis.measured = [];
      const afterPaint = (then) =>
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = then;
          port2.postMessage(0);
        });
      globalThis.onInput ??= (event) => {
        if (event.target.type !== 'range') return;
        const entry = {};
        const before = document.querySelector('.hits').textContent;
        measured.push(entry);
        afterPaint(() => {
          entry.paint = performance.now() - event.timeStamp;
          entry.isChanged = document.querySelector('.hits').textContent !== before;
          const look = () => {
            if (document.querySelector('.hits.preview')) return afterPaint(look);
            entry.answer = performance.now() - event.timeStamp;
          };
          look();
        });
      };
      document.addEventListener('input', onInput, true);
    });
    await page.locator('.controls input[type=range]').first().focus();
    for (let move = 0; move < MOVES; move++) {
      await page.keyboard.press(move % 5 === 4 ? 'ArrowLeft' : 'ArrowRight');
      await page.waitForFunction((count) => measured.length === count && measured.at(-1).answer, move + 1);
    }
    const measured = await page.evaluate(() => globalThis.measured);
    if (!measured.every(({ isChanged }) => isChanged)) throw new Error('a frame showed the old scores');
    toPaint.push(...measured.map(({ paint }) => paint));
    toAnswer.push(...measured.map(({ answer }) => answer));
  }
  await page.close();
  return { toPaint: summary(toPaint), toAnswer: summary(toAnswer) };
}

/**
 * Measures from the press of a button until the answer as of that moment is painted, for new and for repeated moments.
 */
async function timeMoments(browser, server) {
  const page = await signedIn(browser, server);
  const [query] = makeQueries(1, 6);
  await go(page, `#/time?q=${encodeURIComponent(query)}`);
  const step = async (name) => {
    await page.evaluate(() => {
      globalThis.stepped = undefined;
      performance.setResourceTimingBufferSize(100_000);
      const answers = () =>
        performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/v1/recall')).length;
      const before = answers();
      document.addEventListener(
        'click',
        (event) => {
          const look = () =>
            requestAnimationFrame(() => {
              const { port1, port2 } = new MessageChannel();
              port1.onmessage = () => {
                if (answers() === before || document.querySelector('#main [aria-busy="true"]')) look();
                else globalThis.stepped = performance.now() - event.timeStamp;
              };
              port2.postMessage(0);
            });
          look();
        },
        { capture: true, once: true },
      );
    });
    await page.getByRole('button', { name }).click();
    await page.waitForFunction(() => globalThis.stepped !== undefined);
    return page.evaluate(() => {
      const asked = performance
        .getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('/v1/recall'));
      return { toPaint: globalThis.stepped, request: asked.at(-1).duration };
    });
  };
  const first = [];
  const again = [];
  for (let at = 0; at < MOMENTS - 1; at++) {
    first.push(await step('One write back'));
    if (at === 0) continue;
    await step('One write on');
    again.push(await step('One write back'));
  }
  await page.close();
  const of = (steps) => ({
    toPaint: summary(steps.map(({ toPaint }) => toPaint)),
    request: summary(steps.map(({ request }) => request)),
  });
  return { first: of(first), seenAgain: of(again) };
}

async function signedIn(browser, server) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(server.inspectorUrl({ space: 'bench' }));
  await page.waitForFunction(shown);
  return page;
}

async function go(page, hash) {
  await page.evaluate((next) => {
    location.hash = next;
  }, hash);
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(shown);
}

/** In the page: whether a view stands there with all that it asked for. */
function shown() {
  return (
    document.querySelector('#main h1') !== null && !document.querySelector('.loading, [aria-busy="true"]')
  );
}

/** Of all files, as they are sent. */
function weigh() {
  return readdirSync(BUILT).reduce((sum, name) => sum + gzipSync(readFileSync(join(BUILT, name))).length, 0);
}
