import { expect, it } from 'vitest';
import type { MemoryEngine } from '../../src/index.ts';
import { describeInBrowser, eventually, failure, held } from './browser.ts';

/** Fills a space with this many recorded recalls, of `question 0` and so on. */
function ask(times: number) {
  return async (memory: MemoryEngine) => {
    await memory.configure({ recordRecalls: { days: 30, texts: true } });
    for (let count = 0; count < times; count++) await memory.recall(`question ${count}`);
  };
}

describeInBrowser('the view What was asked', ({ inspect }) => {
  it('lists the recorded recalls, and repeats one beside what is answered now', async () => {
    await using demo = await inspect();
    const recorded = await demo.memory.recalls();
    const meant = recorded.find(({ query }) => query === 'which database does the shop run on?');
    await using opened = await demo.open();
    const { page, complaints } = opened;
    await page.getByRole('heading', { name: 'What was asked' }).waitFor();
    await eventually(() => page.locator('.asked-line').count()).toBe(recorded.length);
    await page.getByRole('link', { name: /what is wrong with the roaster/ }).click();
    await page.getByText('repeated to the bit').waitFor();
    const then = await demo.memory.replay(
      recorded.find(({ query }) => query?.includes('roaster'))?.recallId as string,
    );
    await eventually(() => page.locator('.placed').first().locator('li').count()).toBe(then.hits.length);
    await demo.memory.forget('database');
    await opened.go(`#/asked/${meant?.recallId}`);
    await page.getByText('repeats differently').waitFor();
    await page.getByText('forgotten since').waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows then and now of a recall that is older than the list', async () => {
    await using demo = await inspect();
    const [first] = (await demo.memory.recalls({ limit: 1000 })).slice(-1);
    for (let count = 0; count < 50; count++) await demo.memory.recall(`coffee ${count}`);
    await using opened = await demo.open({ at: `#/asked/${first?.recallId}` });
    const { page } = opened;
    await page.getByRole('heading', { name: first?.query ?? '', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Now' }).waitFor();
  });

  it('shows new recalls by itself, and those of any process', async () => {
    await using demo = await inspect();
    await using opened = await demo.open();
    const { page } = opened;
    await page.locator('.asked-line').first().waitFor();
    await demo.memory.recall('is there a van for rent?');
    await page.getByRole('link', { name: /is there a van for rent/ }).waitFor();
  });

  it('keeps the list and what is open beside it when asking again fails', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/conflicts' });
    const { page, go } = opened;
    await page.clock.install();
    await go('#/asked');
    await page.locator('.asked-line').first().click();
    await page.getByText('repeated to the bit').waitFor();
    const count = await page.locator('.asked-line').count();
    await page.route('**/v1/recalls?*', (route) => route.fulfill(failure('a fault in salience')));
    await page.clock.runFor(4000);
    await page.getByText('a fault in salience').waitFor();
    expect(await page.locator('.asked-line').count()).toBe(count);
    expect(await page.getByText('repeated to the bit').count()).toBe(1);
    await page.unrouteAll();
    await page.clock.runFor(4000);
    await eventually(() => page.getByText('a fault in salience').count()).toBe(0);
  });

  it('goes one page on, however often "Older" is pressed before the list is there', async () => {
    await using demo = await inspect({ fill: ask(120) });
    await using opened = await demo.open();
    const { page } = opened;
    const first = page.locator('.asked-line').first();
    await first.getByText('question 119').waitFor();
    const answer = held();
    await page.route('**/v1/recalls?*', async (route) => {
      await answer.until;
      await route.continue().catch(() => undefined);
    });
    const older = page.getByRole('button', { name: 'Older' });
    await older.click();
    await older.click();
    answer.release();
    await first.getByText('question 69').waitFor();
    await page.getByRole('button', { name: 'Newer' }).click();
    await first.getByText('question 119').waitFor();
  });

  it('shows a recall in sight beside the list, however far down its entry is', async () => {
    await using demo = await inspect({ fill: ask(60) });
    await using opened = await demo.open();
    const { page } = opened;
    await page.getByRole('link', { name: /question 15/ }).click();
    const detail = page.getByRole('region', { name: 'The recall, then and now' });
    await detail.getByText('repeated to the bit').waitFor();
    const top = () => detail.evaluate((element) => element.getBoundingClientRect().top);
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(1000);
    expect(await top()).toBeGreaterThanOrEqual(0);
    expect(await top()).toBeLessThan(200);
    // Below each other there is nothing beside which it could stay.
    await page.setViewportSize({ width: 380, height: 900 });
    await eventually(() => detail.evaluate((element) => getComputedStyle(element).position)).toBe('static');
  });

  it('keeps the page of the list in its address: when one comes back, reloads, or follows a link', async () => {
    await using demo = await inspect({ fill: ask(120) });
    await using opened = await demo.open();
    const { page, go } = opened;
    const first = page.locator('.asked-line').first();
    await first.getByText('question 119').waitFor();
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('Older').click();
    await first.getByText('question 69').waitFor();
    await button('Older').click();
    await first.getByText('question 19').waitFor();
    await page.getByRole('link', { name: /question 15/ }).click();
    await page.getByText('repeated to the bit').waitFor();
    await go('#/memories');
    await page.goBack();
    await first.getByText('question 19').waitFor();
    await page.reload();
    await first.getByText('question 19').waitFor();
    await page.getByRole('link', { name: 'All recalls' }).click();
    await first.getByText('question 19').waitFor();
    // A page that was opened by its address has no page before it but the newest.
    await button('Newer').click();
    await first.getByText('question 119').waitFor();
    await go('#/asked?before=yesterday');
    await page.getByText('before=yesterday is not the id of a recall').waitFor();
    await first.getByText('question 119').waitFor();
  });

  it('waits for an answer that takes longer than until it would ask again', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/conflicts' });
    const { page } = opened;
    await page.clock.install();
    const answer = held();
    const asked: string[] = [];
    await page.route('**/v1/recalls?*', async (route) => {
      asked.push(route.request().url());
      if (asked.length === 1) await answer.until;
      await route.continue().catch(() => undefined);
    });
    await page.evaluate(() => {
      location.hash = '#/asked';
    });
    await eventually(async () => asked.length).toBe(1);
    await page.clock.runFor(30_000);
    expect(asked.length).toBe(1);
    answer.release();
    await page.locator('.asked-line').first().waitFor();
    await page.clock.runFor(5000);
    await eventually(async () => asked.length).toBeGreaterThan(1);
  });

  it('marks what is new and what is gone', async () => {
    await using demo = await inspect();
    const recorded = (await demo.memory.recalls()).find(({ query }) => query?.includes('deploy'));
    await demo.memory.remember('We deploy the shop when it rains', { id: 'rain', scope: 'project:shop' });
    await using opened = await demo.open({ at: `#/asked/${recorded?.recallId}` });
    const { page } = opened;
    const now = page.locator('.placed').nth(1);
    await now.getByText('when it rains').waitFor();
    await now.locator('li', { hasText: 'when it rains' }).getByText('new').waitFor();
    await eventually(() => page.locator('.placed').first().getByText('gone').count()).toBeGreaterThan(0);
  });

  it('is the overview where nothing is recorded, and turns recording on', async () => {
    await using fresh = await inspect({
      fill: (memory) => memory.remember('Prefers dark roast', { id: 'dark' }),
    });
    await using reading = await fresh.open({ rights: 'read' });
    await reading.page.getByText('this session may only read').waitFor();
    await using opened = await fresh.open();
    const { page } = opened;
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: /Record recalls for 30 days/ }).click();
    await page.getByText('Recalls are recorded from now on').waitFor();
    // A page that is loaded anew says so too, and no longer offers it.
    await page.reload();
    await page.getByText('This space records its recalls, and keeps each for 30 days.').waitFor();
    expect(await page.getByRole('button', { name: /Record recalls/ }).count()).toBe(0);
    await fresh.memory.recall('roast');
    await opened.go('#/recall');
    await opened.go('#/asked');
    await page.getByRole('link', { name: /roast/ }).waitFor();
  });
});
