import { expect, it } from 'vitest';
import { describeInBrowser, eventually, settled } from './browser.ts';

describeInBrowser('the view of the graph', ({ inspect }) => {
  it('draws what lies around an entity, lists the same, and goes on by the keyboard alone', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/graph' });
    const { page, complaints } = opened;
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('Ann');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/graph\/Ann/);
    await page.locator('.canvas .node').first().waitFor();
    const around = await demo.memory.neighbours('Ann', { depth: 2, links: true });
    expect(around.neighbours.length).toBeGreaterThan(2);
    await settled(page);
    await eventually(() => page.locator('.graph-list li').count()).toBe(around.neighbours.length);
    for (const { name } of around.neighbours) {
      await page.getByRole('link', { name: name as string, exact: true }).waitFor();
    }
    await page.getByRole('link', { name: 'Harbour Roasters', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /Harbour Roasters/ }).waitFor();
    await page.getByLabel('Steps').selectOption('1');
    await page.waitForURL(/depth=1/);
    expect(complaints).toEqual([]);
  });

  it('lists every edge of a memory that has many', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `knows_${index + 1}`);
    await using many = await inspect({
      fill: async (memory) => {
        for (const title of ['Ada', 'Bob']) await memory.remember(title, { type: 'entity', title });
        for (const name of names) await memory.relate('Ada', name, 'Bob');
      },
    });
    await using opened = await many.open({ at: '#/graph/Ada' });
    const { page } = opened;
    const edges = page.locator('.graph-list .edge');
    await eventually(() => edges.count()).toBe(8);
    await page.getByRole('button', { name: 'Show 4 more' }).focus();
    await page.keyboard.press('Enter');
    await eventually(() => edges.count()).toBe(12);
    const listed = await edges.allInnerTexts();
    for (const name of names) expect(listed.some((text) => text.includes(`${name} `))).toBe(true);
    await page.getByRole('button', { name: 'Show fewer' }).waitFor();
  });

  it('cuts no emoji in two', async () => {
    await using faces = await inspect({
      fill: async (memory) => {
        await memory.remember('A hub', { id: 'hub', type: 'entity', title: `${'😀'.repeat(40)}` });
        await memory.remember('A leaf', { id: 'leaf', type: 'entity', title: `a${'😀'.repeat(40)}` });
        await memory.relate('hub', 'near', 'leaf');
      },
    });
    await using opened = await faces.open({ at: '#/graph/hub' });
    const { page } = opened;
    await page.locator('.canvas .node text').nth(1).waitFor();
    const cut = await page.locator('.canvas text, .graph-list .edge').allTextContents();
    expect(cut.length).toBeGreaterThan(3);
    for (const text of cut) expect(text).not.toMatch(/\p{Surrogate}/u);
    await page.goto(page.url().replace(/#.*/, '#/graph/leaf'));
    await page.getByRole('heading', { name: /^a😀/ }).waitFor();
    for (const text of await page.locator('.graph-list .edge').allTextContents()) {
      expect(text).not.toMatch(/\p{Surrogate}/u);
    }
  });

  it('draws every memory and every edge, puts what is clicked in the middle, and lets it be dragged', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ rights: 'read', at: '#/graph/ann' });
    const { page, complaints } = opened;
    const {
      neighbours,
      relations,
      links = [],
    } = await demo.memory.neighbours('ann', {
      depth: 2,
      links: true,
    });
    await eventually(() => page.locator('.canvas .node').count()).toBe(neighbours.length + 1);
    await eventually(() => page.locator('.canvas .link').count()).toBe(relations.length + links.length);
    const other = page.locator('.canvas .node', { hasText: 'Verde Imports' });
    const placed = () => other.getAttribute('transform');
    const before = await placed();
    // It is where it stays, and nothing lies over it.
    await other.locator('rect').hover({ position: { x: 3, y: 3 } });
    const { x, y } = (await other.locator('rect').boundingBox()) ?? { x: 0, y: 0 };
    await page.mouse.down();
    await page.mouse.move(x + 60, y + 40, { steps: 4 });
    await page.mouse.up();
    await eventually(placed).not.toBe(before);
    expect(page.url()).toContain('#/graph/ann');
    await other.locator('rect').click();
    await page.getByRole('heading', { name: 'Verde Imports' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it.each([20, 50])(
    'names what it draws around %i neighbours, and no label covers another one or a memory',
    async (count) => {
      await using many = await inspect({
        fill: async (memory) => {
          await memory.remember('What all is about', {
            id: 'middle',
            type: 'entity',
            title: 'The middle of all',
          });
          for (let index = 0; index < count; index++) {
            await memory.remember(`Note ${index} about something that is long to read`, { id: `n${index}` });
            if (index % 2 === 0) await memory.relate('middle', 'is_noted_in', `n${index}`);
            else await memory.link('middle', `n${index}`, { weight: 0.5 });
            if (index % 5 === 4) await memory.link(`n${index}`, `n${index - 3}`, { weight: 0.8 });
          }
        },
      });
      await using opened = await many.open({ rights: 'read', at: '#/graph/middle?depth=1' });
      const { page } = opened;
      await eventually(() => page.locator('.canvas .node').count()).toBe(count + 1);
      const look = () =>
        page.locator('.canvas').evaluate((canvas) => {
          const boxOf = (element: Element) => element.getBoundingClientRect();
          const texts = [...canvas.querySelectorAll('.node text')];
          const overlap = (a: DOMRect, b: DOMRect) =>
            a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
          const others = [...texts, ...canvas.querySelectorAll('.node rect')];
          return {
            labels: texts.map(({ textContent }) => textContent),
            size: Math.min(...texts.map((text) => boxOf(text).height)),
            covered: texts.flatMap((text) =>
              others
                .filter((other) => other.parentNode !== text.parentNode && overlap(boxOf(text), boxOf(other)))
                .map(() => text.textContent),
            ),
          };
        });
      const { labels, size, covered } = await look();
      expect(covered).toEqual([]);
      expect(labels).toContain('The middle of all');
      expect(labels.length).toBeGreaterThan(10);
      expect(size).toBeGreaterThan(10);
      // Enlarged, the drawing has room for more of them.
      for (let step = 0; step < 6; step++) await page.getByRole('button', { name: 'Larger' }).click();
      await eventually(async () => (await look()).labels.length).toBeGreaterThan(count * 0.8);
      expect((await look()).covered).toEqual([]);
    },
  );

  it('shows links between memories, which can be left out, and 200 memories before more', async () => {
    await using many = await inspect({
      fill: async (memory) => {
        await memory.remember('the middle', { id: 'middle' });
        for (let index = 0; index < 210; index++) {
          await memory.remember(`note ${index}`, { id: `n${index}`, scope: `project:p${index}` });
          await memory.link('middle', `n${index}`, { weight: 0.5 });
        }
      },
    });
    await using opened = await many.open({ rights: 'read', at: '#/graph/middle?depth=1' });
    const { page, complaints } = opened;
    await eventually(() => page.locator('.graph-list li').count()).toBe(200);
    await page.getByRole('button', { name: 'Show more than 200' }).click();
    await page.getByRole('link', { name: 'note 209' }).waitFor();
    await settled(page);
    await eventually(() => page.locator('.graph-list li').count()).toBe(210);
    await page.getByLabel('Links too').uncheck();
    await page.getByText('Nothing is related to it').waitFor();
    expect(complaints).toEqual([]);
  });

  it('lights up the evidence chains of a recall, among what is shown and in the list', async () => {
    await using linked = await inspect({
      fill: async (memory) => {
        for (const [id, content] of [
          ['roast', 'The roast of the coffee is dark'],
          ['grinder', 'The grinder of the coffee is loud'],
          ['kettle', 'The kettle is blue'],
        ] as const) {
          await memory.remember(content, { id });
        }
        await memory.link('roast', 'grinder', { weight: 0.9 });
        await memory.link('roast', 'kettle', { weight: 0.9 });
      },
    });
    const { evidenceChains } = await linked.memory.recall('coffee', { track: false });
    expect(evidenceChains.map(({ ids }) => [...ids].sort())).toEqual([['grinder', 'roast']]);
    await using opened = await linked.open({ rights: 'read', at: '#/recall?q=coffee' });
    const { page, complaints } = opened;
    await page.getByRole('link', { name: 'In the graph' }).click();
    await page.getByText('1 of its 1 chain is among what is shown.').waitFor();
    const lit = page.locator('.canvas .node.lit');
    await eventually(() =>
      lit.evaluateAll((nodes) => nodes.map(({ dataset }) => dataset['id']).sort()),
    ).toEqual(['grinder', 'roast']);
    await eventually(() => page.locator('.canvas .link.lit').count()).toBe(1);
    await eventually(() => page.locator('.canvas .link').count()).toBe(2);
    await page.getByRole('searchbox', { name: 'Question' }).fill('kettle');
    await page.getByText('No links lead from one of its hits').waitFor();
    await eventually(() => lit.count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('lights up the chains of the very recall that it was opened from, and says with what it was asked', async () => {
    await using typed = await inspect({
      fill: async (memory) => {
        for (let index = 0; index < 8; index++) {
          const type = index % 2 === 0 ? 'fact' : 'rule';
          // Longer texts score less: the third rule is not among the first three of all, which chains join.
          await memory.remember(`coffee${' cup'.repeat(index)}`, { id: `m${index}`, type });
        }
        await memory.link('m1', 'm5', { weight: 0.9 });
      },
    });
    expect((await typed.memory.recall('coffee', { track: false })).evidenceChains).toEqual([]);
    await using opened = await typed.open({
      rights: 'read',
      at: '#/recall?q=coffee&types=rule&limit=6&p.weights.similarity=3',
    });
    const { page } = opened;
    await page.getByRole('link', { name: 'In the graph' }).click();
    await page.getByText('1 of its 1 chain is among what is shown.').waitFor();
    await page.getByText('Asked with types=rule, limit=6, weights.similarity=3, strategy=hybrid.').waitFor();
    const lit = page.locator('.canvas .node.lit');
    await eventually(() =>
      lit.evaluateAll((nodes) => nodes.map(({ dataset }) => dataset['id']).sort()),
    ).toEqual(['m1', 'm5']);
    // It stays the same recall around another memory.
    await page
      .getByRole('link', { name: /^coffee/ })
      .first()
      .click();
    await page.waitForURL(/types=rule/);
    await opened.go('#/graph/m1?q=coffee&strategy=hybird');
    await page.getByText('unknown strategy "hybird" (did you mean "hybrid"?)').waitFor();
  });

  it('says that it does not know how many memories to show', async () => {
    await using few = await inspect({ fill: (memory) => memory.remember('the middle', { id: 'middle' }) });
    await using opened = await few.open({ rights: 'read', at: '#/graph/middle?most=1.5' });
    const { page } = opened;
    await page
      .getByText(
        'most=1.5 is not a whole number from 1 to 10,000. Until it is changed, 200 memories are shown.',
      )
      .waitFor();
    await page.getByText('Nothing is related to it or linked with it.').waitFor();
    await opened.go('#/graph/middle?most=300');
    await eventually(() => page.getByRole('alert').count()).toBe(0);
  });

  it('says what it cannot find, and what to do in an empty space', async () => {
    await using empty = await inspect({ fill: async () => undefined });
    await using opened = await empty.open({ at: '#/graph' });
    await opened.page.getByText('Nothing is remembered yet').waitFor();
    const { memory } = empty;
    expect(await opened.page.locator('.empty code').innerText()).toBe(
      "salience remember 'An engineer' --type entity --title Ada",
    );
    await memory.remember('An engineer', { type: 'entity', title: 'Ada' });
    await opened.go('#/graph/Ada');
    await opened.page.getByText('Nothing is related to it or linked with it.').waitFor();
    await opened.go('#/graph/nobody');
    await opened.page.getByText('no entity that can be seen here is named "nobody"').waitFor();
  });
});
