import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser, settled, shareDemo } from './browser.ts';

/** In which the grid of the first chart is drawn. */
async function gridOf(page: Page): Promise<readonly string[]> {
  const drawn = await page
    .locator('.chart canvas')
    .first()
    .evaluate((each) => {
      const { width, height } = each as HTMLCanvasElement;
      const pixels =
        (each as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data ?? [];
      const colours = new Set<string>();
      for (let at = 0; at < pixels.length; at += 4) colours.add(`${pixels.slice(at, at + 3).join(' ')}`);
      return [...colours];
    });
  return GRIDS.filter((each) => drawn.includes(each));
}

const LIGHT = '227 229 234';
const DARK = '40 45 56';
const GRIDS = [LIGHT, DARK];

describeInBrowser('a printed page', (browser) => {
  const demo = shareDemo(browser);

  it.each([
    '#/recall?q=coffee',
    '#/memories',
    '#/memories/label',
    '#/conflicts',
    '#/context?q=coffee',
    '#/life',
    '#/time?q=coffee',
  ])('shows what the view shows, across the paper, and nothing to press: %s', async (at) => {
    await using opened = await demo.open({ at });
    const { page } = opened;
    // As wide as A4 between its margins.
    await page.setViewportSize({ width: 718, height: 1040 });
    await settled(page);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    expect(await page.locator('#main :is(h1, h2):visible').count()).toBeGreaterThan(0);
    const told = '.legend button, .head button, [aria-pressed="true"], [aria-selected="true"]';
    const pressed = await page.locator(`button:visible:not(${told})`).allInnerTexts();
    expect(pressed).toEqual([]);
    const { left, right } = await page.locator('#main').evaluate((each) => each.getBoundingClientRect());
    expect([left, right]).toEqual([0, 718]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(718);
  });

  it('shows the rows of the table with their whole texts, one below the other', async () => {
    await using opened = await demo.open({ at: '#/memories' });
    const { page } = opened;
    await page.emulateMedia({ media: 'print' });
    const boxes = await page
      .locator('.table .line')
      .evaluateAll((all) =>
        all.map((each) => each.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]),
      );
    expect(boxes.length).toBeGreaterThan(20);
    for (const [index, [top = 0]] of boxes.entries()) {
      if (index > 0) expect(top).toBeCloseTo(boxes[index - 1]?.[1] ?? -1);
    }
    const table = await page.locator('.table').evaluate((each) => [each.scrollHeight, each.clientHeight]);
    expect(table[0]).toBe(table[1]);
  });

  it('has the light theme, in charts too, and the page is dark again afterwards', async () => {
    await using opened = await demo.open({ at: '#/life', colorScheme: 'dark' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    await settled(page);
    expect(await gridOf(page)).toEqual([DARK]);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    expect(await gridOf(page)).toEqual([LIGHT]);
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).color)).toBe(
      'rgb(20, 23, 31)',
    );
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    expect(await gridOf(page)).toEqual([DARK]);
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).color)).toBe(
      'rgb(233, 236, 242)',
    );
  });
});

describeInBrowser('a chart', (browser) => {
  const demo = shareDemo(browser);

  it('takes the colours of the system when these change', async () => {
    await using opened = await demo.open({ at: '#/life', colorScheme: 'dark' });
    const { page } = opened;
    expect(await gridOf(page)).toEqual([DARK]);
    await page.emulateMedia({ colorScheme: 'light' });
    await settled(page);
    expect(await gridOf(page)).toEqual([LIGHT]);
  });
});
