import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser } from './browser.ts';

const LISTED = 'שלום עולם.\n[3] (fact) english\n\nend';

describeInBrowser('texts from right to left', ({ inspect }) => {
  it('leave each line as it was written, and each arrow between what it leads from and to', async () => {
    await using own = await inspect({
      fill: async (memory) => {
        await memory.remember(LISTED, { id: 'listed', title: 'ראשון' });
        await memory.update('listed', { title: 'אחרון' });
        await memory.remember('english', { id: 'last' });
        await memory.link('listed', 'last', { weight: 1 });
      },
    });
    await using opened = await own.open({ at: '#/memories/listed' });
    const { page, go } = opened;
    const content = page.locator('.detail .content');
    expect(await order(content, ['[3', '(f', 'english'])).toEqual(['[3', '(f', 'english']);
    expect(await content.innerText()).toBe(LISTED);
    const renamed = page.locator('.timeline dd', { hasText: 'אחרון' });
    expect(await order(renamed, ['ראשון', '→', 'אחרון'])).toEqual(['ראשון', '→', 'אחרון']);
    await go('#/context?q=english');
    expect(await order(page.locator('pre'), ['(fact)', 'english'])).toEqual(['(fact)', 'english']);
    expect(await page.locator('pre').innerText()).toMatch(/שלום עולם\.\n +\[3\] \(fact\) english\n/);
  });
});

/** The parts of a text in the order in which they are seen from left to right. */
function order(shown: Locator, parts: readonly string[]): Promise<readonly string[]> {
  return shown.evaluate((element, wanted) => {
    const left = (part: string) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const at = node.textContent?.indexOf(part) ?? -1;
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return range.getBoundingClientRect().left;
      }
      throw new Error(`${part} is not shown`);
    };
    return wanted.toSorted((a, b) => left(a) - left(b));
  }, parts);
}
