import { expect, it } from 'vitest';
import { describeInBrowser, eventually, settled, shareDemo } from './browser.ts';

describeInBrowser('the view of the context', (browser) => {
  const demo = shareDemo(browser);

  it('shows what the engine answers: the text, the tokens, and what is left out with its reason', async () => {
    await using opened = await demo.open({ at: '#/context?q=coffee&budget=250' });
    const { page, complaints } = opened;
    const { items, omitted, tokens } = await demo.memory.context('coffee', { maxTokens: 250, track: false });
    expect(items.length).toBeGreaterThan(0);
    expect(omitted.length).toBeGreaterThan(0);
    await page.getByText(`${tokens} of 250 tokens`).waitFor();
    const text = await page.locator('pre').innerText();
    for (const { memory } of items) expect(text).toContain(memory.content);
    await eventually(() => page.locator('.context-list:not(.out) li').count()).toBe(items.length);
    await page
      .getByText(omitted[0]?.message as string)
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it('tells every token of the text, those around the memories too', async () => {
    await using opened = await demo.open({ at: '#/context?q=coffee&budget=300' });
    const bar = opened.page.locator('.budget-bar');
    const { tokens } = await demo.memory.context('coffee', { maxTokens: 300, track: false });
    const label = (await bar.getAttribute('aria-label')) as string;
    const parts = [...label.slice(label.indexOf(':')).matchAll(/ (\d+)(?=,|$)/g)].map(([, count]) =>
      Number(count),
    );
    expect(parts.reduce((sum, count) => sum + count, 0)).toBe(tokens);
    const filled = await bar.evaluate((each) => {
      const widths = [...each.children].map((part) => part.getBoundingClientRect().width);
      return widths.reduce((sum, width) => sum + width, 0) / each.getBoundingClientRect().width;
    });
    expect(filled).toBeCloseTo(tokens / 300, 1);
  });

  it('changes with the budget, by the keyboard alone, and learns nothing of it', async () => {
    await using opened = await demo.open({ at: '#/context?q=coffee&budget=200' });
    const { page } = opened;
    const before = (await demo.memory.activity('end')).position;
    const few = await page.locator('.context-list:not(.out) li').count();
    await page.getByLabel('Budget in tokens', { exact: true }).focus();
    for (let presses = 0; presses < 6; presses++) await page.keyboard.press('ArrowRight');
    await page.getByText('of 500 tokens').waitFor();
    await settled(page);
    await eventually(() => page.locator('.context-list:not(.out) li').count()).toBeGreaterThan(few);
    await page.waitForURL(/budget=500/);
    expect((await demo.memory.activity(before)).entries).toEqual([]);
  });

  it('shows what is pinned, what it costs, and other formats, to whoever may only read', async () => {
    await using opened = await demo.open({ rights: 'read', at: '#/context?q=coffee' });
    const { page } = opened;
    const { tokens, items } = await demo.memory.pinned();
    await page.getByText(`${items.length} pinned memories take ${tokens} tokens`).waitFor();
    await page.getByRole('button', { name: 'Show them' }).click();
    await page.getByText(`${tokens} of 5,000 tokens`).waitFor();
    await page.getByLabel('Written as').selectOption('xml');
    await page.locator('pre', { hasText: '<memor' }).waitFor();
    await page.getByLabel('Written as').selectOption('messages');
    await page.getByRole('heading', { name: 'system' }).waitFor();
  });

  it('says that nothing is there in an empty space', async () => {
    await using empty = await browser.inspect({ fill: async () => undefined });
    await using opened = await empty.open({ at: '#/context?q=coffee' });
    await opened.page.getByText('Nothing is in it').waitFor();
    await opened.go('#/context?for=turn');
    await opened.page.getByText('Nothing is in it').waitFor();
  });
});
