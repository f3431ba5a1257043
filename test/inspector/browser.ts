import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { browserOfTests } from '../../scripts/chromium.mjs';
import { fillDemo } from '../../src/cli/demo-memory.ts';
import { type Grant, type NewToken, type RunningServer, startServer } from '../../src/http/index.ts';
import { type MemoryEngine, openSpaces, type SpacesOptions } from '../../src/index.ts';

const executable = browserOfTests();
const built = new URL('../../dist/inspector/index.html', import.meta.url);

/** Why there are no tests in a browser here; `undefined` where there are. */
const missing =
  process.env['SALIENCE_BROWSER_TESTS'] !== 'on'
    ? 'node scripts/test-inspector.mjs runs it'
    : !existsSync(executable)
      ? `there is no ${executable}: node scripts/test-inspector.mjs --install installs it`
      : !existsSync(built)
        ? 'the inspector is not built: ./run setup builds it'
        : undefined;

/** What tests in a browser get. */
export interface BrowserTests {
  /** A server of its own, with a real store. */
  inspect(options?: InspectOptions): Promise<Inspected>;
  /** A fresh profile, with no page. */
  newContext(): Promise<BrowserContext>;
}

/**
 * Tests that need a browser, one for all of them; skipped, with the reason in their title, where there is none.
 */
export function describeInBrowser(title: string, tests: (browser: BrowserTests) => void): void {
  describe.skipIf(missing)(missing === undefined ? title : `${title} (skipped: ${missing})`, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launch();
    });
    afterAll(() => browser.close());
    tests({
      inspect: (options) => inspect(browser, options),
      newContext: () => newContext(browser),
    });
  });
}

/** One demo for all tests of a block, which change nothing that another one reads. */
export function shareDemo({ inspect }: BrowserTests): Omit<Inspected, typeof Symbol.asyncDispose> {
  let demo: Inspected;
  beforeAll(async () => {
    demo = await inspect();
  });
  afterAll(() => demo[Symbol.asyncDispose]());
  return {
    get directory() {
      return demo.directory;
    },
    get server() {
      return demo.server;
    },
    get memory() {
      return demo.memory;
    },
    open: (options) => demo.open(options),
  };
}

/** Something that happens no earlier than a test lets it. */
export function held(): { readonly until: Promise<void>; readonly release: () => void } {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { until, release };
}

/** What a server answers that failed with this message, for `route.fulfill`. */
export function failure(detail: string, code = 'internal', status = 500) {
  return {
    status,
    contentType: 'application/problem+json',
    body: JSON.stringify({ code, detail, details: {} }),
  };
}

/** A port for a server that is gone for a while: none of those that the system gives to whoever asks for any. */
export async function freePort(): Promise<number> {
  for (let port = 20_000 + (process.pid % 5000); ; port++) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    server.close();
    if (isFree) return port;
  }
}

/** Expects of a page what it shows in the end, however busy the machine is. */
export function eventually<Value>(look: () => Promise<Value>) {
  return expect.poll(look, { timeout: 60_000 });
}

async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: executable,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      // Fewer processes: a page opens in three quarters of the time.
      '--in-process-gpu',
      '--renderer-process-limit=1',
      '--disable-site-isolation-trials',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

async function newContext(browser: Browser, options?: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(60_000);
  await context.addInitScript(countRequests);
  return context;
}

interface Counting {
  /** Requests whose answers the page has not read to their end. */
  underWay?: number;
}

/** Runs in the page, before it does. What waits for something to happen is not counted. */
function countRequests(): void {
  const page = globalThis as Counting;
  const ask = globalThis.fetch;
  page.underWay = 0;
  const count = (step: number) => {
    page.underWay = (page.underWay ?? 0) + step;
  };
  globalThis.fetch = async (input, init) => {
    if (/[?&]wait=/.test(input instanceof Request ? input.url : String(input))) return ask(input, init);
    count(1);
    try {
      const response = await ask(input, init);
      const read = response.clone().arrayBuffer();
      read.catch(() => undefined).then(() => count(-1));
      return response;
    } catch (error) {
      count(-1);
      throw error;
    }
  };
}

export interface Inspected extends AsyncDisposable {
  readonly directory: string;
  readonly server: RunningServer;
  readonly memory: MemoryEngine;
  /** A page of a fresh profile, signed in unless the rights are `none`. */
  open(options?: OpenOptions): Promise<OpenPage>;
}

export interface OpenOptions extends BrowserContextOptions {
  readonly rights?: NewToken['rights'] | 'none';
  /** Where it goes after it has signed in. */
  readonly at?: string;
}

