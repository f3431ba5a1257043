import { expect, it } from 'vitest';
import type { MemoryEngine } from '../../src/index.ts';
import { describeInBrowser, eventually, held, settled } from './browser.ts';

/** Three moments: one statement, another one, and the first with other words. */
async function fill(memory: MemoryEngine): Promise<void> {
  const from = Date.now();
  const at = (days: number) => ({ now: new Date(from - days * 86_400_000) });
  await memory.remember('The shop sells roasted coffee', { id: 'shop', ...at(30) });
  await memory.remember('The bar sells cold coffee', { id: 'bar', ...at(20) });
  await memory.update('shop', { content: 'The shop sells green coffee' }, at(10));
  await memory.remember('The coffee fair is open', {
    id: 'fair',
    validFrom: new Date(from + 40 * 86_400_000),
    ...at(5),
  });
}

describeInBrowser('the view of time', ({ inspect }) => {
  it('goes back over the writes by the keyboard alone, and marks what changed', async () => {
    await using demo = await inspect({ fill });
    await using opened = await demo.open({ rights: 'read', at: '#/time?q=coffee' });
    const { page, complaints } = opened;
    const hits = page.locator('.moments li:not(.went)');
    await page.getByText('The shop sells green coffee').waitFor();
    await eventually(() => hits.count()).toBe(2);
    await page.getByLabel('What was known').focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText('After update').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.locator('del', { hasText: 'green' }).waitFor();
    await page.locator('ins', { hasText: 'roasted' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.locator('.went', { hasText: 'The bar sells cold coffee' }).waitFor();
    await eventually(() => hits.count()).toBe(1);
    await page.keyboard.press('End');
    await page.locator('.came', { hasText: 'The bar sells cold coffee' }).waitFor();
    await page.getByText('Now: all that was written.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('steps over writes of one moment at once, and is not held up by them', async () => {
    await using demo = await inspect({
      async fill(memory) {
        const at = (days: number) => ({ now: new Date(Date.now() - days * 86_400_000) });
        await memory.remember('The first coffee', at(3));
        const second = at(2);
        for (const word of ['second', 'third', 'fourth']) await memory.remember(`The ${word} coffee`, second);
        await memory.remember('The last coffee', at(1));
      },
    });
    await using opened = await demo.open({ at: '#/time?q=coffee' });
    const { page } = opened;
    const hits = page.locator('.moments li:not(.went)');
    await eventually(() => hits.count()).toBe(5);
    await page.getByRole('button', { name: 'One write back' }).click();
    await eventually(() => hits.count()).toBe(4);
    await page.getByRole('button', { name: 'One write back' }).click();
    await eventually(() => hits.count()).toBe(1);
    expect(await page.getByRole('button', { name: 'One write back' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByText('Now: all that was written.').waitFor();
    await eventually(() => hits.count()).toBe(5);
  });

  it('names the moment that is asked for, where the writes that are listed begin later', async () => {
    await using demo = await inspect({ fill });
    await using opened = await demo.open({ at: '#/time?known=2020-01-02T03:04:00.000Z', timezoneId: 'UTC' });
    const { page } = opened;
    const back = page.getByRole('button', { name: 'One write back' });
    await page.getByText('At 2020-01-02 03:04, before the writes that are listed here.').waitFor();
    expect(await back.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'One write on' }).click();
    await page.getByText(/^After \w+ #1,/).waitFor();
  });

  it('shows what is true on another day', async () => {
    await using demo = await inspect({ fill });
    await using opened = await demo.open({ at: '#/time?q=coffee' });
    const { page } = opened;
    await page.getByText('The shop sells green coffee').waitFor();
    expect(await page.getByText('The coffee fair is open').count()).toBe(0);
    const later = new Date(Date.now() + 60 * 86_400_000).toISOString().slice(0, 10);
    await page.getByLabel('The day whose truth counts').fill(later);
    await page.locator('.came', { hasText: 'The coffee fair is open' }).waitFor();
    await page.waitForURL(/valid=/);
    await page.getByRole('button', { name: 'Today' }).click();
    await page.locator('.went', { hasText: 'The coffee fair is open' }).waitFor();
    const days = page.getByLabel('What was true: days from today');
    await days.press('ArrowRight');
    expect(await days.getAttribute('aria-valuetext')).toBe('1 day ahead');
  });

  it('plays the past to its end', async () => {
    await using demo = await inspect({ fill });
    await using opened = await demo.open({ at: '#/time?q=coffee' });
    const { page } = opened;
    // The third moment comes once the second was seen, which has no difference in the words.
    const answers = held();
    let asked = 0;
    await page.route('**/v1/recall', async (route) => {
      asked++;
      if (asked > 2) await answers.until;
      await route.continue().catch(() => undefined);
    });
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByText('The shop sells roasted coffee').waitFor();
    answers.release();
    await page.getByText('Now: all that was written.').waitFor();
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await page.getByText('The shop sells green coffee').waitFor();
  });

  it('waits for each answer while it plays, however late the frames of the page come', async () => {
    await using demo = await inspect({ fill });
    await using opened = await demo.open({ at: '#/time?q=coffee' });
    const { page } = opened;
    const answers = held();
    let asked = 0;
    await page.route('**/v1/recall', async (route) => {
      asked++;
      await answers.until;
      await route.continue().catch(() => undefined);
    });
    const shown = await page.evaluate(async () => {
      const buttons = [...document.querySelectorAll('button')];
      buttons.find(({ textContent }) => textContent === 'Play')?.click();
      for (let each = 0; each < 10; each += 1) await undefined;
      // The page is held up for longer than a moment is shown.
      const until = performance.now() + 1500;
      while (performance.now() < until);
      for (let each = 0; each < 10; each += 1) await new Promise((resolve) => setTimeout(resolve));
      return document.querySelector<HTMLInputElement>('input[type=range]')?.value;
    });
    expect(shown).toBe('0');
    expect(asked).toBeLessThan(2);
    answers.release();
    await page.getByText('Now: all that was written.').waitFor();
  });

  it('cancels a question that takes long', async () => {
    await using demo = await inspect({ fill });
    await using opened = await demo.open({ at: '#/time?q=coffee' });
    const { page } = opened;
    await page.getByText('The shop sells green coffee').waitFor();
    const answer = held();
    await page.route('**/v1/recall', async (route) => {
      await answer.until;
      await route.continue().catch(() => undefined);
    });
    await page.getByRole('button', { name: 'One write back' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled.').waitFor();
    answer.release();
    await page.unroute('**/v1/recall');
    await page.getByRole('button', { name: 'Ask again' }).click();
    await settled(page);
    await page.getByText('The bar sells cold coffee').waitFor();
  });

  it('says that an empty space has no past', async () => {
    await using empty = await inspect({ fill: async () => undefined });
    await using opened = await empty.open({ at: '#/time' });
    await opened.page.getByText('Nothing has happened yet').waitFor();
    await opened.page.getByRole('heading', { name: 'Time', level: 1 }).waitFor();
  });
});
