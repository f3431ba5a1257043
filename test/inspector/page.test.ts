import axe from 'axe-core';
import { expect, it } from 'vitest';
import { VIEWS } from '../../web/views.ts';
import { describeInBrowser, overflowing, picture, settled, shareDemo } from './browser.ts';
import { fillHostile } from './hostile.ts';

/** Every view, and what it shows of something that is opened. */
const PLACES: readonly (readonly [string, string])[] = [
  ...VIEWS.map(({ name }) => [name, `#/${name}`] as const),
  ['recall-hits', '#/recall?q=coffee'],
  ['recall-side-by-side', '#/recall?q=coffee&tab=compare'],
  ['recall-why-not', '#/recall?q=coffee&limit=1&tab=why-not&whyNot=mail'],
  ['recall-trace', '#/recall?q=coffee&tab=trace'],
  ['recall-labels', '#/recall?q=coffee&tab=labels'],
  ['recall-formula', '#/recall?tab=formula'],
  ['replay', '#/asked/4'],
  ['memory', '#/memories/label'],
  ['missing-memory', '#/memories/there-is-none'],
  ['context-question', '#/context?q=coffee&budget=300'],
  ['context-pinned', '#/context?for=turn'],
  ['graph-entity', '#/graph/ann'],
  ['graph-links', '#/graph/probat?depth=1'],
  ['time-question', '#/time?q=coffee&valid=2026-12-24T12:00:00.000Z'],
];

describeInBrowser('the inspector', (browser) => {
  const demo = shareDemo(browser);

  it('takes the code out of the address before anything else is loaded', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const seen: string[] = [];
    page.on('request', () => seen.push(page.url()));
    const requests: string[] = [];
    page.on('request', (request) => requests.push(`${request.url()} ${request.headers()['referer'] ?? ''}`));
    const url = demo.server.inspectorUrl({ space: 'demo' });
    await page.goto(url);
    await settled(page);
    expect(page.url()).not.toContain('code');
    const code = url.slice(url.indexOf('#code=') + 6);
    expect(requests.join('\n')).not.toContain(code);
    // Of what the page loaded after its first module, nothing was loaded while the code stood in the address.
    const loadedLater = await page.evaluate(() => performance.getEntriesByType('resource').length);
    expect(loadedLater).toBeGreaterThan(3);
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
    expect(await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage }))).not.toContain(
      'inspector_',
    );
    await context.close();
  });

  it('says that a code was used, and takes no copied address for a credential', async () => {
    const url = demo.server.inspectorUrl({ space: 'demo' });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    const shared = page.url();
    const other = await browser.newContext();
    const stranger = await other.newPage();
    await stranger.goto(url);
    await stranger.getByText('used already').waitFor();
    await stranger.goto(shared);
    await stranger.reload();
    await stranger.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await stranger.evaluate(() => sessionStorage.length)).toBe(0);
    await context.close();
    await other.close();
  });

  it.each(PLACES)('has no violation of accessibility and no complaint: %s', async (name, hash) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using opened = await demo.open({ colorScheme, at: hash });
      const { page, complaints } = opened;
      // Axe runs as a script of the test, which the policy of the page would refuse.
      await page.evaluate(axe.source);
      const violations = await page.evaluate(async () => {
        const run = (globalThis as unknown as { axe: { run(): Promise<AxeResult> } }).axe;
        const { violations } = await run.run();
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
      });
      expect(violations, `${name} ${colorScheme}`).toEqual([]);
      expect(complaints).toEqual([]);
      for (const width of [360, 1280, 2560]) {
        await page.setViewportSize({ width, height: width === 360 ? 740 : 1000 });
        await settled(page);
        expect(await overflowing(page), `${name} at ${width}`).toEqual([]);
        await picture(page, `${name}-${width}-${colorScheme}`);
      }
    }
  });

  it('lets nobody change anything with the right to read', async () => {
    await using opened = await demo.open({ rights: 'read', at: '#/memories/label' });
    const { page, go } = opened;
    await page.getByText('read-only').waitFor();
    for (const name of [/^Edit$/, /Forget/, /Invalidate/, /Undo/, /Vote/]) {
      expect(await page.getByRole('button', { name }).count(), String(name)).toBe(0);
    }
    await go('#/recall?q=coffee');
    await page.locator('.hit').first().waitFor();
  });

  it('goes anywhere by the keyboard alone', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    await page.keyboard.press('Control+k');
    await page.keyboard.type('memor');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/memories/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('espresso blend');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/recall\?.*q=espresso/);
    await page.locator('.hit').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog[open]').count()).toBe(0);
  });

  it('says that the server is gone, and goes on when it is back', async () => {
    await using first = await browser.inspect({ fill: (memory) => memory.remember('Prefers dark roast') });
    const { page } = await first.open({ at: '#/memories' });
    const port = Number(new URL(first.server.url).port);
    await page.getByText('Prefers dark roast').waitFor();
    await page.route('**/v1/**', (route) => route.abort('connectionrefused'));
    await page.route('**/healthz', (route) => route.abort('connectionrefused'));
    await page.evaluate(() => {
      location.hash = '#/recall?q=roast';
    });
    await page.getByText('cannot be reached. This page goes on').waitFor();
    await page.unroute('**/v1/**');
    await page.unroute('**/healthz');
    await page.locator('.hit').first().waitFor();
    expect(port).toBeGreaterThan(0);
    expect(await page.getByText('cannot be reached. This page').count()).toBe(0);
  });

  it('asks for a new session where the old one has ended', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    await page.route('**/v1/strategies', (route) =>
      route.fulfill({
        status: 401,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'unauthorized', detail: 'this token is not known', details: {} }),
      }),
    );
    await page.evaluate(() => {
      location.hash = '#/recall';
    });
    await page.getByText('This session has ended').waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('salience-inspector-token'))).toBeNull();
  });
});

describeInBrowser('hostile memories', ({ inspect }) => {
  it('run nothing in any view, and break out of none', async () => {
    await using hostile = await inspect({ fill: fillHostile });
    const { memories } = await hostile.memory.list({ limit: 100 });
    expect(memories.length).toBeGreaterThan(90);
    await using opened = await hostile.open();
    const { page, complaints, go } = opened;
    const places = [
      ...VIEWS.map(({ name }) => `#/${name}`),
      '#/asked/3',
      '#/recall?q=coffee%20script&limit=50',
      '#/recall?q=coffee&tab=compare&against=bm25',
      '#/recall?q=%3Cimg%20src%3Dx%20onerror%3Dwindow.hostile%3D1%3E%20coffee',
      ...memories
        .slice(0, 30)
        .flatMap(({ id }) => [
          `#/memories/${encodeURIComponent(id)}`,
          `#/recall?q=coffee&limit=2&tab=why-not&whyNot=${encodeURIComponent(id)}`,
          `#/graph/${encodeURIComponent(id)}?depth=1`,
        ]),
      '#/context?q=coffee&budget=4000',
      '#/context?for=start&format=xml',
      '#/time?q=coffee%20script',
    ];
    const outside: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(hostile.server.url) && !request.url().startsWith('blob:')) {
        outside.push(request.url());
      }
    });
    for (const place of places) {
      await go(place);
      // What is opened is called otherwise, so that the first is another one then.
      const closed = page.getByRole('button', { name: 'Why this score' });
      for (let count = Math.min(3, await closed.count()); count > 0; count--) await closed.first().click();
      expect(await page.evaluate(() => 'hostile' in window), place).toBe(false);
      expect(await overflowing(page), place).toEqual([]);
    }
    expect(await page.title()).toContain('Salience');
    expect(outside).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}
