import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MemoryEngine } from '../index.ts';
import { live } from '../testing/live-memory.ts';
import { createImportLinks, importItems, openSource } from './index.ts';

let directory: string;
let memory: MemoryEngine;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'salience-links-'));
  ({ memory } = await live({ embedder: 'none' }));
});
afterEach(async () => {
  await memory.close();
  rmSync(directory, { recursive: true });
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

async function importPath(name: string) {
  const leftOut: string[] = [];
  const source = await openSource(join(directory, name), { directory });
  const counts = await importItems(memory, source.items, { onLeftOut: (what) => leftOut.push(what) });
  return { counts, leftOut };
}

/** Every link that was stated, as the contents at its ends in order. */
async function statedLinks(): Promise<readonly string[]> {
  const { memories } = await memory.list({ limit: 1000 });
  const contents = new Map(memories.map(({ id, content }) => [id, content]));
  const pairs = new Set<string>();
  for (const { id, content } of memories) {
    for (const link of await memory.links(id)) {
      if (link.kind === 'stated') pairs.add([content, contents.get(link.id)].sort().join(' — '));
    }
  }
  return [...pairs].sort();
}

describe('relations of an MCP graph', () => {
  const entity = (name: string, ...observations: string[]) =>
    JSON.stringify({ type: 'entity', name, entityType: 'thing', observations });
  const relation = (from: string, relationType: string, to: string) =>
    JSON.stringify({ type: 'relation', from, relationType, to });

  it('link their entities and themselves once, in any order', async () => {
    const lines = [
      relation('Ann', 'plays_in', 'Strings'),
      entity('Ann', 'Plays the cello', 'Is tall'),
      entity('Strings'),
    ];
    write({ 'graph.jsonl': lines.join('\n') });
    const { counts, leftOut } = await importPath('graph.jsonl');
    expect(counts).toEqual({ imported: 5, updated: 0, unchanged: 0, skipped: 0, linked: 3 });
    expect(leftOut).toEqual([]);
    const expected = [
      'Ann (thing) — Ann plays_in Strings',
      'Ann (thing) — Strings (thing)',
      'Ann plays_in Strings — Strings (thing)',
    ];
    expect(await statedLinks()).toEqual(expected);
    expect((await importPath('graph.jsonl')).counts).toEqual({
      imported: 0,
      updated: 0,
      unchanged: 5,
      skipped: 0,
    });
    expect(await statedLinks()).toEqual(expected);
  });

  it('are reported if an end is missing', async () => {
    write({ 'graph.jsonl': [entity('Ann', 'Plays the cello'), relation('Ann', 'knows', 'Eve')].join('\n') });
    const { counts, leftOut } = await importPath('graph.jsonl');
    expect(counts).toMatchObject({ imported: 3, linked: 1 });
    expect(leftOut).toEqual(Array(2).fill('links to what is not in the import'));
  });
});

describe('links of notes', () => {
  it('link the memories of both notes, and appear in the text as a reader sees them', async () => {
    write({
      'vault/Pump.md':
        '# Pump\nSee [[House|the house]], ![[plan.png]] and `[[code]]`.\n## Oil\nEvery month.\n',
      'vault/rooms/House.md': 'Its [[pump#Oil]] is old. Not [[Shed]].\n',
      'vault/rooms/Cellar.md': '---\naliases: [Basement]\n---\nBelow [[rooms/House]].\n',
      'vault/Stairs.md': 'They lead to the [[Basement]] and [[#nowhere]].\n',
    });
    const { counts, leftOut } = await importPath('vault');
    // Five sections, and the four notes, which link to each other.
    expect(counts).toMatchObject({ imported: 9, linked: 4 });
    // The picture and the shed.
    expect(leftOut).toEqual(Array(2).fill('links to what is not in the import'));
    const see = 'See the house, plan.png and `[[code]]`.';
    expect(await statedLinks()).toEqual(
      [
        [see, 'Its pump > Oil is old. Not Shed.'],
        ['Every month.', 'Its pump > Oil is old. Not Shed.'],
        ['Below rooms/House.', 'Its pump > Oil is old. Not Shed.'],
        ['Below rooms/House.', 'They lead to the Basement and nowhere.'],
      ]
        .map((pair) => pair.sort().join(' — '))
        .sort(),
    );
  });

  it('connect the files of one command', async () => {
    write({ 'a.md': 'First [[b]]\n', 'b.md': 'Second\n' });
    const links = createImportLinks();
    for (const name of ['a.md', 'b.md']) {
      const source = await openSource(join(directory, name), { directory });
      await importItems(memory, source.items, { links });
    }
    expect(await statedLinks()).toEqual([]);
    expect(await links.write(async () => memory, {})).toMatchObject({ imported: 2, linked: 1 });
    expect(await statedLinks()).toEqual(['First b — Second']);
  });

  it('lead to the own memory of a note once it no longer shares one with another note', async () => {
    const text = (at: string) =>
      memory.list().then(({ memories }) => memories.find(({ id }) => id === at)?.content);
    write({ 'v/a.md': 'Lives in Leeds\n', 'v/b.md': 'Lives in Leeds\n', 'v/c.md': 'As [[b]] does\n' });
    await importPath('v');
    write({ 'v/a.md': 'Lives in York\n' });
    await importPath('v');
    const [said] = (await memory.list()).memories.filter(({ content }) => content === 'As b does');
    const ends = await memory.links(said!.id);
    expect(await Promise.all(ends.map(({ id }) => text(id)))).toContain('Lives in Leeds');
  });
});

describe('a memory that is opened on demand', () => {
  it('is opened only when there is something to write', async () => {
    write({ 'empty.jsonl': '\nno json\n{"content":"x"\n', 'one.jsonl': '{"content":"x"}\n' });
    let opened = 0;
    const open = async () => {
      opened++;
      return memory;
    };
    const empty = await openSource(join(directory, 'empty.jsonl'), { directory });
    expect(await importItems(open, empty.items)).toMatchObject({ imported: 0, skipped: 2 });
    expect(opened).toBe(0);
    const one = await openSource(join(directory, 'one.jsonl'), { directory });
    expect(await importItems(open, one.items)).toMatchObject({ imported: 1 });
    expect(opened).toBe(1);
  });
});

describe('notes that link to each other', () => {
  const graphOf = async () => {
    const entities = await memory.entities(undefined, { limit: 100 });
    const names = new Map(entities.map(({ id, title }) => [id, title]));
    const { memories } = await memory.list({ limit: 1000 });
    return {
      entities: entities.map(({ title, aliases = [] }) => [title, ...aliases].join('|')).sort(),
      relations: memories
        .flatMap(({ content, relations = [] }) =>
          relations.map(({ from, name, to }) => `${names.get(from)} ${name} ${names.get(to)}: ${content}`),
        )
        .sort(),
    };
  };

  it('become entities with aliases, and their links become relations; other notes do not', async () => {
    write({
      'vault/people/Ann.md':
        '---\naliases: [Annie, A. Gray]\ntitle: Ann Gray\n---\nPlays in the [[Strings]].',
      'vault/Strings.md': '# History\nFounded by [[annie|her]] and [[Nobody]].\n# Today\nStill [[#History]].',
      'vault/Alone.md': 'Links to [[Nobody]] and to [[Alone]].',
      'vault/Plain.md': 'No links',
      'vault/2026-01-31.md': 'Heard [[Strings]].',
    });
    const { counts } = await importPath('vault');
    // Six sections, and two notes that link to each other.
    expect(counts).toMatchObject({ imported: 8, skipped: 0 });
    expect((await memory.list()).total).toBe(8);
    const expected = {
      entities: ['Ann|Ann Gray|Annie|A. Gray', 'Strings'],
      relations: [
        'Ann links_to Strings: Plays in the Strings.',
        'Strings links_to Ann: Founded by her and Nobody.',
      ],
    };
    expect(await graphOf()).toEqual(expected);
    const before = (await memory.stats()).sequence;
    expect((await importPath('vault')).counts).toMatchObject({ imported: 0, updated: 0, unchanged: 8 });
    expect(await graphOf()).toEqual(expected);
    expect((await memory.stats()).sequence).toBe(before);
  });

  it('are found in whatever form a file system writes accented letters', async () => {
    const composed = 'Caf\u00e9';
    write({
      [`vault/${composed.normalize('NFD')}.md`]: `# Men${'\u00fc'.normalize('NFD')}\nTea.\n# Hours\nLate.`,
      'vault/Guide.md': `To the [[${composed}]], see [[${composed}#Men\u00fc]].`,
    });
    const { counts } = await importPath('vault');
    expect(counts).toMatchObject({ imported: 5, linked: 1, skipped: 0 });
    expect((await graphOf()).relations).toHaveLength(1);
  });

  it('are matched to existing entities by name, which keep their content', async () => {
    await memory.remember('A cellist', { id: 'ann', type: 'entity', title: 'Ann Gray', aliases: ['Ann'] });
    await memory.remember('Elsewhere', { type: 'entity', title: 'Strings', scope: 'project:a' });
    write({
      'vault/Ann.md': '---\naliases: [Annie]\n---\nPlays in [[Strings]].',
      'vault/Strings.md': 'An orchestra.',
    });
    await importPath('vault');
    expect(await memory.get('ann')).toMatchObject({ content: 'A cellist', aliases: ['Ann', 'Annie'] });
    const { relations } = await memory.neighbours('ann');
    expect(relations).toMatchObject([{ from: 'ann', name: 'links_to' }]);
    expect((await memory.get(relations[0]?.to ?? ''))?.scope).toBe('global');
  });

  it('get as many relations as one statement may state, and the rest is counted', async () => {
    const names = Array.from({ length: 103 }, (_, at) => `Note ${at}`);
    write({
      'vault/All.md': names.map((name) => `[[${name}]]`).join(' '),
      'vault/Other.md': 'Next to [[Note 0]]',
      ...Object.fromEntries(names.map((name) => [`vault/${name}.md`, `About ${name}`])),
    });
    for (const linked of [104, undefined]) {
      const { counts, leftOut } = await importPath('vault');
      expect(counts.linked).toBe(linked);
      expect(leftOut).toEqual(Array(3).fill('relations'));
    }
    const { relations } = await graphOf();
    expect(relations).toHaveLength(101);
    expect(relations.filter((each) => each.endsWith(': Next to Note 0'))).toHaveLength(1);
  });

  it('are written in groups with progress, and an abort keeps what was reported', async () => {
    const count = 150;
    const notes = Array.from({ length: count }, (_, at) => [
      `vault/Note ${at}.md`,
      `About ${at}, see [[Note ${(at + 1) % count}]]`,
    ]);
    write(Object.fromEntries(notes));
    const links = createImportLinks();
    const source = await openSource(join(directory, 'vault'), { directory });
    await importItems(memory, source.items, { links });
    let underWay = 0;
    let most = 0;
    const watched: MemoryEngine = {
      ...memory,
      async link(...given) {
        most = Math.max(most, ++underWay);
        await memory.link(...given).finally(() => underWay--);
      },
    };
    const stop = new AbortController();
    const told: { linked: number; done: number }[] = [];
    const aborted = links.write(async () => watched, {
      signal: stop.signal,
      onProgress({ counts: { linked }, done }) {
        told.push({ linked, done });
        if (linked > 0) stop.abort();
      },
    });
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
    // Writes that are asked for together wait for the disk together.
    expect(most).toBeGreaterThan(1);
    expect((await statedLinks()).length).toBe(told.at(-1)?.linked);
    expect(
      await links.write(async () => memory, { onProgress: (each) => told.push({ linked: 0, ...each }) }),
    ).toEqual({
      imported: count,
      updated: 0,
      unchanged: 0,
      linked: count - (told.find(({ linked }) => linked > 0)?.linked ?? 0),
    });
    expect(told.at(-1)).toMatchObject({ done: 3 * count, share: 1 });
    expect((await graphOf()).relations).toHaveLength(count);
  });

  it('add their names one by one to an entity that several of them match', async () => {
    await memory.remember('A cellist', { id: 'ann', type: 'entity', title: 'Ann', aliases: ['Annie'] });
    write({
      'vault/Ann.md': '---\naliases: [A. Gray]\n---\nSee [[Strings]].',
      'vault/Annie.md': '---\naliases: [Miss Gray]\n---\nPlays in the [[more/Strings]].',
      'vault/Strings.md': 'An orchestra.',
      'vault/more/Strings.md': 'Another orchestra.',
    });
    const { counts } = await importPath('vault');
    expect(counts).toMatchObject({ imported: 5, updated: 2 });
    expect((await graphOf()).entities).toEqual(['Ann|Annie|A. Gray|Miss Gray', 'Strings']);
  });

  it('are of the entity with that title, which keeps its content, though another has it as an alias', async () => {
    await memory.remember('Where the pump stands', { id: 'own', type: 'entity', title: 'Cellar' });
    await memory.remember('Of the castle', { type: 'entity', title: 'Vault', aliases: ['cellar'] });
    write({ 'vault/Pump.md': 'It stands in the [[Cellar]].', 'vault/Cellar.md': 'Down the stairs.' });
    const { counts } = await importPath('vault');
    expect(counts).toMatchObject({ imported: 3, updated: 0, unchanged: 1 });
    expect(await memory.get('own')).toMatchObject({ content: 'Where the pump stands', revisionCount: 1 });
    expect((await graphOf()).relations).toEqual([expect.stringContaining('Pump links_to Cellar')]);
  });

  it('are left out if they are refused, and the others are related', async () => {
    write({
      'vault/A.md': '---\nscope: no scope!\n---\nRefused',
      'vault/B.md': '---\naliases: ["b\\u0001c", "\\u0001"]\n---\nLinks to [[A]]',
      'vault/C.md': 'Links to [[B]]',
    });
    const { counts, leftOut } = await importPath('vault');
    expect(counts).toEqual({ imported: 4, updated: 0, unchanged: 0, skipped: 1, linked: 1 });
    expect(leftOut).toEqual(['links to what is not in the import', 'entities']);
    expect(await graphOf()).toEqual({
      entities: ['B|bc', 'C'],
      relations: ['C links_to B: Links to B'],
    });
  });
});
