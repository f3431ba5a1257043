import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { MemoryEngine } from '../../src/index.ts';
import {
  copyAs,
  describeInBrowser,
  eventually,
  failure,
  held,
  picture,
  settled,
  shareDemo,
} from './browser.ts';

describeInBrowser('the view Recall', (browser) => {
  const demo = shareDemo(browser);

  it('shows what the engine answers, in its order, with its scores and its certificate', async () => {
    await using opened = await demo.open({ at: '#/recall?q=what+is+wrong+with+the+roaster' });
    const { page } = opened;
    const { hits, trace } = await demo.memory.recall('what is wrong with the roaster', { track: false });
    expect(hits.length).toBeGreaterThan(3);
    const shown = await page.locator('.hit-body .id').evaluateAll((links) => links.map(({ title }) => title));
    expect(shown).toEqual(hits.map(({ memory }) => memory.id));
    // Scores fall with the age of a memory between the two questions.
    const scores = await page.locator('.hit-score .number:last-child').allInnerTexts();
    expect(scores.map(Number)).toEqual(hits.map(({ score }) => expect.closeTo(score.value, 3)));
    const line = await page.locator('.certificate b').innerText();
    expect(Number(line)).toBeCloseTo(trace.upperBound, 3);
  });

  it('leaves nothing behind: it is not recorded, and nothing is learnt', async () => {
    const before = await demo.memory.recalls({ limit: 1 });
    const { sequence } = await demo.memory.stats();
    await using opened = await demo.open({ at: '#/recall?q=coffee&strategy=retention' });
    await opened.page.locator('.hit').first().waitFor();
    await opened.go('#/recall?q=coffee&strategy=retention&tab=compare&against=bm25');
    expect(await demo.memory.recalls({ limit: 1 })).toEqual(before);
    expect((await demo.memory.stats()).sequence).toBe(sequence);
  });

  it('ranks anew as a slider moves, keeps it in the address, and goes back', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee' });
    const { page, complaints } = opened;
    await page.locator('.hit').first().waitFor();
    const before = await page.locator('.hit-score').allInnerTexts();
    const slider = page.getByRole('slider', { name: 'weights.similarity' });
    await slider.focus();
    for (let step = 0; step < 12; step++) await page.keyboard.press('ArrowRight');
    await page.waitForURL(/p\.weights\.similarity=/);
    await settled(page);
    const value = Number(await slider.inputValue());
    expect(value).toBeGreaterThan(5);
    const asked = await demo.memory.recall('coffee', {
      track: false,
      parameters: { 'weights.similarity': value },
    });
    const shown = await page.locator('.hit-body .id').evaluateAll((links) => links.map(({ title }) => title));
    expect(shown).toEqual(asked.hits.map(({ memory }) => memory.id));
    await eventually(() => page.locator('.hit-score').allInnerTexts()).not.toEqual(before);
    await page.getByRole('button', { name: 'Reset to defaults' }).click();
    await settled(page);
    await eventually(() => page.locator('.hit-score').allInnerTexts()).toEqual(before);
    expect(complaints).toEqual([]);
  });

  it('ranks what is shown at once as a slider moves, marked as a preview until the answer comes', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee' });
    const { page, complaints } = opened;
    await page.locator('.hit').first().waitFor();
    const idsShown = () =>
      page.locator('.hit-body .id').evaluateAll((links) => links.map(({ title }) => title));
    const before = await idsShown();
    const answer = held();
    await page.route('**/v1/recall', async (route) => {
      await answer.until;
      await route.continue().catch(() => undefined);
    });
    const slider = page.getByRole('slider', { name: 'weights.similarity' });
    await slider.focus();
    await page.keyboard.press('End');
    await page.getByText('preview', { exact: true }).waitFor();
    const parameters = { 'weights.similarity': Number(await slider.inputValue()) };
    const { hits } = await demo.memory.recall('coffee', { track: false, limit: 30, parameters });
    const raised = new Set(hits.filter((hit) => hit.explain().op === 'max').map(({ memory }) => memory.id));
    const compared = (ids: readonly string[]) => ids.filter((id) => before.includes(id) && !raised.has(id));
    const preview = await idsShown();
    expect(preview).not.toEqual(before);
    expect(compared(preview)).toEqual(compared(hits.map(({ memory }) => memory.id)));
    answer.release();
    await page.getByText('preview', { exact: true }).waitFor({ state: 'detached' });
    await eventually(idsShown).toEqual(hits.slice(0, before.length).map(({ memory }) => memory.id));
    expect(complaints).toEqual([]);
  });

  it('lets the newest question win, and aborts the ones before', async () => {
    await using opened = await demo.open({ at: '#/recall' });
    const { page } = opened;
    const aborted: string[] = [];
    page.on('requestfailed', (request) => aborted.push(request.failure()?.errorText ?? ''));
    // The first answers come last.
    const late = held();
    let asked = 0;
    await page.route('**/v1/recall', async (route) => {
      asked++;
      if (asked < 3) await late.until;
      await route.continue().catch(() => undefined);
    });
    const question = page.getByRole('searchbox', { name: 'Question' });
    await question.fill('shop');
    await eventually(async () => asked).toBe(1);
    await question.fill('Bilal');
    await eventually(async () => asked).toBe(2);
    await question.fill('what is Bilal allergic to');
    await eventually(() => page.locator('.hit').first().innerText()).toContain('hazelnuts');
    late.release();
    await settled(page);
    expect(await page.locator('.hit').first().innerText()).toContain('hazelnuts');
    await eventually(async () => aborted).toEqual(['net::ERR_ABORTED', 'net::ERR_ABORTED']);
  });

  it('lights a part up in all bars', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee' });
    const { page } = opened;
    await page.locator('.legend button', { hasText: 'words' }).focus();
    await eventually(() => page.locator('.lit .bar i.on').count()).toBeGreaterThan(3);
    const names = await page.locator('.bar i.on').evaluateAll((parts) => parts.map(({ title }) => title));
    expect(names.every((name) => name.startsWith('words '))).toBe(true);
  });

  it('shows the tree of a score, whose root is the score', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Why this score' }).first().click();
    const root = await page.locator('.tree summary .number').first().innerText();
    expect(root).toBe(await page.locator('.hit-score .number:last-child').first().innerText());
    await eventually(() => page.locator('.tree').first().innerText()).toMatch(/words = .*weight 7, adds/);
  });

  it('says why a memory is not there, and what would let it in', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee&limit=2&tab=why-not' });
    const { page } = opened;
    await page.getByRole('textbox', { name: /that you expected/ }).fill('ordered on the first Monday');
    await page.getByRole('button', { name: /first Monday/ }).click();
    await page.getByText('outranked').waitFor();
    const why = await demo.memory.whyNot('order-day', { query: 'coffee', limit: 2, track: false });
    expect(why.outcome).toBe('outranked');
    await page.getByText(`needed above ${why.needed?.toFixed(4)}`).waitFor();
    expect(why.changes.length).toBeGreaterThan(0);
    await page.getByText(/Each of these alone/).waitFor();
    for (const { signal } of why.changes) await page.getByText(signal, { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'It should have been here' }).click();
    await page.getByRole('tab', { name: 'Labels' }).click();
    await page.getByText('missing', { exact: true }).waitFor();
  });

  it('has in its field the memory of the address, also where a link leads to another one', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee&tab=why-not&whyNot=dark' });
    const { page, go } = opened;
    const field = page.getByRole('textbox', { name: /that you expected/ });
    expect(await field.inputValue()).toBe('dark');
    await go('#/recall?q=coffee&tab=why-not&whyNot=order-day');
    await eventually(() => field.inputValue()).toBe('order-day');
    expect(await page.locator('.choices').count()).toBe(0);
  });

  it('says why a memory is not there in sight, however long the memory is', async () => {
    const fill = (memory: MemoryEngine) =>
      memory.remember('tea and nothing else '.repeat(600), { id: 'long' });
    await using own = await browser.inspect({ fill });
    await using opened = await own.open({ at: '#/recall?q=coffee&tab=why-not&whyNot=long' });
    const { page } = opened;
    const verdict = await page.locator('.tag.warn').boundingBox();
    expect(verdict?.y).toBeLessThan(900);
    await page.getByRole('link', { name: /tea and nothing else/ }).click();
    await page.getByRole('article', { name: 'Memory' }).waitFor();
  });

  it('shows what the floor of relevance left out', async () => {
    await using opened = await demo.open({ at: '#/recall?q=espresso+blend&floor=0.5' });
    const { page } = opened;
    const kept = await demo.memory.recall('espresso blend', { track: false, minRelevance: 0.5 });
    const all = await demo.memory.recall('espresso blend', { track: false });
    const left = all.hits.filter(({ memory }) => !kept.hits.some((hit) => hit.memory.id === memory.id));
    expect(left.length).toBeGreaterThan(0);
    await eventually(() => page.locator('.left-out li').count()).toBe(left.length);
  });

  it('says that a strategy takes no floor of relevance', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee&strategy=bm25&floor=0.9' });
    const { page } = opened;
    await page.getByText('floor=0.9. bm25 takes no floor of relevance, and none holds.').waitFor();
    await page.getByText('Narrow', { exact: true }).click();
    const floor = page.getByLabel('Floor of relevance');
    expect(await floor.isDisabled()).toBe(true);
    await page.getByLabel('Strategy', { exact: true }).selectOption('hybrid');
    await eventually(() => floor.isDisabled()).toBe(false);
    expect(await page.getByText('takes no floor').count()).toBe(0);
  });

  it('never says that the floor left nothing out before it knows', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    const whole = held();
    let failing = true;
    await page.route('**/v1/recall', async (route) => {
      if (/minRelevance/.test(route.request().postData() ?? '')) return route.continue();
      await whole.until;
      if (!failing) return route.continue();
      return route.fulfill(failure('not today'));
    });
    await page.evaluate(() => {
      location.hash = '#/recall?q=espresso+blend&floor=0.5';
    });
    await page.getByText('Left out by the floor').waitFor();
    expect(await page.getByText('Nothing: every hit reaches it.').count()).toBe(0);
    whole.release();
    await page.getByText('not today').waitFor();
    expect(await page.getByText('Nothing: every hit reaches it.').count()).toBe(0);
    failing = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.left-out li').first().waitFor();
  });

  it('offers to try again why a memory is not there, and a comparison', async () => {
    await using opened = await demo.open();
    const { page } = opened;
    let failing = true;
    await page.route(/\/(why-not|compare)$/, (route) =>
      failing ? route.fulfill(failure('not today')) : route.continue(),
    );
    await opened.go('#/recall?q=coffee&limit=2&tab=why-not&whyNot=order-day');
    failing = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('outranked').waitFor();
    failing = true;
    await opened.go('#/recall?q=coffee&tab=compare');
    failing = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.versus li').first().waitFor();
  });

  it('puts two strategies side by side, a line for each memory of both, and no score', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee&tab=compare&against=bm25' });
    const { page } = opened;
    const { agreement, rankings } = await demo.memory.compare('coffee', { strategies: ['hybrid', 'bm25'] });
    await eventually(() => page.locator('.versus line').count()).toBe(agreement[0]?.shared);
    const shown = await page
      .locator('.versus li')
      .evaluateAll((rows) => rows.map(({ dataset }) => dataset['id']));
    expect(shown).toEqual(rankings.flatMap(({ hits }) => hits?.map(({ memory }) => memory.id)));
    await page.getByRole('combobox', { name: 'The other strategy' }).selectOption('balanced');
    await page.getByText('Parameters of balanced').click();
    const slider = page.getByRole('slider', { name: 'weights.importance' });
    await slider.focus();
    await page.keyboard.press('End');
    await page.waitForURL(/b\.weights\.importance=/);
    const own = await demo.memory.compare('coffee', {
      strategies: ['hybrid', 'balanced'],
      parameters: { balanced: { 'weights.importance': Number(await slider.inputValue()) } },
    });
    await eventually(() =>
      page.locator('.versus li').evaluateAll((rows) => rows.map(({ dataset }) => dataset['id'])),
    ).toEqual(own.rankings.flatMap(({ hits }) => hits?.map(({ memory }) => memory.id)));
    await page.getByRole('combobox', { name: 'The other strategy' }).selectOption('ambient');
    await page.getByRole('heading', { name: 'ambient' }).waitFor();
  });

  it('compares cold memories too where they are asked for', async () => {
    await using own = await browser.inspect({
      fill: async (memory) => {
        await memory.configure({ fading: 'retention' });
        await memory.remember('Coffee was cheap once', { id: 'old', createdAt: '2001-01-01T00:00:00.000Z' });
        await memory.remember('Coffee is dear now', { id: 'new' });
        await memory.maintain();
      },
    });
    expect((await own.memory.get('old'))?.tier).toBe('cold');
    await using opened = await own.open({ at: '#/recall?q=coffee&tab=compare&against=bm25' });
    const { page } = opened;
    const shown = () =>
      page.locator('.versus li').evaluateAll((rows) => rows.map(({ dataset }) => dataset['id']));
    await eventually(shown).toEqual(['new', 'new']);
    await page.getByText('Narrow', { exact: true }).click();
    await page.getByLabel('Cold and consolidated memories too').check();
    await eventually(async () => (await shown()).toSorted()).toEqual(['new', 'new', 'old', 'old']);
  });

  it('puts no strategy beside itself, and compares what takes no question with what does', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee&tab=compare&against=bm25' });
    const { page, go } = opened;
    const titles = () => page.locator('.versus h2').allInnerTexts();
    await page.getByRole('combobox', { name: 'Strategy', exact: true }).selectOption('bm25');
    await page.waitForURL(/strategy=bm25/);
    await eventually(async () => [...new Set(await titles())].length).toBe(2);
    await go('#/recall?q=coffee&tab=compare&against=hybrid');
    await eventually(async () => [...new Set(await titles())].length).toBe(2);
    await go('#/recall?strategy=ambient&tab=compare&against=hybrid');
    await page.getByRole('searchbox', { name: 'Question' }).fill('coffee');
    const { rankings } = await demo.memory.compare('coffee', { strategies: ['ambient', 'hybrid'] });
    await eventually(() =>
      page.locator('.versus li').evaluateAll((rows) => rows.map(({ dataset }) => dataset['id'])),
    ).toEqual(rankings.flatMap(({ hits }) => hits?.map(({ memory }) => memory.id)));
  });

  it('keeps what is typed while an answer comes, and takes spaces between types for nothing', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee' });
    const { page } = opened;
    await page.getByText('Narrow', { exact: true }).click();
    const { until, release } = held();
    await page.route('**/v1/recall', async (route) => {
      await until;
      await route.continue();
    });
    const asked = page.waitForRequest(/v1\/recall$/);
    await page.getByLabel('Most hits').fill('3');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const types = page.getByLabel('Types, with commas between');
    await types.pressSequentially('preference, fact');
    await asked;
    release();
    await eventually(() => page.locator('.hit').count()).toBe(3);
    await settled(page);
    expect(await types.inputValue()).toBe('preference, fact');
    await page.keyboard.press('Enter');
    const { hits } = await demo.memory.recall('coffee', {
      ...{ types: ['preference', 'fact'], limit: 3, track: false },
    });
    await eventually(() =>
      page.locator('.hit .id').evaluateAll((all) => all.map((each) => each.title)),
    ).toEqual(hits.map(({ memory }) => memory.id));
  });

  it('makes a dataset of labels that eval reads', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee' });
    const { page } = opened;
    await page.locator('.hit').first().getByRole('button', { name: 'Good' }).click();
    await page.locator('.hit').nth(1).getByRole('button', { name: 'Bad' }).click();
    await page.getByRole('tab', { name: 'Labels' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as a dataset' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    const parsed = lines.map((line) => JSON.parse(line) as { kind: string; id: string });
    const { hits } = await demo.memory.recall('coffee', { track: false });
    const { memories } = await demo.memory.list({ limit: 1000, sort: 'inserted' });
    const kept = memories.filter(({ invalidatedAt }) => invalidatedAt === undefined);
    expect(kept.length).toBeLessThan(memories.length);
    expect(parsed.filter(({ kind }) => kind === 'memory').map(({ id }) => id)).toEqual(
      kept.map(({ id }) => id),
    );
    expect(parsed.filter(({ kind }) => kind === 'query')).toMatchObject([
      { query: 'coffee', relevant: [hits[0]?.memory.id], mustNot: [hits[1]?.memory.id] },
    ]);
  });

  it('keeps labels when the page is closed, shows them in every tab, and holds no text of a memory', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee' });
    const { page, context } = opened;
    const good = (of: Page, at: number) => of.locator('.hit').nth(at).getByRole('button', { name: 'Good' });
    await good(page, 0).click();
    await page.close();
    // Another tab has no session: each is signed in by a code of its own.
    const [second, third] = [await context.newPage(), await context.newPage()];
    for (const each of [second, third]) {
      await each.goto(demo.server.inspectorUrl({ space: 'demo' }));
      await settled(each);
      await each.evaluate(() => {
        location.hash = '#/recall?q=coffee';
      });
      await eventually(() => good(each, 0).getAttribute('aria-pressed')).toBe('true');
    }
    await good(second, 1).click();
    await eventually(() => good(third, 1).getAttribute('aria-pressed')).toBe('true');
    await good(third, 2).click();
    await second.reload();
    for (const at of [0, 1, 2])
      await eventually(() => good(second, at).getAttribute('aria-pressed')).toBe('true');
    const { hits } = await demo.memory.recall('coffee', { track: false });
    const kept = await second.evaluate(() => JSON.stringify({ ...localStorage }));
    expect(JSON.parse(JSON.parse(kept)['salience-inspector-labels demo'])).toEqual({
      coffee: Object.fromEntries(hits.slice(0, 3).map(({ memory }) => [memory.id, 'good'])),
    });
    for (const { memory } of hits) expect(kept).not.toContain(memory.content);
    // Signing out asks whether they stay.
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByText('labels of 1 question').waitFor();
    await second.keyboard.press('Escape');
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByRole('button', { name: 'Keep them, and sign out' }).click();
    await second.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await second.evaluate(() => localStorage.length)).toBe(1);
    await third.keyboard.press('Control+k');
    await third.keyboard.type('sign out');
    await third.keyboard.press('Enter');
    await third.getByRole('button', { name: 'Remove them, and sign out' }).click();
    await third.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await third.evaluate(() => localStorage.length)).toBe(0);
  });

  it('keeps the labels of a space apart from those of another', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee' });
    const { page } = opened;
    await page.locator('.hit').first().getByRole('button', { name: 'Good' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Keep them, and sign out' }).click();
    const other = demo.server.inspectorUrl({ space: 'other' }).split('#code=')[1];
    const token = await page.evaluate(async (code) => {
      const body = JSON.stringify({ code });
      const answer = await fetch('session', { method: 'POST', body });
      return ((await answer.json()) as { token: string }).token;
    }, other);
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('tab', { name: 'Labels' }).click();
    await page.getByText('No labels yet').waitFor();
  });

  it('copies a comparison with the parameters of both sides, and a look back with its moment', async () => {
    await using opened = await demo.open({
      at: '#/recall?q=coffee&tab=compare&against=five-factor&p.weights.context=3&b.relevanceFloor=0.9',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const { page, go } = opened;
    const copied = (form: string) => copyAs(page, form);
    expect(await copied('CLI')).toBe(
      'salience compare coffee --space demo --strategy hybrid --strategy five-factor --param hybrid:weights.context=3 --param five-factor:relevanceFloor=0.9 --limit 10',
    );
    const parameters = { hybrid: { 'weights.context': 3 }, 'five-factor': { relevanceFloor: 0.9 } };
    const curl = await copied('curl');
    expect(curl).toContain(`POST ${demo.server.url}/v1/compare`);
    expect(JSON.parse(/-d '(.*)'$/s.exec(curl)?.[1] as string)).toMatchObject({
      query: 'coffee',
      parameters,
    });
    const program = await copied('TypeScript');
    expect(program).toContain('await memory.compare("coffee", {');
    expect(JSON.parse(/compare\("coffee", (\{.*\})\)/s.exec(program)?.[1] as string)).toMatchObject({
      parameters,
    });
    const expected = await demo.memory.compare('coffee', {
      strategies: ['hybrid', 'five-factor'],
      parameters,
      limit: 10,
    });
    const ids = ({ rankings }: { readonly rankings: typeof expected.rankings }) =>
      rankings.map(({ hits }) => hits?.map(({ memory }) => memory.id));
    expect(ids(JSON.parse(await copied('JSON')))).toEqual(ids(expected));
    await go('#/time?q=coffee&valid=2026-12-24T12:00:00.000Z');
    expect(await copied('CLI')).toContain('--valid-at 2026-12-24T12:00:00.000Z');
  });

  it('goes from labels to a fit, its progress, and what it changes; a file keeps the labels', async () => {
    await using own = await browser.inspect();
    await using opened = await own.open();
    const { page, go, complaints } = opened;
    const asked = ['coffee', 'roaster', 'espresso blend'];
    for (const query of asked) {
      await go(`#/recall?q=${encodeURIComponent(query)}`);
      await page.locator('.hit').nth(2).getByRole('button', { name: 'Good' }).click();
    }
    await page.getByRole('tab', { name: 'Labels' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as a dataset' }).click(),
    ]);
    const file = await download.path();
    const shares: string[] = [];
    page.on('requestfinished', (request) => {
      if (request.url().endsWith('/v1/fit')) shares.push(request.url());
    });
    const parts = held();
    await page.route('**/v1/fit', async (route) => {
      await parts.until;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Tune with 3 questions' }).click();
    await page.getByRole('progressbar').waitFor();
    parts.release();
    await page.getByText('3 questions are too few to know').waitFor();
    // One part a question, with and without their evidence, and the last on all.
    await eventually(async () => shares.length).toBeGreaterThan(3);
    const questions = [];
    for (const query of asked) {
      const { hits } = await own.memory.recall(query, { track: false });
      questions.push({ query, relevant: [hits[2]?.memory.id as string] });
    }
    const { fitted } = await own.memory.fit(questions);
    expect(fitted?.parameters.length).toBeGreaterThan(3);
    for (const { name, before, after } of fitted?.parameters ?? []) {
      const row = page.locator('tr', { hasText: name });
      expect(await row.locator('td.number').first().innerText()).toBe(String(before));
      expect(Number(await row.locator('td.number').nth(1).innerText())).toBeCloseTo(after, 1);
    }
    await eventually(() => page.locator('.tuned .ranked li').count()).toBe(3);
    await eventually(() => page.locator('.tuned .ranked').innerText()).toContain('was 3');
    await page.getByRole('button', { name: 'Try these values' }).click();
    await page.locator('.hit').first().waitFor();
    await page.getByRole('tab', { name: 'Labels' }).click();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('No labels yet').waitFor();
    await page.getByText('Labels cleared.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Tune with 3 questions' }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('No labels yet').waitFor();
    await page.getByLabel('A dataset with labels').setInputFiles({
      name: 'questions.jsonl',
      mimeType: 'application/jsonl',
      buffer: await readFile(file),
    });
    await page.getByText('3 questions opened.').waitFor();
    await page.getByRole('button', { name: 'Tune with 3 questions' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('draws the lines between two strategies anew when the window changes', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee&tab=compare' });
    const { page } = opened;
    const off = () =>
      page.locator('.versus').evaluate((box) => {
        const top = box.getBoundingClientRect().top;
        const middles = [...box.querySelectorAll('li')].map((row) => {
          const { top: start, height } = row.getBoundingClientRect();
          return start - top + height / 2;
        });
        const ends = [...box.querySelectorAll('line')].flatMap((line) => [
          line.y1.baseVal.value,
          line.y2.baseVal.value,
        ]);
        return ends.length === 0
          ? Infinity
          : Math.max(...ends.map((end) => Math.min(...middles.map((middle) => Math.abs(end - middle)))));
      });
    await eventually(off).toBeLessThan(2);
    await page.setViewportSize({ width: 700, height: 900 });
    await eventually(off).toBeLessThan(2);
    await page.setViewportSize({ width: 400, height: 900 });
    await eventually(off).toBeLessThan(2);
  });

  it('draws each stage of a recall after the one before, with what it kept', async () => {
    await using opened = await demo.open({ at: '#/recall?q=cofee+last+month&tab=trace' });
    const { page } = opened;
    const { trace } = await demo.memory.recall('cofee last month', { track: false });
    expect(trace.stages.length).toBeGreaterThan(5);
    const shown = await page.locator('.waterfall').innerText();
    for (const { name, candidates, survivors } of trace.stages) {
      expect(shown).toMatch(new RegExp(`${name}[\\s\\S]*?${candidates} → ${survivors}`));
    }
    const bars = await page.locator('.waterfall .track i').evaluateAll((all) =>
      all.map((bar) => {
        const { left, right } = bar.getBoundingClientRect();
        return { left, right };
      }),
    );
    expect(bars).toHaveLength(trace.stages.length);
    for (const [index, { left }] of bars.entries()) {
      expect(left).toBeGreaterThanOrEqual((bars[index - 1]?.left ?? 0) - 0.5);
    }
    await page.getByText('Unknown word').waitFor();
    await page.locator('dd', { hasText: 'last month' }).waitFor();
  });

  it('saves why a memory was returned, with its texts or without', async () => {
    await using opened = await demo.open({ at: '#/recall?q=espresso+blend' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Why this score' }).first().click();
    const save = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name }).click(),
      ]);
      return readFile(await download.path(), 'utf8');
    };
    const whole = await save('Save as HTML');
    expect(whole).toContain('The espresso blend is 50 % Lintong');
    const blackened = await save('Save without texts');
    const { context } = opened;
    for (const html of [whole, blackened]) {
      const report = await context.newPage();
      const asked: string[] = [];
      report.on('request', (request) => asked.push(request.url()));
      await report.setContent(html);
      const [place, tree] = [report.locator('p').nth(1), report.locator('pre')];
      expect(await place.innerText()).toContain('Place 1: ');
      expect((await tree.innerText()).split('\n').length).toBeGreaterThan(5);
      const seen = await report.locator('body').innerText();
      expect(/espresso|Lintong/i.test(seen)).toBe(html === whole);
      expect(seen.includes('█')).toBe(html === blackened);
      // It needs nothing beside itself.
      expect(asked).toEqual([]);
      await report.close();
    }
    expect(blackened).not.toMatch(/espresso|blend|Lintong/i);
    expect(blackened).toContain('product');
  });

  it('blackens whatever was asked or said, numbers and attributes too', async () => {
    await using own = await browser.inspect({
      async fill(memory) {
        await memory.remember('4711 is the code of the safe, and of the bag', {
          type: 'secret-4711',
          author: 'Moneypenny',
        });
      },
    });
    for (const strategy of ['hybrid', 'retention', 'balanced', 'bm25']) {
      await using opened = await own.open({ at: `#/recall?q=4711+code+bagg&strategy=${strategy}` });
      const { page } = opened;
      await page.getByRole('button', { name: 'Why this score' }).click();
      const saved = async (name: string) => {
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name }).click(),
        ]);
        return readFile(await download.path(), 'utf8');
      };
      expect(await saved('Save as HTML'), strategy).toContain('4711');
      const html = await saved('Save without texts');
      const [, tree = ''] = html.split('<pre>');
      expect(html.replace(/secret-4711/, ''), strategy).not.toMatch(/4711|safe|bag|code|Moneypenny/);
      expect(tree, strategy).not.toContain('secret-4711');
      expect(tree.split('\n').length, strategy).toBeGreaterThan(2);
    }
  });

  it('is copied as a command, a request and a program that ask the same', async () => {
    await using opened = await demo.open({ at: `#/recall?q=${encodeURIComponent("Ann's coffee")}&limit=3` });
    const { page, context } = opened;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const copy = (form: string) => copyAs(page, form);
    expect(await copy('CLI')).toBe(
      `salience recall 'Ann'\\''s coffee' --space demo --no-track --strategy hybrid --limit 3`,
    );
    const curl = await copy('curl');
    expect(curl).toContain(`/v1/recall`);
    expect(curl).toContain('$SALIENCE_TOKEN');
    expect(curl).not.toContain('inspector_');
    expect(await copy('TypeScript')).toContain(`memory.recall("Ann's coffee", {`);
    expect(JSON.parse(await copy('JSON')).hits).toHaveLength(3);
    const opener = page.getByRole('button', { name: 'Copy as' });
    const isFocused = () => opener.evaluate((button) => button === document.activeElement);
    expect(await isFocused()).toBe(true);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('button', { name: 'CLI', exact: true }).count()).toBe(0);
    expect(await isFocused()).toBe(true);
  });

  it('is copied as a program that runs where there is no question', async () => {
    await using opened = await demo.open({ at: '#/recall?strategy=ambient' });
    const { page, context, go } = opened;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    expect(await copyAs(page, 'TypeScript')).toContain('await memory.recall(undefined, {');
    await go('#/context');
    expect(await copyAs(page, 'TypeScript')).toContain('await memory.context(undefined, {');
  });

  it('asks and copies on a page of plain HTTP, which has less of a browser', async () => {
    await using opened = await demo.open();
    const { page, context, go, complaints } = opened;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const clipboard = await page.evaluateHandle(() => navigator.clipboard);
    await page.evaluate(() => {
      Object.defineProperty(crypto, 'randomUUID', { value: undefined });
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
    });
    await go('#/recall?q=coffee');
    await page.locator('.hit').first().waitFor();
    await page.getByRole('button', { name: 'Copy as' }).click();
    await page.getByRole('button', { name: 'CLI', exact: true }).click();
    await page.getByText('Copied as CLI.').waitFor();
    const copied = await clipboard.evaluate((kept) => kept.readText());
    expect(copied).toContain('salience recall coffee');
    expect(complaints).toEqual([]);
  });

  it('says what is wrong with what was asked, and nothing is found', async () => {
    await using opened = await demo.open({ at: '#/recall?q=coffee&floor=7' });
    const { page, go } = opened;
    await page
      .getByRole('alert')
      .getByText(/minRelevance/)
      .waitFor();
    await go('#/recall?q=coffee&types=nothing-has-this-type');
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
    await go('#/recall?strategy=ambient');
    await page.locator('.hit').first().waitFor();
    await go('#/recall?q=coffee&strategy=nope');
    await page.getByRole('alert').getByText('unknown strategy "nope"').waitFor();
    expect(await page.locator('.hit').count()).toBe(0);
    await picture(page, 'recall-unknown-strategy');
    await page.getByLabel('Strategy').selectOption('bm25');
    await page.locator('.hit').first().waitFor();
  });

  it('says that it reads no number in "Most hits"', async () => {
    await using opened = await demo.open({ rights: 'read', at: '#/recall?q=coffee&limit=abc' });
    const { page } = opened;
    const said = page.getByRole('alert').filter({ hasText: 'Most hits' });
    await said.waitFor();
    await page.getByText('Narrow', { exact: true }).click();
    await picture(page, 'recall-most-hits');
    const most = page.getByLabel('Most hits');
    for (const wrong of ['0', '2.5', '-3']) {
      await most.fill(wrong);
      await most.press('Enter');
      await eventually(async () => page.url()).toContain(`limit=${wrong}`);
      await said.waitFor();
    }
    await most.fill('2');
    await most.press('Enter');
    await said.waitFor({ state: 'detached' });
    await eventually(() => page.locator('li.hit').count()).toBe(2);
  });
});
