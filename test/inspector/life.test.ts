import { expect, it } from 'vitest';
import { describeInBrowser, eventually } from './browser.ts';

describeInBrowser('the view of the life of a space', ({ inspect }) => {
  it('shows writes and uses as they happen, and none while it is paused', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/life' });
    const { page, complaints } = opened;
    const feed = page.locator('.feed');
    await feed.locator('li').first().waitFor();
    await demo.memory.remember('A cupping table of oak arrived', { type: 'event' });
    await feed.getByText('A cupping table of oak arrived').waitFor();
    await demo.memory.recall('which cupping table?', { strategy: 'retention' });
    await feed.getByText('used · retention').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await demo.memory.remember('A second table came by ship', { type: 'event' });
    await page.getByRole('button', { name: 'Check the store' }).click();
    await page.getByText('The store is sound.').waitFor();
    expect(await feed.getByText('A second table came by ship').count()).toBe(0);
    await page.getByRole('button', { name: 'Paused' }).click();
    await feed.getByText('A second table came by ship').waitFor();
    const written = feed.locator('li', { hasText: 'remember' });
    await eventually(() => written.filter({ hasText: 'A cupping table of oak arrived' }).count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('says what maintenance would do before it does it, by the keyboard alone', async () => {
    await using demo = await inspect();
    await demo.memory.remember('The van is rented until noon', { id: 'van', expiresAt: new Date() });
    await using opened = await demo.open({ at: '#/life' });
    const { page } = opened;
    const writes = (await demo.memory.stats()).sequence;
    await page.getByRole('button', { name: 'What would it do?' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('have expired, and would be forgotten').waitFor();
    expect((await demo.memory.stats()).sequence).toBe(writes);
    expect(await demo.memory.get('van')).toBeDefined();
    await page.getByRole('button', { name: 'Do it' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Maintenance is done.').waitFor();
    expect(await demo.memory.get('van')).toBeUndefined();
  });

  it('counts days as the logs do, and says the sizes', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ rights: 'read', at: '#/life' });
    const { page } = opened;
    await page.getByText('As a list').click();
    const today = new Date().toISOString().slice(0, 10);
    const operations = await demo.memory.operations({ limit: 1000 });
    const recalls = await demo.memory.recalls({ limit: 1000 });
    const on = (each: { readonly at: string }) => each.at.startsWith(today);
    const line = `${today} ${operations.filter(on).length} writes, ${recalls.filter(on).length} recalls`;
    await page.getByText(line).waitFor();
    const { embedding, byScope } = await demo.memory.stats();
    await page.getByText(`${Object.keys(byScope).length} scopes`).click();
    await page.getByRole('link', { name: 'project:shop', exact: true }).waitFor();
    await page.getByText('which may read in all scopes').waitFor();
    await page.getByText(`${embedding?.model}, ${embedding?.dimensions} dimensions`).waitFor();
    await page.getByText('it cannot run maintenance').waitFor();
    expect(await page.getByRole('button', { name: 'What would it do?' }).count()).toBe(0);
  });

  it('waits for the first write of an empty space', async () => {
    await using empty = await inspect({ fill: async () => undefined });
    await using opened = await empty.open({ at: '#/life' });
    const { page, complaints } = opened;
    await page.getByText('Nothing yet.').waitFor();
    await empty.memory.remember('<img src=x onerror="window.hostile=1">');
    await page.getByText('<img src=x').waitFor();
    expect(await page.evaluate(() => 'hostile' in window)).toBe(false);
    expect(complaints).toEqual([]);
  });
});