export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the console, exceptions, and reports of the policy. */
  readonly complaints: readonly string[];
  /** Goes to a view, and waits until it shows what it asks for. */
  go(hash: string): Promise<void>;
}

interface InspectOptions {
  readonly fill?: ((memory: MemoryEngine) => Promise<unknown>) | undefined;
  /** Strategies of its own. */
  readonly profiles?: SpacesOptions['profiles'];
  readonly port?: number | undefined;
  readonly directory?: string | undefined;
  /** Those that administrators see. */
  readonly tokens?: readonly Grant[] | undefined;
}

const TOKENS: readonly Grant[] = [
  {
    id: '0123456789abcdef',
    name: 'laptop of Ann',
    space: 'demo',
    rights: 'write',
    createdAt: '2026-02-03T10:00:00.000Z',
  },
  {
    id: 'fedcba9876543210',
    name: 'shop agent',
    space: 'demo',
    scopes: ['project:shop', 'team:sales'],
    rights: 'read',
    createdAt: '2026-05-06T10:00:00.000Z',
  },
  {
    id: '00112233445566aa',
    name: 'operator',
    space: 'demo',
    rights: 'admin',
    createdAt: '2026-01-01T00:00:00Z',
  },
];

/** A server on a free port with a real store: the demo, or what `fill` puts there. */
async function inspect(browser: Browser, options: InspectOptions = {}): Promise<Inspected> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'salience-inspector-'));
  const demo = { now: Date.now() };
  let filled = false;
  const spaces = openSpaces({
    path: directory,
    synchronous: 'normal',
    clock: () => (filled ? Date.now() : demo.now),
    profiles: options.profiles,
    ...(options.fill ? { embedder: 'none' as const } : {}),
  });
  const memory = await spaces.get('demo');
  await (options.fill ? options.fill(memory) : fillDemo(memory, demo));
  filled = true;
  const server = await startServer({
    spaces,
    tokens: { authenticate: async () => undefined, list: async () => options.tokens ?? TOKENS },
    port: options.port ?? 0,
  });
  return {
    directory,
    server,
    memory,
    open: (given) => open(browser, server, given),
    async [Symbol.asyncDispose]() {
      await server.close();
      if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function open(
  browser: Browser,
  server: RunningServer,
  { rights = 'write', at, ...options }: OpenOptions = {},
): Promise<OpenPage> {
  const context = await newContext(browser, { viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // What the server answers with an error is told by the page; the browser notes it too.
    if (/^Failed to load resource: the server responded/.test(message.text())) return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
      console.error(`policy: ${violatedDirective} ${blockedURI} ${sample}`);
    });
  });
  const go = async (hash: string) => {
    await page.evaluate(
      (next) =>
        new Promise<void>((resolve) => {
          const before = location.href;
          addEventListener('hashchange', () => resolve(), { once: true });
          location.hash = next;
          if (location.href === before) resolve();
        }),
      hash,
    );
    await settled(page);
  };
  await page.goto(
    rights === 'none'
      ? `${server.url}/inspector/`
      : server.inspectorUrl({ space: 'demo', rights, everySpace: rights === 'admin' }),
  );
  await settled(page);
  if (at !== undefined) await go(at);
  return { page, context, complaints, go, [Symbol.asyncDispose]: () => context.close() };
}

/**
 * Until a view is shown and nothing is on its way: no request, no bar of a view that loads, and nothing that an event of
 * before, an answer or the end of a frame still changes.
 */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const isQuiet = () =>
      document.querySelector('h1') !== null &&
      document.querySelector('.loading, [aria-busy="true"]') === null &&
      (globalThis as Counting).underWay === 0;
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    for (let quiet = 0; quiet < 4; quiet = isQuiet() ? quiet + 1 : 0) await frame();
  });
}

/** What is copied in a form, and not what was copied before. */
export async function copyAs(page: Page, form: string): Promise<string> {
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.getByRole('button', { name: 'Copy as' }).last().click();
  await page.getByRole('button', { name: form, exact: true }).click();
  await eventually(copied).not.toBe('');
  await page.getByText(`Copied as ${form}.`).first().waitFor();
  return copied();
}

/** What sticks out of the page sideways: nothing should. */
export async function overflowing(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const wide = [...document.querySelectorAll('#app *')].filter(
      (each) => each.getBoundingClientRect().right > innerWidth + 1,
    );
    return wide.slice(-3).map(({ outerHTML }) => outerHTML.slice(0, 200));
  });
}

/** Writes a picture for people to look at, where SALIENCE_PICTURES names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SALIENCE_PICTURES'];
  if (folder === undefined || folder === '') return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
