import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { MemoryEngine } from '../../src/index.ts';
import { describeInBrowser, eventually, failure, held, picture, settled } from './browser.ts';

/** Defined in the page. */
declare function inView(element: Element): boolean;

describeInBrowser('the view Memories', ({ inspect }) => {
  const idsShown = async (page: Page): Promise<readonly string[]> => {
    const rows = page.locator('.table .rows .line:not(:has(.quiet:text-is("…")))');
    await rows.first().waitFor();
    return rows.evaluateAll((each) =>
      each
        .map(
          (row) =>
            [Number(row.getAttribute('aria-rowindex')), row.querySelector('bdi')?.textContent ?? ''] as const,
        )
        .sort(([a], [b]) => a - b)
        .map(([, text]) => text),
    );
  };

  it('sorts and filters as the list of the engine does', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Importance' }).click();
    await page.waitForURL(/sort=importance/);
    await settled(page);
    const listed = async (options: object) =>
      (await demo.memory.list({ limit: 100, ...options })).memories.map(({ title, content }) =>
        title ? `${title}: ${content}` : content,
      );
    const sorted = await listed({ sort: 'importance' });
    await eventually(async () => {
      const shown = await idsShown(page);
      return shown.length > 10 && isDeepStrictEqual(shown, sorted.slice(0, shown.length));
    }).toBe(true);
    await page.getByText('Filter', { exact: true }).click();
    await page.getByLabel('Types', { exact: true }).fill('rule');
    await page.getByLabel('Types', { exact: true }).press('Enter');
    await page.waitForURL(/types=rule/);
    await settled(page);
    const rules = await listed({ sort: 'importance', types: ['rule'] });
    await page.getByText(String(rules.length), { exact: true }).first().waitFor();
    await eventually(() => idsShown(page)).toEqual(rules);
  });

  it('begins the list at the memory that is open, after a reload and on Back', async () => {
    await using many = await inspect({
      fill: async (memory) => {
        for (let at = 0; at < 300; at++) await memory.remember(`Roast ${at}`, { id: `r${at}` });
      },
    });
    await using opened = await many.open({ at: '#/memories/r20' });
    const { page, go, complaints } = opened;
    const row = page.locator('.table .line[aria-selected="true"]');
    const isInSight = () => row.evaluateAll((rows) => rows.length === 1 && inView(rows[0] as Element));
    await page.addInitScript(() => {
      Object.assign(globalThis, {
        inView(element: Element) {
          const { top, bottom } = element.getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight;
        },
      });
    });
    await page.reload();
    await eventually(isInSight).toBe(true);
    await page.getByRole('link', { name: 'Recall' }).click();
    await settled(page);
    await page.goBack();
    await eventually(isInSight).toBe(true);
    // On a narrow screen the list is hidden until the memory is closed.
    await page.setViewportSize({ width: 380, height: 800 });
    await page.reload();
    await page.getByRole('button', { name: 'Close this memory' }).click();
    await eventually(() => page.locator('.table .line.at').innerText()).toContain('Roast 20');
    await page.getByText('Roast 20', { exact: true }).waitFor();
    // One that is not in the list is shown beside its top.
    await page.setViewportSize({ width: 1280, height: 900 });
    await go('#/recall');
    await go('#/memories/r20?types=rule');
    await page.getByText('No memory matches').waitFor();
    expect(complaints).toEqual([]);
  });

  it('edits a memory, shows what changed, and takes exactly that back', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page, complaints } = opened;
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('What it says').fill('The Ethiopian Guji tastes of jasmine');
    await page.getByLabel('Tags, one on each line').fill('taste\nfloral');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Changed.').waitFor();
    expect(await demo.memory.get('guji')).toMatchObject({
      content: 'The Ethiopian Guji tastes of jasmine',
      tags: ['taste', 'floral'],
    });
    await page.locator('.difference ins', { hasText: 'jasmine' }).waitFor();
    // Somebody else writes before it is undone.
    await demo.memory.remember('Another memory', { id: 'another' });
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    expect((await demo.memory.get('guji'))?.content).toContain('bergamot');
    expect(await demo.memory.get('another')).toBeDefined();
    await page.locator('.detail .content', { hasText: 'bergamot' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('sends only what was changed, whatever others changed meanwhile', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Edit' }).click();
    const scope = page.getByRole('textbox', { name: 'Scope', exact: true });
    await scope.fill('bad scope!');
    await demo.memory.update('guji', { title: 'By somebody else', importance: 0.11 });
    await page.getByRole('button', { name: 'Save' }).click();
    // It was refused, and the memory is read again.
    await page.getByRole('heading', { name: 'By somebody else' }).waitFor();
    await scope.fill('project:x');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Changed.').waitFor();
    expect(await demo.memory.get('guji')).toMatchObject({
      title: 'By somebody else',
      importance: 0.11,
      scope: 'project:x',
    });
  });

  it('overwrites nothing that others wrote meanwhile unless somebody says so, and loses nothing typed', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page, complaints } = opened;
    const save = page.getByRole('button', { name: 'Save' });
    const content = page.getByRole('textbox', { name: 'What it says' });
    const title = page.getByLabel('Title', { exact: true });
    await page.getByRole('button', { name: 'Edit' }).click();
    await content.fill('Typed here');
    await title.fill('Title of mine');
    await page.getByRole('textbox', { name: 'Topic', exact: true }).fill('coffee/guji');
    await demo.memory.update('guji', {
      content: 'Written meanwhile',
      title: 'Title of theirs',
      importance: 0.11,
    });
    await save.click();
    const notice = page.getByRole('alert').filter({ hasText: 'was changed meanwhile' });
    await notice.getByText('Written meanwhile', { exact: true }).waitFor();
    await notice.getByText('Title of theirs', { exact: true }).waitFor();
    await settled(page);
    await picture(page, 'memories-changed-meanwhile');
    expect(await demo.memory.get('guji')).toMatchObject({ content: 'Written meanwhile', importance: 0.11 });
    expect((await demo.memory.get('guji'))?.topicKey).toBeUndefined();
    expect(await content.inputValue()).toBe('Typed here');
    // Elsewhere and back, the notice is still there, and so is what was typed.
    await opened.go('#/memories/label');
    await opened.go('#/memories/guji');
    expect(await content.inputValue()).toBe('Typed here');
    await notice.getByText('Title of theirs', { exact: true }).waitFor();
    await notice.getByRole('button', { name: 'Take this' }).nth(1).click();
    expect(await title.inputValue()).toBe('Title of theirs');
    // Once more before it is saved.
    await demo.memory.update('guji', { content: 'Written again' });
    await save.click();
    await notice.getByText('Written again', { exact: true }).waitFor();
    await save.click();
    await page.getByText('Changed.').waitFor();
    expect(await demo.memory.get('guji')).toMatchObject({
      content: 'Typed here',
      title: 'Title of theirs',
      topicKey: 'coffee/guji',
      importance: 0.11,
    });
    expect(complaints).toEqual([]);
  });

  it('overwrites nothing that was written while it saves', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('What it says').fill('Typed here');
    await page.route('**/v1/memories/guji', async (route) => {
      if (route.request().method() === 'PATCH')
        await demo.memory.update('guji', { content: 'Written meanwhile' });
      await route.continue();
    });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Written meanwhile', { exact: true }).waitFor();
    expect((await demo.memory.get('guji'))?.content).toBe('Written meanwhile');
    expect(await page.getByRole('textbox', { name: 'What it says' }).inputValue()).toBe('Typed here');
  });

  it('offers to undo the write that was made, and none of others', async () => {
    await using demo = await inspect();
    await demo.memory.invalidate('guji', 'it was sold out');
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page } = opened;
    const reinstate = page.getByRole('button', { name: 'Reinstate' });
    await reinstate.waitFor();
    // Another tab was first: there is nothing left to write.
    await demo.memory.reinstate('guji');
    await reinstate.click();
    const toast = page.locator('.toast');
    await toast.getByText('True again.').waitFor();
    expect(await toast.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    expect((await demo.memory.get('guji'))?.invalidatedAt).toBeUndefined();
  });

  it('takes a vote back', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page } = opened;
    const { usefulness } = (await demo.memory.get('guji')) ?? {};
    await page.getByRole('button', { name: 'Vote: it does not help' }).click();
    await page.getByText('Usefulness is').waitFor();
    expect((await demo.memory.get('guji'))?.usefulness).not.toBe(usefulness);
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    expect((await demo.memory.get('guji'))?.usefulness).toBe(usefulness);
  });

  it('says which days the dates of the filter are', async () => {
    await using late = await inspect({
      fill: (memory) => memory.remember('Late in the evening', { now: '2026-03-01T23:30:00Z' }),
    });
    await using opened = await late.open({ at: '#/memories', timezoneId: 'Pacific/Auckland' });
    const { page } = opened;
    await page.getByText('Filter', { exact: true }).click();
    await page.getByText('Days are those of UTC.').waitFor();
    await page.getByLabel('created before').fill('2026-03-02');
    await page.waitForURL(/createdBefore=2026-03-02/);
    await page.getByRole('grid').getByText('Late in the evening', { exact: true }).waitFor();
    await picture(page, 'memories-filter-days');
    await page.getByLabel('created before').fill('2026-03-01');
    await page.getByText('No memory matches').waitFor();
  });

  it('keeps a tag with a comma whole when another is added', async () => {
    await using demo = await inspect({
      fill: (memory) => memory.remember('Prefers dark roast', { id: 'roast', tags: ['Leeds, UK', 'coffee'] }),
    });
    await using opened = await demo.open({ at: '#/memories/roast' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Edit' }).click();
    const tags = page.getByLabel('Tags, one on each line');
    await tags.fill(`${await tags.inputValue()}\n taste \n`);
    await picture(page, 'memories-edit');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Changed.').waitFor();
    expect((await demo.memory.get('roast'))?.tags).toEqual(['Leeds, UK', 'coffee', 'taste']);
  });

  it('keeps what was typed while the server is away', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page, context } = opened;
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('What it says').fill('The Ethiopian Guji tastes of jasmine');
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.detail > .failure').waitFor();
    await picture(page, 'memories-away');
    await context.setOffline(false);
    await page.locator('.detail > .failure').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Changed.').waitFor();
    expect((await demo.memory.get('guji'))?.content).toContain('jasmine');
  });

  it('keeps what was typed where the session ends before it is saved, for whoever signs in to the space again', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page } = opened;
    const content = page.getByRole('textbox', { name: 'What it says' });
    const save = page.getByRole('button', { name: 'Save' });
    const edit = page.getByRole('button', { name: 'Edit' });
    const token = await page.evaluate(() => sessionStorage.getItem('salience-inspector-token') ?? '');
    await edit.click();
    await content.fill('Typed before the session ended');
    await page.route('**/v1/**', (route) =>
      route.fulfill(failure('this token is not known', 'unauthorized', 401)),
    );
    await save.click();
    await page.getByText('This session has ended').waitFor();
    await page.unrouteAll();
    await page.getByText('What you typed and did not save is kept in this page').waitFor();
    expect(
      await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }])),
    ).not.toContain('Typed before');
    const signIn = async (token: string) => {
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await signIn(token);
    expect(await content.inputValue()).toBe('Typed before the session ended');
    await save.click();
    await page.getByText('Changed.').waitFor();
    expect((await demo.memory.get('guji'))?.content).toBe('Typed before the session ended');
    // Who signs out leaves nothing behind.
    await edit.click();
    await content.fill('Nothing to keep');
    await page.getByRole('button', { name: 'Sign out' }).click();
    const [, code] = demo.server.inspectorUrl({ space: 'demo' }).split('#code=');
    const again = await page.evaluate(async (body) => {
      const answer = await fetch('session', { method: 'POST', body });
      return ((await answer.json()) as { token: string }).token;
    }, JSON.stringify({ code }));
    await signIn(again);
    await edit.waitFor();
    expect(await page.getByText('is kept in this page').count()).toBe(0);
  });

  it('has its buttons beside a title of any length, also on a phone', async () => {
    await using demo = await inspect();
    await demo.memory.update('guji', { title: 'x'.repeat(900) });
    await using opened = await demo.open({ at: '#/memories/guji', viewport: { width: 360, height: 740 } });
    const heading = opened.page.locator('.detail h2');
    const button = opened.page.getByRole('button', { name: 'Close this memory' });
    await button.waitFor();
    const [title, close] = [await heading.boundingBox(), await button.boundingBox()];
    expect(close!.y - title!.y).toBeLessThan(40);
    expect(close!.x + close!.width).toBeLessThanOrEqual(360);
    expect(title!.width).toBeGreaterThan(150);
  });

  it('invalidates with a reason and reinstates, by the keyboard alone', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/rent' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Invalidate…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Why it is no longer true').focus();
    await page.keyboard.type('the workshop has moved');
    await page.keyboard.press('Enter');
    await page.getByText('Marked as no longer true.').waitFor();
    expect(await demo.memory.get('rent')).toMatchObject({ invalidReason: 'the workshop has moved' });
    await page.getByRole('button', { name: 'Reinstate' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('True again.').waitFor();
    expect((await demo.memory.get('rent'))?.invalidatedAt).toBeUndefined();
  });

  it('forgets after it has said what it means', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/bags' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Forget…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Forget this memory' });
    await dialog.getByText('There is no undo.').waitFor();
    expect(await demo.memory.get('bags')).toBeDefined();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Forget…' }).click();
    await page.getByRole('button', { name: 'Forget for good' }).click();
    await page.getByText('Forgotten.').waitFor();
    expect(await demo.memory.get('bags')).toBeUndefined();
    await page.waitForURL(/#\/memories(?!\/)/);
  });

  it('forgets all that a filter finds once their number is typed, and never without a filter', async () => {
    await using demo = await inspect();
    const { total = 0 } = await demo.memory.list({ tags: ['taste'] });
    expect(total).toBeGreaterThan(2);
    await using opened = await demo.open({ at: '#/memories' });
    const { page, go } = opened;
    await page.getByRole('button', { name: 'Forget these…' }).click();
    await page.getByText('Narrow the list first').waitFor();
    await page.keyboard.press('Escape');
    await go('#/memories?author=Ann');
    await page.getByRole('button', { name: 'Forget these…' }).click();
    await page.getByText('Forgetting does not go by author').waitFor();
    await page.keyboard.press('Escape');
    await go('#/memories?tags=taste');
    await page.getByRole('button', { name: 'Forget these…' }).click();
    const forget = page.getByRole('button', { name: `Forget ${total}` });
    await page
      .getByRole('dialog')
      .getByRole('textbox')
      .fill(String(total + 1));
    await eventually(() => forget.isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('textbox').fill(String(total));
    // What came since was not meant, and is seen first.
    await demo.memory.remember('Tastes of rain', { tags: ['taste'] });
    await forget.click();
    await page.getByText(`The filter finds ${total + 1} now. Nothing was forgotten`).waitFor();
    expect((await demo.memory.list({ tags: ['taste'] })).total).toBe(total + 1);
    await page
      .getByRole('dialog')
      .getByRole('textbox')
      .fill(String(total + 1));
    await page.getByRole('button', { name: `Forget ${total + 1}` }).click();
    await page.getByText(`${total + 1} memories are forgotten.`).waitFor();
    expect((await demo.memory.list({ tags: ['taste'] })).total).toBe(0);
    expect(await demo.memory.get('deploy')).toBeDefined();
  });

  it('asks again for the rows in sight, wherever one has scrolled to', async () => {
    await using long = await inspect({
      fill: (memory) =>
        memory.rememberMany(
          Array.from({ length: 900 }, (_, index) => ({
            id: `m${index}`,
            content: `Memory number ${index}`,
            importance: index / 1000,
          })),
        ),
    });
    await using opened = await long.open({ at: '#/memories?sort=importance&direction=asc' });
    const { page } = opened;
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await page.getByText('Memory number 899', { exact: true }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('What it says').fill('Changed far below');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Changed.').waitFor();
    const table = page.getByRole('grid');
    await table.getByText('Changed far below', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Close this memory' }).click();
    // Sorted the other way, other rows stand in the same place.
    await page.getByRole('button', { name: 'Importance' }).click();
    await table.getByText('Memory number 0', { exact: true }).waitFor();
    await table.getByText('Changed far below', { exact: true }).waitFor({ state: 'detached' });
    await long.memory.forget('m5');
    await long.memory.forget('m6');
    await page.getByText('Memory number 1', { exact: true }).click();
    await page.getByRole('button', { name: 'Vote: it helps' }).click();
    await eventually(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('899');
  });

  it('jumps to a row again, and nowhere once one has left', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories?sort=importance' });
    const { page } = opened;
    const { memories } = await demo.memory.list({ sort: 'importance', limit: 100 });
    const at = () => page.locator('.line.at').getAttribute('aria-rowindex');
    const jump = page.getByLabel('Jump to a row or an id');
    await jump.fill('30');
    await jump.press('Enter');
    await eventually(at).toBe('31');
    await page.getByRole('grid').focus();
    await page.keyboard.press('Home');
    await eventually(at).toBe('2');
    await jump.press('Enter');
    await eventually(at).toBe('31');
    const answer = held();
    await page.route('**/v1/memories?*around=*', async (route) => {
      await answer.until;
      await route.continue();
    });
    await jump.fill(memories[3]?.id as string);
    const asked = page.waitForRequest(/around=/);
    await jump.press('Enter');
    const request = await asked;
    await page.evaluate(() => {
      location.hash = '#/conflicts';
    });
    await page.locator('article:focus').waitFor();
    answer.release();
    await (await request.response())?.finished();
    await settled(page);
    expect(page.url()).toContain('#/conflicts');
  });

  it('jumps to what was typed last, if the server has not answered for what was typed before', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories' });
    const { page, complaints } = opened;
    const first = held();
    await page.route('**/v1/memories?*around=guji*', async (route) => {
      await first.until;
      await route.continue().catch(() => undefined);
    });
    const jump = page.getByLabel('Jump to a row or an id');
    await jump.fill('guji');
    const asked = page.waitForRequest(/around=guji/);
    await jump.press('Enter');
    await asked;
    await jump.fill('label');
    await jump.press('Enter');
    await page.locator('.detail .content', { hasText: 'The new label' }).waitFor();
    first.release();
    await settled(page);
    expect(page.url()).toContain('#/memories/label');
    expect(await page.locator('.toast').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('leaves the filter open around a field that is emptied, and closes it elsewhere', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories?tags=taste' });
    const { page, go } = opened;
    const tags = page.getByLabel('With all tags');
    const isOpen = () =>
      page.locator('details.filters').evaluate((each) => (each as HTMLDetailsElement).open);
    await tags.fill('');
    await tags.press('Enter');
    await eventually(async () => page.url()).not.toContain('tags=');
    await settled(page);
    expect(await isOpen()).toBe(true);
    expect(await tags.evaluate((each) => each === document.activeElement)).toBe(true);
    await go('#/memories?tags=taste');
    await page.getByRole('grid').focus();
    await go('#/memories');
    await eventually(isOpen).toBe(false);
  });

  it('writes once, however often a button is pressed before the answer', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page } = opened;
    const { sequence } = await demo.memory.stats();
    const answer = held();
    await page.route('**/v1/memories/guji', async (route) => {
      if (route.request().method() !== 'GET') await answer.until;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('What it says').fill('The Ethiopian Guji tastes of jasmine');
    await page.getByRole('button', { name: 'Save' }).dblclick();
    answer.release();
    await page.getByText('Changed.').waitFor();
    await settled(page);
    expect((await demo.memory.stats()).sequence).toBe(sequence + 1);
    await page.getByRole('button', { name: 'Forget…' }).click();
    await page.getByRole('button', { name: 'Forget for good' }).dblclick();
    await page.getByText('Forgotten.').waitFor();
    await settled(page);
    expect(await page.locator('.toast.failed').count()).toBe(0);
  });

  it('keeps what is typed while it saves, and saves it next', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page } = opened;
    const content = page.getByRole('textbox', { name: 'What it says' });
    const save = page.getByRole('button', { name: 'Save' });
    let answer = held();
    await page.route('**/v1/memories/guji', async (route) => {
      if (route.request().method() !== 'GET') await answer.until;
      await route.continue();
    });
    const asked = () =>
      page.waitForRequest((request) => request.method() === 'PATCH' && request.url().endsWith('/guji'));
    await page.getByRole('button', { name: 'Edit' }).click();
    await content.fill('Saved first');
    let sent = asked();
    await save.click();
    await sent;
    await content.fill('Typed before the answer');
    answer.release();
    await page.getByText('Changed.').waitFor();
    await settled(page);
    expect((await demo.memory.get('guji'))?.content).toBe('Saved first');
    expect(await content.inputValue()).toBe('Typed before the answer');
    await save.click();
    await page.locator('.detail p.content', { hasText: 'Typed before the answer' }).waitFor();
    expect((await demo.memory.get('guji'))?.content).toBe('Typed before the answer');

    // Cancelled before the answer, and begun anew.
    answer = held();
    await page.getByRole('button', { name: 'Edit' }).click();
    await content.fill('Saved and cancelled');
    sent = asked();
    await save.click();
    await sent;
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Title', { exact: true }).fill('Begun anew');
    answer.release();
    await eventually(async () => (await demo.memory.get('guji'))?.content).toBe('Saved and cancelled');
    await settled(page);
    expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('Begun anew');
    await save.click();
    await page.locator('.detail h2', { hasText: 'Begun anew' }).waitFor();
    expect((await demo.memory.get('guji'))?.content).toBe('Saved and cancelled');
  });

  it('shows what was typed into a memory that another tab has forgotten', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('What it says').fill('A long text that was typed');
    await page.getByLabel('Title', { exact: true }).fill('A title');
    await demo.memory.forget('guji');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('There is no such memory').waitFor();
    const typed = page.getByRole('alert').filter({ hasText: 'forgotten before your changes were saved' });
    await typed.getByText('A long text that was typed', { exact: true }).waitFor();
    await typed.getByText('A title', { exact: true }).waitFor();
    expect(await typed.getByText('Importance').count()).toBe(0);
    await settled(page);
    await picture(page, 'memories-typed-and-forgotten');
    await opened.go('#/conflicts');
    await opened.go('#/memories/guji');
    await typed.getByRole('button', { name: 'Discard it' }).click();
    await typed.waitFor({ state: 'detached' });
    await page.getByText('There is no such memory').waitFor();
  });

  it('leaves whoever went elsewhere where they are when a memory is forgotten at last', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/bags' });
    const { page } = opened;
    const answer = held();
    await page.getByRole('button', { name: 'Forget…' }).click();
    await page.getByRole('button', { name: 'Forget for good' }).waitFor();
    await page.route('**/v1/forget', async (route) => {
      await answer.until;
      await route.continue();
    });
    const sent = page.waitForRequest('**/v1/forget');
    await page.getByRole('button', { name: 'Forget for good' }).click();
    await sent;
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Time' }).click();
    await page.getByRole('heading', { name: 'Time', exact: true }).waitFor();
    answer.release();
    await page.getByText('Forgotten.').waitFor();
    await settled(page);
    expect(page.url()).toContain('#/time');
  });

  it('offers to try each part of a memory again that failed', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories' });
    const { page } = opened;
    let failing = true;
    await page.route(/guji\/(history|links|curve)/, (route) =>
      failing ? route.fulfill(failure('not today')) : route.continue(),
    );
    await opened.go('#/memories/guji');
    const again = page.getByRole('button', { name: 'Try again' });
    await eventually(() => again.count()).toBe(3);
    failing = false;
    for (let left = 3; left > 0; left--) {
      await again.first().click();
      await eventually(() => again.count()).toBe(left - 1);
    }
    await page.locator('.timeline li').first().waitFor();
    await page.getByText('Fades by the').or(page.getByText('does not let memories fade')).first().waitFor();
  });

  it('says that the rows are of the filter before, until those of the new one are there', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories' });
    const { page } = opened;
    const answer = held();
    const list = page.locator('.memories-list');
    expect(await list.getAttribute('aria-busy')).toBe('false');
    await page.route('**/v1/memories?*', async (route) => {
      await answer.until;
      await route.continue();
    });
    await page.getByText('Filter', { exact: true }).click();
    await page.getByLabel('Author', { exact: true }).fill('nobody');
    await page.getByLabel('Author', { exact: true }).press('Enter');
    await eventually(() => list.getAttribute('aria-busy')).toBe('true');
    answer.release();
    await page.getByText('No memory matches').waitFor();
    expect(await list.getAttribute('aria-busy')).toBe('false');
  });

  it('keeps what was typed and not saved, until it is saved or cancelled', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page, go } = opened;
    const typed = page.getByLabel('What it says');
    const away = async () => {
      await go('#/conflicts');
      await go('#/memories/guji');
    };
    await page.getByRole('button', { name: 'Edit' }).click();
    await typed.fill('The Ethiopian Guji tastes of jasmine');
    await away();
    expect(await typed.inputValue()).toBe('The Ethiopian Guji tastes of jasmine');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await away();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await typed.inputValue()).toBe((await demo.memory.get('guji'))?.content);
    await typed.fill('Something else');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Changed.').waitFor();
    await away();
    await page.getByText('Something else').first().waitFor();
    expect(await typed.count()).toBe(0);
  });

  it('keeps the reason of an invalidation that failed, and offers to try a list again', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/guji' });
    const { page } = opened;
    const refused = failure('not today', 'invalid_argument', 400);
    await page.route('**/v1/memories/guji/invalidate', (route) => route.fulfill(refused));
    await page.getByRole('button', { name: 'Invalidate…' }).click();
    await page.getByLabel('Why it is no longer true').fill('A misunderstanding');
    await page.keyboard.press('Enter');
    await page.locator('.toast.failed').waitFor();
    expect(await page.getByLabel('Why it is no longer true').inputValue()).toBe('A misunderstanding');
    await page.unrouteAll();
    await page.keyboard.press('Enter');
    await page.getByText('Marked as no longer true.').waitFor();

    let failing = true;
    await page.route('**/v1/memories?*', (route) => (failing ? route.fulfill(refused) : route.continue()));
    await page.getByRole('button', { name: 'Close this memory' }).click();
    await page.getByText('Filter', { exact: true }).click();
    await page.getByLabel('Author', { exact: true }).fill('nobody');
    await page.getByLabel('Author', { exact: true }).press('Enter');
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    failing = false;
    await again.click();
    await page.getByText('No memory matches').waitFor();
  });

  it('keeps what is typed into a filter while the answer to another one comes', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories' });
    const { page } = opened;
    const { until, release } = held();
    await page.route('**/v1/memories?*', async (route) => {
      await until;
      await route.continue();
    });
    await page.getByText('Filter', { exact: true }).click();
    const asked = page.waitForRequest(/types=fact/);
    await page.getByLabel('Types', { exact: true }).fill('fact');
    await page.keyboard.press('Tab');
    const next = page.getByLabel('Not of the types');
    await next.pressSequentially('enti');
    await asked;
    release();
    const { total } = await demo.memory.list({ types: ['fact'] });
    await eventually(() => page.locator('h1').innerText()).toContain(`${total}`);
    await settled(page);
    expect(await next.inputValue()).toBe('enti');
    await next.pressSequentially('ty');
    await page.keyboard.press('Enter');
    await page.waitForURL(/typesExclude=entity/);
  });

  it('says that metadata cannot be read, and forgets nothing by what is left of the filter', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories?types=fact&metadata=%7B%22status%22%3A' });
    const { page } = opened;
    const forget = page.getByRole('button', { name: 'Forget these…' });
    await page.getByText('Metadata: this is not a JSON object').waitFor();
    expect(await forget.isDisabled()).toBe(true);
    await page.getByLabel('Metadata').fill('{"status":"open"}');
    await page.keyboard.press('Enter');
    await eventually(() => forget.isDisabled()).toBe(false);
    expect(await page.getByText('this is not a JSON object').count()).toBe(0);
    await page.getByLabel('Metadata').fill('null');
    await page.keyboard.press('Enter');
    await page.getByText('Metadata: this is not a JSON object').waitFor();
  });

  it('keeps the rows while the server is away, and asks for a new session where the old one has ended', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories' });
    const { page } = opened;
    await page.route('**/v1/**', (route) => route.abort());
    await page.route('**/healthz', (route) => route.abort());
    await page.getByRole('button', { name: 'Created' }).click();
    await page.getByText('This page goes on as soon as it answers again').waitFor();
    expect(await page.getByRole('grid').count()).toBe(1);
    await page.unrouteAll();
    await eventually(() => page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await settled(page);
    const [first] = (await demo.memory.list({ sort: 'created', limit: 1 })).memories;
    await eventually(() => page.locator('#row-0').innerText()).toContain(first?.content.slice(0, 20));
    await page.route('**/v1/memories?*', (route) =>
      route.fulfill(failure('this token is not known', 'unauthorized', 401)),
    );
    await page.getByRole('button', { name: 'Created' }).click();
    await page.getByText('This session has ended').waitFor();
  });

  it('takes a fault that the server tells for no outage, and asks again only when it is told to', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories' });
    const { page } = opened;
    await page.clock.install();
    let asked = 0;
    await page.route('**/v1/memories?*', (route) => {
      asked++;
      return route.fulfill(failure('a fault in salience', 'server_failed'));
    });
    await page.getByRole('button', { name: 'Created' }).click();
    await page.getByText('a fault in salience').waitFor();
    expect(await page.getByText('cannot be reached').count()).toBe(0);
    await page.clock.runFor(10_000);
    await page.evaluate(() => fetch('icon.svg'));
    expect(asked).toBe(1);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await eventually(() => page.getByText('a fault in salience').count()).toBe(0);
  });

  it('shows a time of the address in the filter, and a field for days once it is emptied', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories?createdAfter=2020-01-01T10:30:00Z' });
    const { page } = opened;
    const field = page.getByLabel('created from');
    expect(await field.inputValue()).toBe('2020-01-01T10:30:00Z');
    await field.fill('');
    await field.press('Enter');
    await eventually(() => field.getAttribute('type')).toBe('date');
    expect(await field.evaluate((each) => each === document.activeElement)).toBe(true);
    await field.fill('2020-01-02');
    await eventually(async () => page.url()).toMatch(/createdAfter=2020-01-02$/);
  });

  it('has no number of the filter before beside a list that was refused', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories' });
    const { page, go } = opened;
    const count = page.locator('.count');
    expect(Number(await count.innerText())).toBeGreaterThan(0);
    await go('#/memories?createdAfter=nonsense');
    await page.locator('main').getByRole('alert').waitFor();
    expect(await count.innerText()).toBe('');
    await go('#/memories?types=rule');
    expect(Number(await count.innerText())).toBeGreaterThan(0);
  });

  it('keeps the table when one of its pages fails, and says so while that is in sight', async () => {
    const fill = (memory: MemoryEngine) =>
      memory.rememberMany(Array.from({ length: 400 }, (_, index) => ({ content: `note ${index}` })));
    await using demo = await inspect({ fill });
    await using opened = await demo.open({ at: '#/memories' });
    const { page } = opened;
    const rows = page.locator('.line');
    const fault = page.getByText('a fault in salience');
    await page.route('**/v1/memories?*offset=300*', (route) => route.fulfill(failure('a fault in salience')));
    const table = page.getByRole('grid');
    await table.focus();
    await table.press('End');
    await fault.waitFor();
    expect(await rows.count()).toBeGreaterThan(5);
    await table.press('Home');
    await eventually(() => fault.count()).toBe(0);
    expect(await rows.first().innerText()).toContain('note');
    await table.press('End');
    await fault.waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await rows.last().getByText('note').waitFor();
    expect(await fault.count()).toBe(0);
  });

  it('opens nothing by Enter that a narrowed list no longer has', async () => {
    await using few = await inspect({
      fill: (memory) =>
        memory.rememberMany(
          Array.from({ length: 250 }, (_, index) => ({
            ...{ id: `m${index}`, content: `Memory number ${index}` },
            tags: index === 5 ? ['kept'] : [],
          })),
        ),
    });
    await using opened = await few.open({ at: '#/memories?sort=created' });
    const { page, go } = opened;
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await page.locator('#row-249', { hasText: 'Memory number' }).waitFor();
    await go('#/memories?sort=created&tags=kept');
    await eventually(() => page.locator('.table .line').count()).toBe(1);
    await page.getByRole('grid').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/memories\/m5\?/);
  });

  it('keeps the rows in sight, whatever it gives up of those that were seen before', async () => {
    await using long = await inspect({
      fill: (memory) =>
        Promise.all(
          Array.from({ length: 5 }, (_, part) =>
            memory.rememberMany(
              Array.from({ length: 900 }, (_, index) => ({ content: `Memory number ${part * 900 + index}` })),
            ),
          ),
        ),
    });
    await using opened = await long.open({ at: '#/memories' });
    const { page } = opened;
    const jump = async (row: number) => {
      await page.getByLabel('Jump to a row or an id').fill(String(row));
      await page.keyboard.press('Enter');
      await page.locator(`#row-${row - 1}`, { hasText: 'Memory number' }).waitFor();
      await settled(page);
    };
    // As many pages as are kept: the first, then all but the second. Where the first two meet, the second is one too many.
    for (let at = 250; at <= 4050; at += 100) await jump(at);
    await jump(101);
    await page.locator('#row-99').waitFor();
    const shown = page.locator('.table .rows .line');
    await eventually(() => shown.filter({ hasText: '…' }).count()).toBe(0);
    expect(await shown.count()).toBeGreaterThan(20);
  }, 120_000);

  it('aborts the pages that were scrolled past', async () => {
    await using long = await inspect({
      fill: (memory) =>
        memory.rememberMany(
          Array.from({ length: 900 }, (_, index) => ({ content: `Memory number ${index}` })),
        ),
    });
    await using opened = await long.open({ at: '#/memories' });
    const { page } = opened;
    const aborted: string[] = [];
    page.on('requestfailed', (request) => aborted.push(request.url()));
    await page.route('**/v1/memories?*offset=8*', () => {});
    await page.getByRole('grid').focus();
    const asked = page.waitForRequest(/offset=8/);
    await page.keyboard.press('End');
    await asked;
    await page.keyboard.press('Home');
    await eventually(async () => aborted.filter((url) => /offset=8/.test(url)).length).toBeGreaterThan(0);
    await page.getByText('Memory number').first().waitFor();
  });

  it('takes a message away after a while', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/label' });
    const { page } = opened;
    await page.clock.install();
    await page.getByRole('button', { name: 'Vote: it helps' }).click();
    await page.getByText('Usefulness is').waitFor();
    await page.clock.runFor(13_000);
    await eventually(() => page.getByText('Usefulness is').count()).toBe(0);
  });

  it('moves through the table by the keyboard alone, and opens what it stands on', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ rights: 'read', at: '#/memories?sort=importance&direction=asc' });
    const { page } = opened;
    const { memories } = await demo.memory.list({ sort: 'importance', direction: 'asc', limit: 100 });
    await page.getByRole('grid').focus();
    const at = async () => Number((await page.locator('.line.at').getAttribute('aria-rowindex')) ?? 0) - 2;
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await eventually(at).toBe(1);
    await page.keyboard.press('PageDown');
    await eventually(at).toBeGreaterThan(10);
    await page.keyboard.press('PageUp');
    await eventually(at).toBe(1);
    await page.keyboard.press('End');
    await eventually(at).toBe(memories.length - 1);
    await page.keyboard.press('Home');
    await eventually(at).toBe(0);
    await page.keyboard.press('Enter');
    await page.locator('article .content', { hasText: memories[0]?.content as string }).waitFor();
  });

  it('shows how a memory fades over a year, as the engine says it, and what votes did', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/label' });
    const { page } = opened;
    const { points, coldAt } = await demo.memory.curve('label', { days: 365 });
    const last = points.at(-1);
    expect(last?.retention).toBeLessThan(points[0]?.retention as number);
    await page.getByText(`${last?.at.slice(0, 10)}: ${last?.retention.toFixed(2)}.`).waitFor();
    await page.getByText(`may make it cold on ${coldAt?.slice(0, 10)}`).waitFor();
    const { usefulness = 0 } = (await demo.memory.get('label')) ?? {};
    await page.getByRole('button', { name: 'Vote: it does not help' }).click();
    await page.locator('.timeline b', { hasText: 'feedback' }).waitFor();
    await eventually(async () => (await demo.memory.get('label'))?.usefulness).toBeLessThan(usefulness);
  });

  it('shows what another tab changed as soon as it writes or asks again', async () => {
    await using demo = await inspect();
    await using first = await demo.open({ at: '#/memories/skip' });
    await using second = await demo.open({ at: '#/memories/skip' });
    await second.page.getByRole('button', { name: 'Vote: it helps' }).click();
    await second.page.getByText(/Usefulness is 0\.\d+ now/).waitFor();
    await first.page.getByRole('button', { name: 'Vote: it helps' }).click();
    await first.page.getByText(/Usefulness is 0\.\d+ now/).waitFor();
    const usefulness = (await demo.memory.get('skip'))?.usefulness.toFixed(2) ?? '';
    await first.page.getByTitle('usefulness, from votes').getByText(usefulness).waitFor();
  });

  it('has 100,000 memories at hand: only what is in sight is in the page, and any row is a jump away', async () => {
    const count = Number(process.env['SALIENCE_MEMORIES'] ?? 100_000);
    await using many = await inspect({
      fill: async (memory) => {
        for (let start = 0; start < count; start += 5000) {
          const size = Math.min(5000, count - start);
          await memory.rememberMany(
            Array.from({ length: size }, (_, at) => ({
              id: `m${start + at}`,
              content: `Number ${start + at} of many`,
              importance: ((start + at) % 100) / 100,
            })),
          );
        }
      },
    });
    await using opened = await many.open({ at: '#/memories?sort=inserted&direction=asc' });
    const { page, complaints } = opened;
    await page.getByText('Number 0 of many').waitFor();
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(count + 1));
    expect(await page.locator('.table .rows .line').count()).toBeLessThan(80);
    const jump = page.getByLabel('Jump to a row or an id');
    await jump.fill(String(Math.floor(count * 0.7) + 1));
    await jump.press('Enter');
    await page.getByText(`Number ${Math.floor(count * 0.7)} of many`, { exact: true }).waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await page.getByText(`Number ${count - 1} of many`, { exact: true }).waitFor();
    await page.keyboard.press('Home');
    await page.getByText('Number 0 of many', { exact: true }).waitFor();
    await jump.fill(`m${Math.floor(count / 2)}`);
    await jump.press('Enter');
    await page.locator('.detail .content', { hasText: `Number ${Math.floor(count / 2)} of many` }).waitFor();
    await page
      .locator('.line[aria-selected="true"]', { hasText: `Number ${Math.floor(count / 2)} of many` })
      .waitFor();
    expect(complaints).toEqual([]);
  });
});
