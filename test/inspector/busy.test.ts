import { expect, it } from 'vitest';
import { openSpaces } from '../../src/index.ts';
import { describeInBrowser, eventually, held, type OpenPage } from './browser.ts';

/** A button whose work the server takes its time for. */
interface Waiting {
  readonly at: string;
  /** Up to where the button can be pressed. */
  readonly before?: (page: OpenPage['page']) => Promise<unknown>;
  readonly button: string;
  /** What is asked of the server. */
  readonly asks: string;
  readonly rights?: 'read' | 'write' | 'admin';
}

const vote = { at: '#/memories/label', asks: '**/v1/memories/label/feedback' } as const;
const WAITING: readonly Waiting[] = [
  { ...vote, button: 'Vote: it helps' },
  { ...vote, button: 'Vote: it does not help' },
  {
    at: '#/memories/label',
    before: async (page) => {
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('What it says').fill('Another text');
    },
    button: 'Save',
    asks: '**/v1/memories/label',
  },
  {
    at: '#/memories/label',
    before: async (page) => {
      await page.getByRole('button', { name: 'Invalidate…' }).click();
      await page.getByLabel('Why it is no longer true').fill('a test');
    },
    button: 'Invalidate',
    asks: '**/v1/memories/label/invalidate',
  },
  {
    at: '#/memories/label',
    before: (page) => page.getByRole('button', { name: 'Forget…' }).click(),
    button: 'Forget for good',
    asks: '**/v1/forget',
  },
  {
    at: '#/memories/label',
    before: async (page) => {
      await page.getByRole('button', { name: 'Vote: it helps' }).click();
      await page.locator('.toast').waitFor();
    },
    button: 'Undo',
    asks: '**/v1/undo',
  },
  {
    at: '#/memories',
    before: (page) => page.getByLabel('Jump to a row or an id').fill('label'),
    button: 'Jump',
    asks: '**/v1/memories?*around=*',
  },
  { at: '#/conflicts', button: 'Keep both', asks: '**/v1/conflicts/*/resolve' },
  { at: '#/life', button: 'What would it do?', asks: '**/v1/maintain' },
  { at: '#/life', button: 'Check the store', asks: '**/v1/health', rights: 'read' },
  { at: '#/life', button: 'Go to the space bakery', asks: '**/inspector/space', rights: 'admin' },
];

describeInBrowser('a button whose work waits for the server', ({ inspect }) => {
  it.each(WAITING)('says so and does it once: $button', async ({ at, before, button, asks, rights }) => {
    await using demo = await inspect();
    const spaces = openSpaces({ path: demo.directory, embedder: 'none' });
    await (await spaces.get('bakery')).remember('The oven is of brick', { id: 'oven' });
    await spaces.close();
    await using opened = await demo.open({ at, ...(rights ? { rights } : {}) });
    const { page, complaints } = opened;
    await before?.(page);
    const pressed = page.getByRole('button', { name: button, exact: button.length < 8 }).last();
    await pressed.waitFor();
    const answer = held();
    let asked = 0;
    await page.route(asks, async (route) => {
      asked++;
      await answer.until;
      await route.continue().catch(() => undefined);
    });
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 3_600_000);
    await pressed.focus();
    await page.keyboard.press('Enter');
    await eventually(async () => asked).toBe(1);
    await page.clock.runFor(150);
    expect(await page.locator('button[aria-busy="true"]').count()).toBe(0);
    await page.clock.runFor(100);
    expect(await page.locator('button[aria-busy="true"]').count()).toBe(1);
    expect(await pressed.getAttribute('aria-disabled')).toBe('true');
    expect(await pressed.evaluate((each) => each === document.activeElement)).toBe(true);
    expect(await page.getByText('Working…').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.clock.runFor(1000);
    expect(asked).toBe(1);
    answer.release();
    await page.clock.resume();
    await eventually(() => page.locator('button[aria-busy="true"]').count()).toBe(0);
    expect(await page.getByText('Working…').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('goes to no other space once somebody has gone elsewhere, and to the last one that was chosen', async () => {
    await using demo = await inspect();
    const spaces = openSpaces({ path: demo.directory, embedder: 'none' });
    for (const name of ['attic', 'bakery'])
      await (await spaces.get(name)).remember('The oven', { id: 'oven' });
    await spaces.close();
    await using opened = await demo.open({ rights: 'admin', at: '#/life' });
    const { page, go } = opened;
    let answer = held();
    let answered = 0;
    await page.route('**/inspector/space', async (route) => {
      const { until } = answer;
      const response = await route.fetch();
      await until;
      await route.fulfill({ response });
      answered++;
    });
    await page.getByRole('button', { name: 'Go to the space bakery' }).click();
    await page.evaluate(() => {
      location.hash = '#/recall?q=coffee';
    });
    await page.getByRole('heading', { name: 'Recall' }).waitFor();
    answer.release();
    await eventually(async () => answered).toBe(1);
    await go('#/recall?q=roaster');
    expect(await page.locator('.space-name').innerText()).toBe('demo');
    expect(page.url()).toContain('q=roaster');

    await go('#/life');
    answer = held();
    const first = answer;
    await page.getByRole('button', { name: 'Go to the space attic' }).click();
    answer = held();
    answer.release();
    await page.getByRole('button', { name: 'Go to the space bakery' }).click();
    await page.locator('.space-name', { hasText: 'bakery' }).waitFor();
    first.release();
    await eventually(async () => answered).toBe(3);
    await go('#/memories');
    expect(await page.locator('.space-name').innerText()).toBe('bakery');
  });

  it('opens what a link to another space leads to', async () => {
    await using demo = await inspect();
    const spaces = openSpaces({ path: demo.directory, embedder: 'none' });
    await (await spaces.get('bakery')).remember('The oven is of brick', { id: 'oven' });
    await spaces.close();
    await using opened = await demo.open({ rights: 'admin', at: '#/memories/oven?space=bakery&types=fact' });
    const { page } = opened;
    await page.getByText('There is no such memory').waitFor();
    await page.getByRole('button', { name: 'Go to the space bakery' }).click();
    await page.locator('.detail').getByText('The oven is of brick').first().waitFor();
    expect(page.url()).toContain('#/memories/oven?space=bakery&types=fact');
  });
});
