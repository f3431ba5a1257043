import { expect, it } from 'vitest';
import { describeInBrowser, eventually, settled } from './browser.ts';

describeInBrowser('the view of conflicts', ({ inspect }) => {
  it('decides by the keyboard alone, goes on to the next, and takes a decision back', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/conflicts' });
    const { page, complaints } = opened;
    const before = await demo.memory.conflicts({ limit: 100 });
    expect(before.length).toBeGreaterThan(2);
    const [first, second] = before;
    const cards = page.getByRole('article');
    await eventually(() => cards.count()).toBe(before.length);
    await page.locator('article:focus').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('3');
    await page.getByText('The newer memory supersedes the older one.').waitFor();
    const older = await demo.memory.get(first?.older.id as string);
    const newer = await demo.memory.get(first?.newer.id as string);
    expect(newer?.supersedes).toContain(older?.id);
    // The next conflict has the focus, so that the next key decides it.
    await page.locator(`article[aria-label="Conflict ${second?.conflictId}"]:focus`).waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('Undone.', { exact: true }).waitFor();
    expect((await demo.memory.conflicts({ limit: 100 })).length).toBe(before.length);
    expect(complaints).toEqual([]);
  });

  it('erases only when it is asked twice', async () => {
    await using demo = await inspect();
    const [first] = await demo.memory.conflicts({ limit: 1 });
    await using opened = await demo.open({ at: '#/conflicts' });
    const { page } = opened;
    await page.locator('article:focus').waitFor();
    await page.keyboard.press('4');
    await page.getByText('Really erase it?').waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => page.getByText('Really erase it?').count()).toBe(0);
    await page.keyboard.press('4');
    await page.getByText('Really erase it?').waitFor();
    expect(await demo.memory.get(first?.older.id as string)).toBeDefined();
    await page.keyboard.press('4');
    await page.getByText('The older memory is erased.').waitFor();
    expect(await demo.memory.get(first?.older.id as string)).toBeUndefined();
  });

  it('takes a double click and a held key for one press: nothing is erased, and one conflict is decided', async () => {
    await using demo = await inspect();
    const before = await demo.memory.conflicts({ limit: 100 });
    const [first, second] = before;
    await using opened = await demo.open({ at: '#/conflicts' });
    const { page } = opened;
    const erase = page.getByRole('button', { name: 'Delete the older one' }).first();
    await erase.dblclick();
    await page.getByText('Really erase it?').waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => page.getByText('Really erase it?').count()).toBe(0);
    await erase.focus();
    await page.keyboard.down('Enter');
    await page.getByText('Really erase it?').waitFor();
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await settled(page);
    expect(await demo.memory.get(first?.older.id as string)).toBeDefined();

    // The second click comes after the answer, when the next conflict lies below the pointer.
    const box = await page.getByRole('button', { name: 'Keep both' }).first().boundingBox();
    await page.mouse.click((box?.x ?? 0) + 20, (box?.y ?? 0) + 20);
    await page.locator(`article[aria-label="Conflict ${second?.conflictId}"]:focus`).waitFor();
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await settled(page);
    expect((await demo.memory.conflicts({ limit: 100 })).length).toBe(before.length - 1);
  });

  it('says what another process has decided meanwhile', async () => {
    await using demo = await inspect();
    const [first] = await demo.memory.conflicts({ limit: 1 });
    await using opened = await demo.open({ at: '#/conflicts' });
    const { page } = opened;
    await page.locator('article:focus').waitFor();
    await demo.memory.resolve(first?.conflictId as string, 'keep-both');
    await page.keyboard.press('2');
    await page.getByText('is already resolved').waitFor();
    await page.getByRole('article', { name: `Conflict ${first?.conflictId}`, exact: true }).waitFor({
      state: 'detached',
    });
  });

  it('shows both statements and no button to whoever may only read', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ rights: 'read', at: '#/conflicts' });
    const { page } = opened;
    await page.getByText('it cannot decide').waitFor();
    await eventually(() => page.getByRole('article').count()).toBeGreaterThan(0);
    expect(await page.getByRole('article').getByRole('button').count()).toBe(0);
    await page.getByRole('article').first().focus();
    const pending = (await demo.memory.conflicts({ limit: 100 })).length;
    await page.keyboard.press('1');
    expect((await demo.memory.conflicts({ limit: 100 })).length).toBe(pending);
  });

  it('shows each statement with its own white space', async () => {
    await using demo = await inspect();
    const [older, newer] = ['The bar opens at eight\non Sundays', 'The bar opens at eight'];
    await demo.memory.remember(older, { id: 'older' });
    await demo.memory.remember(newer, { id: 'newer' });
    const pending = await demo.memory.conflicts({ limit: 100 });
    const { conflictId } =
      pending.find((each) => each.older.id === 'older' && each.newer.id === 'newer') ?? {};
    await using opened = await demo.open({ at: '#/conflicts' });
    const texts = opened.page.locator(`article[aria-label="Conflict ${conflictId}"] .statement`);
    await eventually(() => texts.allTextContents()).toEqual([older, newer]);
    await demo.memory.update('older', { content: newer });
    await opened.go('#/memories/older');
    await eventually(() => opened.page.locator('.difference').first().textContent()).toBe(older);
  });

  it('goes on at the first of those that were not shown, and begins nowhere else when it is asked again', async () => {
    await using many = await inspect();
    let pending = await many.memory.conflicts({ limit: 100 });
    for (let at = 0; pending.length <= 20; at++) {
      await many.memory.remember(`The shop in Harbour street opens at ${at} on Sundays`);
      pending = await many.memory.conflicts({ limit: 100 });
    }
    expect(pending.length).toBeLessThanOrEqual(40);
    await using opened = await many.open({ at: '#/conflicts' });
    const { page, complaints } = opened;
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.locator(`article[aria-label="Conflict ${pending[20]?.conflictId}"]:focus`).waitFor();
    // Nothing has the focus, and the page is somewhere in the middle.
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    const y = await page.evaluate(() => scrollY);
    expect(y).toBeGreaterThan(1000);
    await page.evaluate(() => {
      location.hash = '#/life';
    });
    await settled(page);
    await page.goBack();
    await page.locator('article:focus').waitFor();
    await settled(page);
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(1000);
    expect(complaints).toEqual([]);
  });

  it('says how conflicts come about where there is none', async () => {
    await using empty = await inspect({ fill: async () => undefined });
    await using opened = await empty.open({ at: '#/conflicts' });
    await opened.page.getByText('Nothing to decide').waitFor();
  });

  it('shows hostile statements as text', async () => {
    await using demo = await inspect();
    const script = '<img src=x onerror="window.hostile=1"><script>window.hostile=1</script>';
    for (const hour of ['eight', 'nine']) {
      await demo.memory.remember(`${script} the bar opens every morning at ${hour}`, { title: script });
    }
    const conflicts = await demo.memory.conflicts({ limit: 100 });
    expect(conflicts.some(({ newer }) => newer.content.startsWith(script))).toBe(true);
    await using opened = await demo.open({ at: '#/conflicts' });
    const { page, complaints } = opened;
    await page.getByText(script).first().waitFor();
    expect(await page.evaluate(() => 'hostile' in window)).toBe(false);
    expect(complaints).toEqual([]);
  });
});
