import axe from 'axe-core';
import { expect, it } from 'vitest';
import { type RunningServer, startServer } from '../../src/http/index.ts';
import { openSpaces } from '../../src/index.ts';
import { VIEWS } from '../../web/views.ts';
import {
  copyAs,
  describeInBrowser,
  eventually,
  failure,
  freePort,
  held,
  overflowing,
  picture,
  settled,
  shareDemo,
} from './browser.ts';
import { fillHostile, HOSTILE_TOKENS } from './hostile.ts';

/** Every view, and what it shows of something that is opened. */
const PLACES: readonly (readonly [name: string, hash: string, rights?: 'admin'])[] = [
  ...VIEWS.map(({ name }) => [name, `#/${name}`] as const),
  ['recall-hits', '#/recall?q=coffee'],
  ['recall-side-by-side', '#/recall?q=coffee&tab=compare'],
  ['recall-why-not', '#/recall?q=coffee&limit=1&tab=why-not&whyNot=mail'],
  ['recall-trace', '#/recall?q=coffee&tab=trace'],
  ['recall-labels', '#/recall?q=coffee&tab=labels'],
  ['recall-formula', '#/recall?tab=formula'],
  ['replay', '#/asked/4'],
  ['memory', '#/memories/label'],
  ['life-admin', '#/life', 'admin'],
  ['missing-memory', '#/memories/there-is-none'],
  ['context-question', '#/context?q=coffee&budget=300'],
  ['context-pinned', '#/context?for=turn'],
  ['graph-entity', '#/graph/ann'],
  ['graph-links', '#/graph/probat?depth=1'],
  ['time-question', '#/time?q=coffee&valid=2026-12-24T12:00:00.000Z'],
];

