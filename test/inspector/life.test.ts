import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openSpaces } from '../../src/index.ts';
import { describeInBrowser, eventually } from './browser.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

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
    const elsewhere = ['remember', 'Another process wrote this', '--path', demo.directory, '--space', 'demo'];
    await promisify(execFile)(process.execPath, [main, ...elsewhere]);
    await feed.getByText('Another process wrote this').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await demo.memory.remember('A second table came by ship', { type: 'event' });
    await page.getByRole('button', { name: 'Check the store' }).click();
    await page.getByText('The store is sound, and the embedder answers').waitFor();
    expect(await feed.getByText('A second table came by ship').count()).toBe(0);
    await page.getByRole('button', { name: 'Paused' }).click();
    await feed.getByText('A second table came by ship').waitFor();
    const written = feed.locator('li', { hasText: 'remember' });
    await eventually(() => written.filter({ hasText: 'A cupping table of oak arrived' }).count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('shows what a memory says now, and of a forgotten one no text', async () => {
    await using demo = await inspect({ fill: (memory) => memory.remember('The van is red', { id: 'van' }) });
    await using opened = await demo.open({ at: '#/life' });
    const feed = opened.page.locator('.feed');
    await feed.getByText('The van is red').waitFor();
    await demo.memory.update('van', { content: 'The van is green' });
    await eventually(() => feed.locator('li', { hasText: 'The van is green' }).count()).toBe(2);
    expect(await feed.getByText('The van is red').count()).toBe(0);
    await demo.memory.forget('van');
    await feed.getByText('forget', { exact: true }).waitFor();
    await eventually(() => feed.getByText('The van is').count()).toBe(0);
  });

  it('asks on when nothing happened for a while', async () => {
    await using demo = await inspect({ fill: (memory) => memory.remember('Prefers dark roast') });
    await using opened = await demo.open();
    const { page, go } = opened;
    let idle = 0;
    await page.route('**/v1/activity?*', (route) => {
      const position = new URL(route.request().url()).searchParams.get('after');
      if (position === 'end' || idle === 3) return route.continue();
      idle++;
      return route.fulfill({ json: { entries: [], position } });
    });
    await go('#/life');
    await eventually(async () => idle).toBe(3);
    await demo.memory.remember('Something after a while');
    await page.locator('.feed').getByText('Something after a while').waitFor();
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

  it('says what the language model failed on in maintenance', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/life' });
    const { page } = opened;
    await page.route('**/v1/maintain', async (route) => {
      const response = await route.fetch();
      const report = { ...(await response.json()), failures: ['it is down', 'it is down'] };
      await route.fulfill({ response, json: report });
    });
    await page.getByRole('button', { name: 'What would it do?' }).click();
    await page.getByText('The language model failed: it is down').waitFor();
    expect(await page.locator('.toast.failed').count()).toBe(1);
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

  it('draws the bar of today as wide as those of other days', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/life' });
    const { page } = opened;
    const over = await page.locator('.u-over').boundingBox();
    if (!over) throw new Error('there is no chart');
    await page.mouse.move(over.x + over.width - 2, over.y + over.height / 2);
    const point = page.locator('.u-cursor-pt').first();
    // Half a day of 30 lies between the point of today and the edge.
    await eventually(async () => {
      const at = await point.boundingBox();
      return at ? over.x + over.width - (at.x + at.width / 2) : 0;
    }).toBeGreaterThan(over.width / 70);
  });

  it('shows an administrator the tokens and spaces of the server, and nobody else', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ rights: 'admin', at: '#/life' });
    const { page, complaints } = opened;
    const line = page.locator('li', { hasText: 'shop agent' });
    await line.getByText('project:shop, team:sales').waitFor();
    await line.getByText('read', { exact: true }).waitFor();
    const space = page.locator('li', { hasText: 'this one' });
    await space.getByText('44 memories').waitFor();
    await space.getByText('no known backup').waitFor();
    await page.getByText('none known; salience backup copies a file').waitFor();
    const folder = mkdtempSync(join(tmpdir(), 'salience-backup-'));
    await demo.memory.backup(join(folder, 'copy.db'));
    rmSync(folder, { recursive: true });
    await page.getByRole('button', { name: 'Check the store' }).click();
    await space.getByText(/backup .*(now|min)/).waitFor();
    expect(complaints).toEqual([]);
    for (const rights of ['read', 'write'] as const) {
      await using other = await demo.open({ rights, at: '#/life' });
      await other.page.getByText('salience token create --rights admin').waitFor();
      expect(await other.page.getByText('shop agent').count()).toBe(0);
    }
  });

  it('takes whoever runs the server to another space, and nobody else; undo stays where it belongs', async () => {
    await using demo = await inspect();
    const spaces = openSpaces({ path: demo.directory, embedder: 'none' });
    await (await spaces.get('bakery')).remember('The oven is of brick', { id: 'oven' });
    await spaces.close();
    await using opened = await demo.open({ rights: 'admin', at: '#/memories/label' });
    const { page, go, complaints } = opened;
    await page.getByRole('button', { name: 'Invalidate…' }).click();
    await page.getByLabel('Why it is no longer true').fill('a test');
    await page.keyboard.press('Enter');
    await page.getByText('Marked as no longer true.').waitFor();
    await go('#/life');
    await page.getByRole('button', { name: 'Go to the space bakery' }).click();
    await page.locator('.space-name', { hasText: 'bakery' }).waitFor();
    await page.locator('.feed').getByText('The oven is of brick').waitFor();
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    expect((await demo.memory.get('label'))?.invalidatedAt).toBeUndefined();
    expect(page.url()).not.toContain('demo');
    // A link leads there as well, and back.
    await go('#/memories?space=demo');
    await page.getByText('This link is to the space demo').waitFor();
    await page.getByRole('button', { name: 'Go to the space demo' }).click();
    await page.locator('.space-name', { hasText: 'demo' }).waitFor();
    await page.getByRole('heading', { name: /Memories 44/ }).waitFor();
    expect(complaints).toEqual([]);
    await using other = await demo.open({ rights: 'write', at: '#/memories?space=bakery' });
    await other.page.getByText('This link is to the space bakery').waitFor();
    expect(await other.page.getByRole('button', { name: 'Go to the space bakery' }).count()).toBe(0);
  });

  it('says what the check of a store found, with what to do', async () => {
    await using plain = await inspect({ fill: (memory) => memory.remember('Prefers dark roast') });
    await using opened = await plain.open({ rights: 'read', at: '#/life' });
    await opened.page.getByRole('button', { name: 'Check the store' }).click();
    await opened.page.getByText('Warning: no embedder: recalls go by words alone').waitFor();
    await opened.page.route('**/v1/health', (route) =>
      route.fulfill({ json: { warnings: [], problems: ['the row 3 of memory is damaged: restore it'] } }),
    );
    await opened.page.getByRole('button', { name: 'Check the store' }).click();
    await opened.page.getByText('Problem: the row 3 of memory is damaged: restore it').waitFor();
    expect(await opened.page.getByText('is sound').count()).toBe(0);
  });

  it('asks for no reindexing where a text cannot have a vector', async () => {
    await using demo = await inspect();
    await demo.memory.remember('🎉🎉');
    const { memories, vectors } = await demo.memory.stats();
    expect(vectors).toBe(memories - 1);
    await using opened = await demo.open({ at: '#/life' });
    const { page } = opened;
    await page.getByText('Signed in by the token').waitFor();
    expect(await page.getByText('salience reindex').count()).toBe(0);
    await page.getByRole('button', { name: 'Check the store' }).click();
    await page.getByText('The store is sound').waitFor();
    expect(await page.getByText('salience reindex').count()).toBe(0);
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
