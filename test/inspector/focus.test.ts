import { expect, it } from 'vitest';
import { describeInBrowser, eventually } from './browser.ts';

describeInBrowser('the focus of whoever has no mouse', ({ inspect }) => {
  it('goes to what takes the place of what was pressed', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/label' });
    const { page, go, complaints } = opened;
    /** Presses what has the focus, and expects the focus on what comes in its place. */
    const leadsTo = async (name: string) => {
      await page.keyboard.press('Enter');
      await isOn(name);
    };
    const isOn = (name: string) =>
      eventually(() =>
        page.evaluate(() => {
          const focused = document.activeElement;
          const label = focused?.closest('label')?.querySelector('span');
          return focused?.getAttribute('aria-label') ?? (label ?? focused)?.textContent;
        }),
      ).toBe(name);
    const focus = (name: string) => page.getByRole('button', { name, exact: true }).focus();

    await focus('Edit');
    await leadsTo('What it says');
    await page.keyboard.type('!');
    await focus('Cancel');
    await leadsTo('Edit');
    await leadsTo('What it says');
    await page.keyboard.type('!');
    await focus('Save');
    await leadsTo('Edit');
    await focus('Invalidate…');
    await leadsTo('Why it is no longer true');
    await focus('Cancel');
    await leadsTo('Invalidate…');
    await leadsTo('Why it is no longer true');
    await page.keyboard.type('a test');
    await leadsTo('Reinstate');
    await leadsTo('Invalidate…');
    await focus('Close this memory');
    await leadsTo('Memories');
    await go('#/memories/label');
    await focus('Forget…');
    await leadsTo('Close');
    await focus('Forget for good');
    await leadsTo('Memories');
    await go('#/life');
    await focus('What would it do?');
    await leadsTo('Do it');
    await focus('Close');
    await leadsTo('What would it do?');
    expect(complaints).toEqual([]);
  });

  it('goes on from a message, and from what empties a filter or the labels', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/label' });
    const { page, go, complaints } = opened;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const focused = () =>
      page.evaluate(() => {
        const { ariaLabel, textContent, id } = document.activeElement as HTMLElement;
        return ariaLabel ?? (id || textContent?.trim());
      });
    const press = async (name: string) => {
      await button(name).last().focus();
      await page.keyboard.press('Enter');
    };

    await press('Vote: it helps');
    const message = page.locator('.toast');
    await message.getByRole('button', { name: 'Undo' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Undone.').waitFor();
    await eventually(focused).toBe('Vote: it helps');
    // What was pressed has given way to something else meanwhile, which gives way in turn.
    await press('Invalidate…');
    await page.keyboard.type('a test');
    await page.keyboard.press('Enter');
    await eventually(focused).toBe('Reinstate');
    await message.getByRole('button', { name: 'Undo' }).focus();
    await page.keyboard.press('Enter');
    await eventually(focused).toBe('Invalidate…');
    await press('Vote: it helps');
    await message.getByText('Usefulness is').waitFor();
    await press('Close this message');
    await eventually(focused).toBe('Vote: it helps');

    await go('#/memories?tags=taste');
    await press('Clear');
    // Without the number of filters.
    await eventually(focused).toBe('Filter');

    await go('#/recall?q=coffee');
    await page.locator('.hit').first().getByRole('button', { name: 'Good' }).click();
    await page.getByRole('tab', { name: 'Labels' }).click();
    await press('Clear');
    await eventually(focused).toBe('Open a dataset');
    await message.getByRole('button', { name: 'Undo' }).focus();
    await page.keyboard.press('Enter');
    // Where it came from is gone: to the view.
    await button('Save as a dataset').waitFor();
    await eventually(focused).toBe('main');
    expect(complaints).toEqual([]);
  });

  it('stays on a button that has nothing left to do', async () => {
    await using demo = await inspect({
      fill: async (memory) => {
        for (let at = 0; at < 201; at++) await memory.remember(`Roast ${at} is dark`);
        await memory.configure({ recordRecalls: { days: 30, texts: true } });
        for (let at = 0; at < 51; at++) await memory.recall(`roast ${at}`, { limit: 1 });
      },
    });
    await using opened = await demo.open({ at: '#/asked' });
    const { page, go, complaints } = opened;
    const press = async (name: string) => {
      const button = page.getByRole('button', { name, exact: true });
      await button.focus();
      await page.keyboard.press('Enter');
      await eventually(() => button.isDisabled()).toBe(true);
      expect(await button.evaluate((each) => each === document.activeElement), name).toBe(true);
    };
    await press('Older');
    await press('Newer');
    // Those of before have one moment.
    await demo.memory.remember('Written later');
    await go('#/time');
    await press('Earlier writes');
    await press('← One write back');
    await press('One write on →');
    await go('#/time?valid=2026-05-05');
    await press('Today');
    await go('#/recall?q=roast&p.cues.date=0.1');
    await press('Reset to defaults');
    expect(complaints).toEqual([]);
  });

  it('goes on where others forgot what is open, and from what is replaced by what it leads to', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/label' });
    const { page, go } = opened;
    const isOn = (name: string) =>
      eventually(() =>
        page.evaluate(() => {
          const { ariaLabel, textContent } = document.activeElement as HTMLElement;
          return ariaLabel ?? textContent;
        }),
      ).toBe(name);
    await page.getByRole('button', { name: 'Vote: it helps' }).focus();
    await demo.memory.forget('label');
    await page.keyboard.press('Enter');
    await page.getByText('There is no such memory').waitFor();
    await isOn('Close');
    await go('#/context?q=coffee');
    await page.getByText('Show them').focus();
    await page.keyboard.press('Enter');
    await isOn('On every turn');
    const [recall] = await demo.memory.recalls({ limit: 1 });
    await go(`#/asked/${recall?.recallId}`);
    await page.getByRole('link', { name: '← All recalls' }).focus();
    await page.keyboard.press('Enter');
    await isOn('Recalls');
  });

  it('goes into what hides the list on a narrow screen, and back to the list', async () => {
    await using demo = await inspect();
    await demo.memory.configure({ recordRecalls: { days: 30, texts: true } });
    await demo.memory.recall('coffee');
    await using opened = await demo.open({ at: '#/asked', viewport: { width: 380, height: 800 } });
    const { page, go } = opened;
    const isOn = (name: string | RegExp) =>
      eventually(() =>
        page.evaluate(() => {
          const { ariaLabel, textContent } = document.activeElement as HTMLElement;
          return (ariaLabel ?? textContent)?.trim();
        }),
      ).toMatch(name);
    await page.locator('.asked-line').first().focus();
    await page.keyboard.press('Enter');
    await isOn(/^← All recalls$/);
    await page.goBack();
    await isOn(/^Recalls$/);
    await go('#/memories');
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'Memory' }).waitFor();
    await eventually(() => page.evaluate(() => document.activeElement?.localName)).toBe('h2');
    await page.goBack();
    await isOn(/^Memories$/);
  });

  it('goes on in the graph', async () => {
    await using demo = await inspect({
      fill: async (memory) => {
        await memory.remember('A hub', { id: 'hub', type: 'entity', title: 'Hub' });
        for (let at = 0; at < 201; at++) {
          await memory.remember(`Leaf ${at}`, { id: `leaf${at}`, type: 'entity', title: `Leaf ${at}` });
          await memory.relate('hub', 'near', `leaf${at}`);
        }
      },
    });
    await using opened = await demo.open({ at: '#/graph/hub?depth=1' });
    const { page, complaints } = opened;
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim());
    await page.getByRole('button', { name: 'Show more than 200' }).focus();
    await page.keyboard.press('Enter');
    await eventually(focused).toBe('These are all.');
    await page.getByRole('link', { name: 'Leaf 200', exact: true }).focus();
    await page.keyboard.press('Enter');
    await eventually(focused).toMatch(/^Leaf 200/);
    // No text of a memory stays in the history of the browser.
    expect(await page.title()).toBe('Graph · demo · Salience');
    await page.goto(page.url().replace(/#.*/, '#/graph'));
    await page.getByText('These 100 were changed last.').waitFor();
    expect(await page.locator('.beginnings section').first().locator('li').count()).toBe(100);
    expect(complaints).toEqual([]);
  });

  it('is taken from nobody', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/label' });
    const { page, go } = opened;
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Title').fill('A label');
    await page.keyboard.press('Enter');
    await page.getByText('Changed.').waitFor();
    await page.getByLabel('Jump to a row or an id').fill('1');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('place');
    // A view that is left takes its focus with it: the next one begins at its top.
    await go('#/recall?q=coffee');
    for (const at of ['#/life', '#/memories']) {
      await page.evaluate(() => document.querySelector<HTMLElement>('main input, main button')?.focus());
      expect(await page.evaluate(() => document.activeElement === document.body)).toBe(false);
      await go(at);
      expect(await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 60))).toMatch(/^<body/);
    }
  });
});