/** Serves a directory to the token "known", which is limited to scopes. */
function serveLimited(directory: string, rights: 'read' | 'write', scopes: readonly string[]) {
  const grant = { id: 'a', name: 'a', space: 'demo', rights, scopes, createdAt: '2026-01-01T00:00:00.000Z' };
  return startServer({
    spaces: openSpaces({ path: directory, embedder: 'none' }),
    tokens: { authenticate: async (token) => (token === 'known' ? grant : undefined) },
    port: 0,
  });
}

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

  it('signs in with a code that is pasted into a page that is open already', async () => {
    await using opened = await demo.open({ rights: 'none' });
    const { page } = opened;
    await page.goto(demo.server.inspectorUrl({ space: 'demo' }));
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    expect(page.url()).not.toContain('code');
  });

  it('says what to do where the server does not answer, or something else does', async () => {
    await using opened = await demo.open({ rights: 'none' });
    const { page } = opened;
    const said = page.locator('.failure-text');
    let answer = 'html' as 'html' | 'none';
    await page.route('**/v1/token', (route) =>
      answer === 'html'
        ? route.fulfill({ status: 502, contentType: 'text/html', body: '<html>Bad gateway</html>' })
        : route.abort(),
    );
    await page.getByLabel('Token').fill('salience_a');
    await page.keyboard.press('Enter');
    await eventually(() => said.innerText()).toContain('with status 502');
    answer = 'none';
    await page.keyboard.press('Enter');
    await eventually(() => said.innerText()).toContain('The server cannot be reached');
    await page.getByLabel('Token').fill('sälience');
    await page.keyboard.press('Enter');
    await eventually(() => said.innerText()).toContain('This is not a token');
  });

  it('shows that it loads while the server takes its time, and says when it could not be loaded', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    const answer = held();
    await page.route('**/v1/token', async (route) => {
      await answer.until;
      await route.continue();
    });
    await page.reload();
    await page.getByText('Loading…').first().waitFor({ state: 'attached' });
    answer.release();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    await page.route('**/start-*.js', (route) => route.abort());
    await page.reload();
    await page.getByText('The inspector was not loaded').waitFor();
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

  it.each(PLACES)(
    'has no violation of accessibility and no complaint: %s',
    async (name, hash, rights = undefined) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await using opened = await demo.open({ colorScheme, at: hash, rights: rights ?? 'write' });
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
    },
  );

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

  it('offers a token of some scopes what it may do, and says why of the rest', async () => {
    await using work = await browser.inspect({
      fill: (memory) =>
        memory.rememberMany([
          { id: 'shop', content: 'The shop sells dark roast', scope: 'project:shop' },
          { id: 'all', content: 'Everybody likes dark roast' },
        ]),
    });
    await using server = await serveLimited(work.directory, 'write', ['project:shop']);
    const context = await browser.newContext();
    const page = await context.newPage();
    const go = async (hash: string) => {
      await page.evaluate((next) => {
        location.hash = next;
      }, hash);
      await settled(page);
    };
    await page.goto(`${server.url}/inspector/#/memories/shop`);
    await page.getByLabel('Token').fill('known');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Vote: it helps' }).click();
    await page.getByText(/^Usefulness is/).waitFor();
    // Undoing concerns the whole space.
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await go('#/memories/all');
    await page.getByText('This session may not change it: it writes in project:shop alone.').waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await go('#/recall?q=roast');
    await eventually(() => page.locator('.hit').count()).toBe(2);
    await go('#/life');
    await page.getByText('it cannot run maintenance').waitFor();
    await page.getByText('Nothing yet.').waitFor();
    await work.memory.remember('Dark roast is out of stock', { scope: 'project:shop' });
    await page.locator('.feed').getByText('Dark roast is out of stock').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await page.clock.install();
    await page.evaluate(() => {
      location.hash = '#/asked';
    });
    await page.getByText('ask with a token of the whole space').waitFor();
    let asked = 0;
    page.on('request', (request) => {
      asked += Number(request.url().includes('/v1/recalls'));
    });
    await page.clock.runFor(20_000);
    await page.evaluate(() => fetch('icon.svg'));
    expect(asked).toBe(0);
    await context.close();
  });

  it('looks from one scope at a time with a token of several, and changes it', async () => {
    await using work = await browser.inspect({
      fill: (memory) =>
        memory.rememberMany([
          { id: 'shop', content: 'The shop sells dark roast', scope: 'project:shop' },
          { id: 'sales', content: 'The team of sales likes dark roast', scope: 'team:sales' },
        ]),
    });
    await using server = await serveLimited(work.directory, 'read', ['project:shop', 'team:sales']);
    await using context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.url}/inspector/#/memories`);
    await page.getByLabel('Token').fill('known');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const from = page.locator('.side').getByLabel('Seen from the scope');
    const { shop, sales } = {
      shop: page.locator('main').getByText('The shop sells').first(),
      sales: page.locator('main').getByText('The team of sales').first(),
    };
    for (const view of ['memories', 'recall?q=roast', 'context?q=roast', 'graph']) {
      await page.evaluate((next) => {
        location.hash = next;
      }, `#/${view}`);
      await from.selectOption('project:shop');
      await shop.waitFor();
      expect(await sales.count(), view).toBe(0);
      await from.selectOption('team:sales');
      await sales.waitFor();
      expect(await shop.count(), view).toBe(0);
    }
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.evaluate(() => {
      location.hash = '#/recall?q=roast';
    });
    await sales.waitFor();
    expect(await copyAs(page, 'CLI')).toContain('--scope team:sales');
    // A memory is found from whichever scope sees it.
    await page.evaluate(() => {
      location.hash = '#/memories/shop';
    });
    await shop.waitFor();
  });

  it('leaves the keys of an input method to it', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Go to a view' });
    await field.fill('コー');
    for (const key of ['ArrowDown', 'Enter', 'Escape'])
      await field.dispatchEvent('keydown', { key, isComposing: true, bubbles: true });
    await settled(page);
    expect(await page.locator('dialog[open]').count()).toBe(1);
    expect(await page.locator('[aria-selected="true"]').getAttribute('id')).toBe('palette-0');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/recall\?/);
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
    await page.locator('dialog[open]').waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => page.locator('dialog[open]').count()).toBe(0);
  });

  it('keeps what is chosen in the palette in sight', async () => {
    await using opened = await demo.open({ viewport: { width: 640, height: 400 }, at: '#/recall' });
    const { page } = opened;
    await page.keyboard.press('Control+k');
    await page.getByRole('listbox', { name: 'Commands' }).waitFor();
    const inSight = () =>
      page.locator('[role=option][aria-selected=true]').evaluate((option) => {
        const list = option.parentElement?.getBoundingClientRect();
        const { top, bottom } = option.getBoundingClientRect();
        return list !== undefined && top >= list.top && bottom <= list.bottom;
      });
    await page.keyboard.press('ArrowUp');
    await eventually(inSight).toBe(true);
    await page.keyboard.press('ArrowDown');
    await eventually(inSight).toBe(true);
  });

  it('stays open when it is opened again before the browser has said that it was closed', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    await page.keyboard.press('Control+k');
    await page.locator('dialog[open]').waitFor();
    const isOpen = await page.evaluate(async () => {
      const task = () => new Promise((resolve) => setTimeout(resolve));
      const press = async () => {
        dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
        // The page is drawn anew in a microtask.
        for (let each = 0; each < 10; each += 1) await undefined;
      };
      await press();
      await press();
      for (let each = 0; each < 10; each += 1) await task();
      return document.querySelector('dialog[open]') !== null;
    });
    expect(isOpen).toBe(true);
  });

  it('opens, closes and opens again, however fast the keys come', async () => {
    await using opened = await demo.open({ rights: 'write', at: '#/memories/label' });
    const { page } = opened;
    // What a dialog shows once every event of the browser has come.
    const openedBy = (press: 'palette' | 'sheet') =>
      page.evaluate(async (which) => {
        const drawn = async () => {
          // The page is drawn anew in a microtask.
          for (let each = 0; each < 10; each += 1) await undefined;
        };
        const key = (target: EventTarget, init: KeyboardEventInit) =>
          target.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }));
        const open = () => {
          if (which === 'palette') key(window, { key: 'k', ctrlKey: true });
          else
            [...document.querySelectorAll('button')].find((each) => each.textContent === 'Forget…')?.click();
        };
        open();
        await drawn();
        key(document.activeElement as Element, { key: 'Escape' });
        await drawn();
        const closed = document.querySelector('dialog[open]') === null;
        open();
        await drawn();
        for (let each = 0; each < 10; each += 1) await new Promise((resolve) => setTimeout(resolve));
        return { closed, isOpen: document.querySelector('dialog[open]') !== null };
      }, press);
    expect(await openedBy('palette')).toEqual({ closed: true, isOpen: true });
    await page.keyboard.press('Escape');
    expect(await openedBy('sheet')).toEqual({ closed: true, isOpen: true });
  });

  it('gives the focus back to what opened a sheet, whatever closes it', async () => {
    await using opened = await demo.open({ at: '#/memories/label' });
    const { page } = opened;
    const forget = page.getByRole('button', { name: 'Forget…' });
    for (const close of ['Close', 'Keep', 'Escape']) {
      await forget.focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Forget this memory' });
      await dialog.getByText('There is no undo.').waitFor();
      if (close === 'Escape') await page.keyboard.press(close);
      else await dialog.getByRole('button', { name: close, exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      await eventually(() => forget.evaluate((each) => each === document.activeElement)).toBe(true);
    }
  });

  it('lets a resting pointer choose nothing in the palette', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    await page.mouse.move(640, 300);
    await page.keyboard.press('Control+k');
    const chosen = page.getByRole('option', { selected: true });
    await chosen.waitFor();
    const entered = page.locator('[role="option"]:hover');
    await entered.waitFor();
    await settled(page);
    expect(await chosen.getAttribute('id')).toBe('palette-0');
    expect(await entered.getAttribute('id')).not.toBe('palette-0');
    await page.mouse.move(642, 302);
    await eventually(() => chosen.getAttribute('id')).toBe(await entered.getAttribute('id'));
  });

  it('keeps what was moved last in the address of the page that is left, and not in that of the next', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee' });
    const { page } = opened;
    // All in one task: the address follows later, when the hand rests.
    await page.evaluate(() => {
      const question = document.querySelector('input[type=search]') as HTMLInputElement;
      question.value = 'espresso';
      question.dispatchEvent(new InputEvent('input', { bubbles: true }));
      (document.querySelector('nav a[href*="conflicts"]') as HTMLElement).click();
    });
    await page.getByRole('heading', { name: 'Conflicts' }).first().waitFor();
    // Longer than a hand rests, on the clock of the page.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 250)));
    expect(page.url()).toContain('#/conflicts');
    await page.goBack();
    await eventually(() => page.getByRole('searchbox').inputValue()).toBe('espresso');
    expect(page.url()).toContain('q=espresso');
  });

  it('returns to where a page was, on Back and after a reload, though its content comes later', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee', viewport: { width: 380, height: 700 } });
    const { page, complaints } = opened;
    // As on a slow device, frames are painted between `popstate` and `hashchange`.
    await page.addInitScript(() => {
      addEventListener('hashchange', (event) => {
        if (!event.isTrusted) return;
        event.stopImmediatePropagation();
        requestAnimationFrame(() => requestAnimationFrame(() => dispatchEvent(new Event('hashchange'))));
      });
    });
    await page.reload();
    const y = () => page.evaluate(() => scrollY);
    const last = page.locator('.hit .id').last();
    await last.scrollIntoViewIfNeeded();
    const before = await y();
    expect(before).toBeGreaterThan(700);
    await last.click();
    await page.getByRole('article', { name: 'Memory' }).waitFor();
    await settled(page);
    // A view between that is long enough too: it is not where the page returns to.
    await page.getByRole('navigation').getByRole('link', { name: 'Conflicts' }).click();
    await settled(page);
    expect(await y()).toBe(0);
    const answer = held();
    await page.route('**/recall', async (route) => {
      await answer.until;
      await route.continue();
    });
    expect(await page.evaluate(() => document.body.scrollHeight - innerHeight)).toBeGreaterThan(before);
    await page.evaluate(() => history.go(-2));
    await page.getByLabel('Question').waitFor();
    answer.release();
    await eventually(y).toBe(before);
    await page.reload();
    await eventually(y).toBe(before);
    await page.getByText('below').last().waitFor();
    // Whoever moves the page first is not moved by it.
    const late = held();
    await page.unroute('**/recall');
    await page.route('**/recall', async (route) => {
      await late.until;
      await route.continue();
    });
    await page.reload();
    await page.getByLabel('Question').click();
    late.release();
    await settled(page);
    expect(await y()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('takes what is typed right after a view was chosen for that view', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee' });
    const { page } = opened;
    await page.keyboard.press('Control+k');
    await page.keyboard.type('context');
    const shown = await page.evaluate(async () => {
      const press = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true });
      (document.activeElement as Element).dispatchEvent(press);
      // The browser has not told of the new address yet.
      for (let each = 0; each < 10; each += 1) await undefined;
      return document.querySelector('nav [aria-current]')?.textContent;
    });
    expect(shown).toBe('Context');
    await page.waitForURL(/#\/context/);
  });

  it('names its space in full on a narrow screen, also where it only reads', async () => {
    await using opened = await demo.open({ rights: 'read', viewport: { width: 360, height: 740 } });
    const { page } = opened;
    const cut = await page
      .locator('.brand > *')
      .evaluateAll((parts) =>
        parts
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ textContent }) => textContent),
      );
    expect(cut).toEqual([]);
    // Only its picture is left, and a screen reader needs a name.
    expect(await page.getByRole('button', { name: 'Go to…' }).count()).toBe(1);
    await picture(page, 'page-read-only-360');
  });

  it('says that the server is gone, and goes on when it is back', async () => {
    await using work = await browser.inspect({ fill: (memory) => memory.remember('Prefers dark roast') });
    const start = await onOnePort(work.directory);
    const first = await start();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${first.url}/inspector/`);
    await page.getByLabel('Token').fill('known');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    await first.close();
    await page.evaluate(() => {
      location.hash = '#/recall?q=roast';
    });
    await page.getByText('cannot be reached. This page goes on').waitFor();
    await using _second = await start();
    await page.locator('.hit').first().waitFor();
    await eventually(() => page.getByText('cannot be reached. This page').count()).toBe(0);
    await context.close();
  });

  it('follows on when a server that ended while it waited is back', async () => {
    await using work = await browser.inspect({ fill: (memory) => memory.remember('Prefers dark roast') });
    const start = await onOnePort(work.directory);
    const first = await start();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${first.url}/inspector/#/life`);
    await page.getByLabel('Token').fill('known');
    const waits = page.waitForRequest(/\/v1\/activity\?.*wait=/);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await waits;
    await settled(page);
    await first.close();
    await page.getByText('cannot be reached. This page goes on').waitFor();
    await using second = await start();
    expect(second.url).toBe(first.url);
    // Before anything happens, for which it waits.
    await eventually(() => page.locator('.failure').count()).toBe(0);
    await work.memory.remember('Drinks tea by now');
    await page.locator('.feed').getByText('Drinks tea by now').waitFor();
    await context.close();
  });

  it('loads itself anew, once, where the server has other files by now', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    let loads = 0;
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loads++;
    });
    const parts = /inspector\/[^/]+\.js$/;
    await page.route(parts, (route) => (loads === 0 ? route.fulfill({ status: 404 }) : route.continue()));
    await page.evaluate(() => {
      location.hash = '#/graph/ann';
    });
    await page.locator('.node').first().waitFor();
    expect(loads).toBe(1);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(1);
  });

  it('says that a link is to another space', async () => {
    await using opened = await demo.open({ at: '#/recall?space=bob&q=coffee' });
    await opened.page.getByText('This link is to the space bob; you are signed in to demo.').waitFor();
    await opened.go('#/recall?space=demo&q=coffee');
    await eventually(() => opened.page.getByText('This link is to').count()).toBe(0);
  });

  it('changes between light and dark, and stays so', async () => {
    await using opened = await demo.open({ colorScheme: 'light' });
    const { page } = opened;
    const ground = () =>
      page.evaluate(() => getComputedStyle(document.querySelector('.side') as Element).backgroundColor);
    const light = await ground();
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).waitFor();
    expect(await ground()).toBe(light);
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    const dark = await ground();
    expect(dark).not.toBe(light);
    await page.reload();
    await settled(page);
    expect(await ground()).toBe(dark);
  });

  it('skips what every view begins with, and moves through the palette by the arrows', async () => {
    await using opened = await demo.open({ at: '#/conflicts' });
    const { page } = opened;
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.getByRole('button', { name: 'Skip to content' }).focus();
    await page.keyboard.press('Enter');
    await eventually(() => page.evaluate(() => document.activeElement?.id)).toBe('main');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    // The second of the views.
    await page.waitForURL(/#\/recall/);
  });

  it('moves nothing for whoever wants less motion', async () => {
    await using opened = await demo.open({ reducedMotion: 'reduce', at: '#/recall?q=coffee' });
    const moving = await opened.page.evaluate(() =>
      [...document.querySelectorAll('*')]
        .filter((each) => {
          const { transitionDuration, animationDuration } = getComputedStyle(each);
          return [transitionDuration, animationDuration].some((time) => Number.parseFloat(time) > 0.01);
        })
        .map(({ outerHTML }) => outerHTML.slice(0, 100)),
    );
    expect(moving).toEqual([]);
  });

  it('tells parts and what is chosen apart where the system chooses the colours', async () => {
    await using opened = await demo.open({ forcedColors: 'active', at: '#/recall?q=coffee' });
    const { page, go } = opened;
    const backgrounds = (selector: string) =>
      page
        .locator(selector)
        .evaluateAll((all) => [...new Set(all.map((each) => getComputedStyle(each).backgroundColor))]);
    expect((await backgrounds('.hits .bar i')).length).toBeGreaterThan(1);
    expect((await backgrounds('.legend i')).length).toBeGreaterThan(1);
    const outlines = (selector: string) =>
      page.locator(selector).evaluateAll((all) => all.map((each) => getComputedStyle(each).outlineStyle));
    expect(await outlines('.tabs [aria-selected="true"]')).toEqual(['solid']);
    expect(new Set(await outlines('.tabs [aria-selected="false"]'))).toEqual(new Set(['none']));
    await page.keyboard.press('Control+k');
    await page.keyboard.press('ArrowDown');
    await eventually(() => outlines('.palette [aria-selected="true"]')).toEqual(['solid']);
    await page.keyboard.press('Escape');
    await go('#/recall?q=coffee&tab=trace');
    const ground = await backgrounds('.waterfall .track');
    expect(await backgrounds('.waterfall .track i')).not.toEqual(ground);
  });

  it('says which values of a written address it does not understand', async () => {
    await using opened = await demo.open();
    const { page, go } = opened;
    const alert = () => page.locator('main').getByRole('alert').first().innerText();
    await go('#/memories?core=maybe');
    expect(await alert()).toMatch(/^Core: “maybe” is neither true nor false, and does not narrow the list/);
    expect(await page.getByRole('button', { name: 'Forget these…' }).isDisabled()).toBe(true);
    await go('#/context?budget=0');
    expect(await alert()).toBe(
      'Budget: write a number from 1 to 1,000,000,000. Until then it is 2,000 tokens.',
    );
    await go('#/recall?q=coffee&p.weights.context=high&p.nope=1&p.weights.session=0.1');
    expect(await alert()).toBe('Not settings of hybrid, and ignored: weights.context=high, nope=1.');
    await go('#/time?valid=2020-13-99');
    await page.getByText('This is not a time.').waitFor();
    expect(await page.getByLabel('What was true: days').getAttribute('aria-valuetext')).toBe('not a time');
    // What filters the list is what its field shows, also after another one is changed.
    await go('#/memories?types=fact&types=rule');
    expect(await page.getByLabel('Types', { exact: true }).inputValue()).toBe('rule');
    await page.getByLabel('Tier').selectOption('hot');
    expect(await page.getByLabel('Types', { exact: true }).inputValue()).toBe('rule');
  });

  it.each([
    [
      '#/recal?q=coffee',
      /unknown view "recal" \(did you mean "recall"\?\)\. Until it is changed, asked holds\.$/,
    ],
    ['#/recall?q=coffee&tab=trac', /unknown tab "trac" \(did you mean "trace"\?\).* hits holds\.$/],
    [
      '#/recall?q=coffee&deep=yes',
      /unknown choice of deep "yes" \(available: true, false\).* false holds\.$/,
    ],
    ['#/recall?q=coffee&tab=compare&b.nope=1', /^Not settings of \w+, and ignored: nope=1\.$/],
    ['#/context?for=turns', /unknown kind of context "turns" \(did you mean "turn"\?\).* question holds\.$/],
    ['#/context?format=html', /unknown format "html" \(available: .*\).* text holds\.$/],
    ['#/graph/ann?depth=9', /unknown depth "9" \(available: 1, 2, 3\).* 2 holds\.$/],
    ['#/graph/ann?links=no', /unknown choice of links "no" .* all holds\.$/],
    ['#/memories?sort=foo', /unknown sort "foo" \(available: .*\).* updated holds\.$/],
    ['#/memories?direction=down', /unknown direction "down" .* desc holds\.$/],
  ])('says of %s what it does not know, and shows the rest', async (hash, said) => {
    await using opened = await demo.open({ at: hash });
    const { page, complaints } = opened;
    const alerts = page.locator('main').getByRole('alert');
    await eventually(() => alerts.allInnerTexts()).toEqual([expect.stringMatching(said)]);
    await page.locator('.hit, .versus li, .asked-line, .built, .node, .line').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('searches cold memories too only where the address says true', async () => {
    await using opened = await demo.open({
      at: '#/recall?q=coffee&deep=false',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await opened.page.getByText('Narrow', { exact: true }).click();
    expect(await opened.page.getByLabel('Cold and consolidated').isChecked()).toBe(false);
    expect(await copyAs(opened.page, 'CLI')).not.toContain('--deep');
  });

  it('says that a part was not loaded, and loads itself anew when it is told to', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    const parts = /inspector\/drawing[^/]*\.js$/;
    await page.route(parts, (route) => route.abort());
    await page.evaluate(() => {
      location.hash = '#/graph/ann';
    });
    await page.getByText('This part of the page could not be loaded').waitFor();
    await page.unroute(parts);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.node').first().waitFor();
  });

  it('ends with an ellipsis where a tag is cut', async () => {
    await using opened = await demo.open({ at: '#/memories' });
    const display = await opened.page
      .locator('[role="gridcell"] .tag')
      .first()
      .evaluate((tag) => {
        const { display, textOverflow } = getComputedStyle(tag);
        return [display, textOverflow, tag.scrollWidth <= (tag.parentElement?.clientWidth ?? 0)];
      });
    // `text-overflow` does nothing in a flex box.
    expect(display).toEqual(['inline-block', 'ellipsis', true]);
  });

  it('shows a hit of a scope with a long name within the width of a phone', async () => {
    await using own = await browser.inspect({
      fill: (memory) => memory.remember('Likes coffee', { scope: `project:${'s'.repeat(50)}` }),
    });
    await using opened = await own.open({ viewport: { width: 360, height: 800 }, at: '#/recall?q=coffee' });
    await opened.page.locator('.hit').waitFor();
    expect(await overflowing(opened.page)).toEqual([]);
  });

  it('shows strategies with long names within the width of a phone', async () => {
    const name = `fresh-${'s'.repeat(58)}`;
    await using own = await browser.inspect({
      fill: (memory) => memory.remember('Likes coffee'),
      profiles: [{ name, description: 'New first.', score: { op: 'signal', name: 'lexical' } }],
    });
    const at = `#/recall?q=coffee&tab=compare&against=${name}`;
    await using opened = await own.open({ viewport: { width: 360, height: 800 }, at });
    await opened.page.getByRole('heading', { name }).waitFor();
    expect(await overflowing(opened.page)).toEqual([]);
  });

  it('ends the session on the server with "Sign out", also for a copy of the tab', async () => {
    await using opened = await demo.open();
    const { page, context } = opened;
    const stored = await page.evaluate(() => ({ ...sessionStorage }) as Record<string, string>);
    const copy = await context.newPage();
    await copy.addInitScript((all) => {
      if (sessionStorage.length === 0 && !location.hash) Object.assign(sessionStorage, all);
    }, stored);
    await copy.goto(`${demo.server.url}/inspector/`);
    await copy.getByRole('button', { name: 'Sign out' }).waitFor();
    const ended = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect((await ended).status()).toBe(204);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await copy.getByRole('link', { name: 'Memories' }).click();
    await copy.getByText('This session has ended').waitFor();
    const token = stored['salience-inspector-token'];
    const answer = await fetch(`${demo.server.url}/v1/token`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(401);
  });

  it('says the same of an ended session when it is loaded anew', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    await page.route('**/v1/token', (route) =>
      route.fulfill({ status: 401, contentType: 'application/problem+json', body: '{"detail":"no"}' }),
    );
    await page.reload();
    await page.getByText('This session has ended').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
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

  it('tells whoever signs in next nothing of what failed as the session before ended', async () => {
    await using opened = await demo.open({ at: '#/memories/skip' });
    const { page } = opened;
    const token = await page.evaluate(() => sessionStorage.getItem('salience-inspector-token'));
    await page.route('**/feedback', (route) =>
      route.fulfill(failure('this token is not known, or was revoked', 'unauthorized', 401)),
    );
    await page.getByRole('button', { name: 'Vote: it helps' }).click();
    await page.getByText('This session has ended').waitFor();
    await page.getByLabel('Token').fill(token ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    await settled(page);
    expect(await page.locator('.toast').allInnerTexts()).toEqual([]);
  });
});

describeInBrowser('hostile memories', ({ inspect }) => {
  it('run nothing in any view, and break out of none', async () => {
    await using hostile = await inspect({ fill: fillHostile, tokens: HOSTILE_TOKENS });
    const { memories } = await hostile.memory.list({ limit: 100 });
    expect(memories.length).toBeGreaterThan(90);
    await using opened = await hostile.open({ rights: 'admin' });
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

/** Starts a server with the token "known", each time at the same address. */
async function onOnePort(directory: string): Promise<() => Promise<RunningServer>> {
  const port = await freePort();
  const grant = {
    ...{ id: 'a', name: 'a', space: 'demo', rights: 'write' },
    createdAt: '2026-01-01T00:00:00.000Z',
  } as const;
  const tokens = { authenticate: async (token: string) => (token === 'known' ? grant : undefined) };
  return () => startServer({ spaces: openSpaces({ path: directory, embedder: 'none' }), tokens, port });
}
