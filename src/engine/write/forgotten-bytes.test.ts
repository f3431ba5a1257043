import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { OpenOptions } from '../../open.ts';
import { liveFadingOnDisk as liveOnDisk } from '../../testing/live-memory.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { ForgetTarget } from './forget.ts';

/** No other text holds it, nor any eight letters of it in a row. */
const canary = 'Quixotrywobbegong';
const secret = `The vault opens at the word ${canary}`;

/** Windows of the canary, in the encodings in which a file may hold them. */
const needles = Array.from({ length: canary.length - 7 }, (_, at) => canary.slice(at, at + 8)).flatMap(
  (part) =>
    [part, part.toLowerCase(), part.toUpperCase()].flatMap((text) => {
      const little = Buffer.from(text, 'utf16le');
      return [Buffer.from(text, 'utf8'), little, Buffer.from(little).swap16()];
    }),
);

/** The files of a directory that hold any part of the canary. */
function filesWithCanary(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => {
    const bytes = readFileSync(join(directory, name));
    return needles.some((needle) => bytes.includes(needle));
  });
}

type Lived = Awaited<ReturnType<typeof liveOnDisk>>;

interface Journey {
  readonly title: string;
  readonly options?: Partial<OpenOptions>;
  /** Lets the canary into the store; returns what to forget, by default the memory `a`. */
  travel(lived: Lived): Promise<unknown>;
  /** What may say it in words of its own, and stays; only then the canary is found afterwards. */
  readonly stays?: readonly string[];
  /** Memories that must be there afterwards. */
  readonly kept?: readonly string[];
}

const noEmbedder = { embedder: 'none' } as const;
const runs = ['Monday', 'Tuesday', 'Wednesday', 'Thursday'].map((weekday, at) => ({
  id: `run${at}`,
  content: `Went for a long run along the river on ${weekday}`,
  type: 'event',
  importance: 0.2,
}));
const secretRun = { ...runs[0], id: 'a', content: `Went for a long run along the river on ${canary}` };

const wordy = scriptedModel(({ system }) =>
  system.includes('join similar')
    ? { content: `Long run along the river on ${canary}, Monday, Tuesday, Wednesday, Thursday`, title: null }
    : { verdicts: [] },
).model;

async function consolidated({ memory, pass }: Lived): Promise<string> {
  await memory.rememberMany([secretRun, ...runs] as never);
  pass(20);
  const report = await memory.maintain({ consolidate: true, fade: false });
  expect(report.consolidated).toHaveLength(1);
  return report.consolidated[0]?.id as string;
}

async function abandonedSession({ memory, pass }: Lived, content: string): Promise<void> {
  const { sessionId } = await memory.startSession();
  await memory.remember(content, { id: 'a', sessionId });
  await memory.remember('Tea at four', { id: 'tea', sessionId });
  pass(2);
  const next = await memory.startSession();
  expect(next.summaries).toHaveLength(1);
  expect(next.summaries[0]?.tags).toEqual(['automatic']);
}

const journeys: readonly Journey[] = [
  { title: 'as content', travel: async ({ memory }) => void (await memory.remember(secret, { id: 'a' })) },
  {
    title: 'as a long content over several pages',
    options: noEmbedder,
    travel: async ({ memory }) => void (await memory.remember(`${canary} `.repeat(1800), { id: 'a' })),
  },
  {
    title: 'as title, tag, metadata, topic, author, source and type',
    options: noEmbedder,
    travel: async ({ memory }) =>
      void (await memory.remember('Plain', {
        id: 'a',
        title: canary,
        tags: [canary],
        metadata: { [canary]: { deep: [canary] } },
        topicKey: canary,
        author: canary,
        sourceRef: canary,
        type: canary,
      })),
  },
  {
    title: 'in what its topic said before',
    options: noEmbedder,
    async travel({ memory }) {
      await memory.remember(secret, { id: 'a', topicKey: 'vault' });
      await memory.remember('The vault has a new word', { topicKey: 'vault' });
      expect((await memory.get('a'))?.content).toBe('The vault has a new word');
    },
  },
  {
    title: 'in what was corrected',
    async travel({ memory }) {
      await memory.remember(secret, { id: 'a' });
      await memory.update('a', { content: 'Nothing to see', title: null });
    },
  },
  {
    title: 'as the reason of an invalidation',
    options: noEmbedder,
    async travel({ memory }) {
      await memory.remember('The vault is open', { id: 'a' });
      await memory.invalidate('a', `because of ${canary}`);
    },
  },
  {
    title: 'as the reason of an invalidation of what it said before',
    options: noEmbedder,
    async travel({ memory }) {
      await memory.remember('The vault is open', { id: 'a' });
      await memory.invalidate('a', `because of ${canary}`);
      await memory.update('a', { content: 'The vault is closed' });
    },
  },
  {
    title: 'as a reason that was taken back',
    options: noEmbedder,
    async travel({ memory }) {
      await memory.remember('The vault is open', { id: 'a' });
      await memory.invalidate('a', `because of ${canary}`);
      await memory.reinstate('a');
    },
  },
  {
    title: 'in an automatic summary',
    options: noEmbedder,
    travel: (lived) => abandonedSession(lived, secret),
    kept: ['tea'],
  },
  {
    title: 'in an automatic summary that quotes what it said before',
    options: noEmbedder,
    async travel(lived) {
      await abandonedSession(lived, secret);
      await lived.memory.update('a', { content: 'Corrected' });
    },
    kept: ['tea'],
  },
  {
    title: 'in an automatic summary that was undone',
    options: noEmbedder,
    async travel(lived) {
      await abandonedSession(lived, secret);
      const undone = await lived.memory.undo();
      expect(undone.memories).toMatchObject([{ memory: undefined }]);
    },
    kept: ['tea'],
  },
  {
    title: 'in an automatic summary that was imported without what it was made of',
    options: noEmbedder,
    async travel(lived) {
      await abandonedSession(lived, secret);
      const { memories } = await lived.memory.list({ types: ['summary'] });
      const [summary] = memories;
      if (!summary) throw new Error('there is no summary');
      await lived.memory.forget(summary.id);
      await lived.memory.importMemories([{ ...summary, derivedFrom: [] }]);
    },
    kept: ['tea'],
  },
  {
    title: 'in a summary that a person wrote',
    options: noEmbedder,
    async travel({ memory }) {
      const { sessionId } = await memory.startSession();
      await memory.remember(secret, { id: 'a', sessionId });
      await memory.endSession(`We spoke of ${canary}`);
    },
    stays: ['n1'],
  },
  {
    title: 'in a consolidation by rule',
    async travel(lived) {
      await consolidated(lived);
    },
    kept: runs.map(({ id }) => id),
  },
  {
    title: 'in a consolidation by rule, all of whose others go too',
    async travel(lived) {
      await consolidated(lived);
      return ['a', 'run0', 'run1', 'run2'];
    },
    kept: ['run3'],
  },
  {
    title: 'in a consolidation by a model',
    options: { languageModel: wordy },
    async travel(lived) {
      const id = await consolidated(lived);
      expect((await lived.memory.get(id))?.content).toMatch(/^Long run/);
    },
    kept: runs.map(({ id }) => id),
  },
  {
    title: 'in a consolidation that a person reworded',
    async travel(lived) {
      const id = await consolidated(lived);
      await lived.memory.update(id, { content: `All those runs, and ${canary}` });
    },
    kept: runs.map(({ id }) => id),
  },
  {
    title: 'in a consolidation that was undone',
    async travel(lived) {
      const id = await consolidated(lived);
      await lived.memory.undo();
      expect(await lived.memory.get(id)).toBeUndefined();
    },
    kept: runs.map(({ id }) => id),
  },
  {
    title: 'in a memory of which only a stub is left, and in what it was consolidated into',
    async travel(lived) {
      await consolidated(lived);
      await lived.memory.maintain();
      lived.pass(200);
      await lived.memory.maintain();
      expect((await lived.memory.get('a'))?.tier).toBe('stub');
    },
    kept: runs.map(({ id }) => id),
  },
  {
    title: 'in the cold',
    async travel({ memory, pass }) {
      await memory.remember(secret, { id: 'a', type: 'event', importance: 0 });
      pass(100);
      expect((await memory.maintain()).cooled).toEqual(['a']);
    },
  },
  {
    title: 'in pairs, conflicts and their verdicts',
    options: {
      languageModel: scriptedModel(() => ({ verdicts: [{ pair: 1, reason: canary, verdict: 'UPDATE' }] }))
        .model,
    },
    async travel({ memory }) {
      await memory.remember(secret, { id: 'a' });
      await memory.remember(`${secret} today`, { id: 'b' });
      await memory.maintain();
      return ['a', 'b'];
    },
  },
  {
    title: 'in a conflict that was resolved by an update',
    async travel({ memory }) {
      await memory.remember('The vault opens at the word mellon, friend', { id: 'a' });
      const { conflicts = [] } = await memory.remember('The vault opens at the word mellon', {
        id: 'b',
        title: canary,
      });
      expect(conflicts).toHaveLength(1);
      await memory.resolve(conflicts[0]?.conflictId as string, 'update');
      expect((await memory.get('a'))?.title).toBe(canary);
    },
  },
  {
    title: 'by links, votes and use',
    async travel({ memory }) {
      await memory.remember(secret, { id: 'a' });
      await memory.remember('Tea at four', { id: 'tea' });
      await memory.link('a', 'tea');
      await memory.link('tea', 'a', { weight: 0.9 });
      await memory.feedback('a', 'up', { voter: canary });
      await memory.recall('vault tea', { strategy: 'retention' });
      await memory.markUsed(['a', 'tea']);
    },
    kept: ['tea'],
  },
  {
    title: 'in the query and the options of recalls that were recorded',
    options: { ...noEmbedder, recordRecalls: { days: 7, texts: true } },
    async travel({ memory }) {
      await memory.remember('The vault is open', { id: 'a', tags: [canary] });
      await memory.remember('Tea at four', { id: 'tea' });
      await memory.recall(`is the vault open at ${canary}`, { sessionId: canary });
      await memory.context('vault', { maxTokens: 500, tags: [canary] });
      await memory.recall('vault', { strategy: 'retention', metadata: {}, tags: [canary] });
    },
    kept: ['tea'],
  },
  {
    title: 'through undo and redo',
    async travel({ memory }) {
      await memory.remember(secret, { id: 'a' });
      await memory.undo();
      await memory.remember(secret, { id: 'a' });
      await memory.update('a', { content: 'Corrected' });
      await memory.undo();
    },
  },
  {
    title: 'in a memory that an undo took away',
    options: noEmbedder,
    async travel({ memory }) {
      await memory.remember(secret, { id: 'a' });
      await memory.undo();
      expect(await memory.get('a')).toBeUndefined();
    },
  },
  {
    title: 'in a memory that the curator pruned',
    async travel({ memory, pass }) {
      await memory.remember(secret, { id: 'a', type: 'event', importance: 0 });
      pass(100);
      await memory.maintain();
      pass(100);
      expect((await memory.curate({ actions: ['prune'] })).pruned).toEqual(['a']);
    },
  },
  {
    title: 'by an import',
    options: noEmbedder,
    async travel({ memory }) {
      await memory.remember(secret, { id: 'a' });
      const exported = await memory.get('a');
      await memory.forget('a');
      await memory.importMemories([{ ...exported, id: 'a', title: canary } as never]);
    },
  },
  {
    title: 'in a chain of beliefs',
    options: noEmbedder,
    async travel({ memory }) {
      await memory.remember('The vault opens at mellon', { id: 'old' });
      await memory.remember(secret, { id: 'a', supersedes: 'old' });
      await memory.remember('The vault is gone', { id: 'new', supersedes: 'a' });
    },
    kept: ['old', 'new'],
  },
  {
    title: 'in pages that were saved of the index',
    async travel({ memory, reopen }) {
      await memory.remember(secret, { id: 'a', tags: [canary] });
      await memory.rememberMany(Array.from({ length: 300 }, (_, at) => ({ content: `Filler number ${at}` })));
      await memory.recall('vault');
      await memory.close();
      const again = await reopen();
      await again.recall('vault');
      await again.close();
    },
  },
  {
    title: 'among many that are found by a tag',
    async travel({ memory }) {
      await memory.rememberMany(
        Array.from({ length: 50 }, (_, at) => ({ id: `x${at}`, content: `${secret} ${at}`, tags: ['x'] })),
      );
      await memory.remember('Tea at four', { id: 'tea' });
      return { tags: ['x'] };
    },
    kept: ['tea'],
  },
  {
    title: 'in everything of a scope and below',
    async travel({ memory }) {
      await memory.remember(secret, { scope: 'team:a' });
      await memory.remember(`${secret} again`, { scope: 'team:a/project:b' });
      await memory.remember(`${secret} and undone`, { scope: 'team:a' });
      await memory.undo();
      await memory.remember('Tea at four', { id: 'tea', scope: 'team:ab' });
      return { inScope: 'team:a', below: true };
    },
    kept: ['tea'],
  },
];

test('what was recorded of recalls is erased with the setting, bytes included', async () => {
  const lived = await liveOnDisk({ ...noEmbedder, recordRecalls: { days: 7, texts: true } });
  onTestFinished(lived.cleanUp);
  const { memory, directory } = lived;
  await memory.remember('The vault is open', { id: 'a' });
  const erasing: readonly Parameters<typeof memory.configure>[0][] = [
    { recordRecalls: { days: 7, texts: false } },
    { recordRecalls: 'off' },
  ];
  for (const settings of erasing) {
    await memory.configure({ recordRecalls: { days: 7, texts: true } });
    await memory.recall(`vault ${canary}`);
    expect(filesWithCanary(directory)).not.toEqual([]);
    await memory.configure(settings);
    expect(filesWithCanary(directory)).toEqual([]);
  }
  await memory.close();
});

describe('forget erases every byte that went', () => {
  test.each(journeys)('$title', async ({ options, travel, stays = [], kept = [] }) => {
    const lived = await liveOnDisk(options);
    onTestFinished(lived.cleanUp);
    const { directory, reopen } = lived;
    const target = ((await travel(lived)) ?? 'a') as ForgetTarget;
    expect(filesWithCanary(directory)).not.toEqual([]);

    const memory = await reopen();
    const result = await memory.forget(target);
    expect(result).toMatchObject({ dryRun: false, erased: 'bytes', mayStillSay: stays });
    expect(result.forgotten.length).toBeGreaterThan(0);
    if (stays.length === 0) expect(filesWithCanary(directory)).toEqual([]);
    for (const id of kept) expect(await memory.get(id)).toBeDefined();
    for (const id of result.forgotten) {
      expect(await memory.get(id)).toBeUndefined();
      expect((await memory.history(id)).every(({ redacted }) => redacted)).toBe(true);
    }
    await memory.undo().catch(() => undefined);
    await memory.recall('vault river');
    await memory.maintain();
    await memory.close();
    await lived.memory.close();
    if (stays.length === 0) {
      expect(filesWithCanary(directory)).toEqual([]);
      return;
    }
    const again = await reopen();
    await again.forget(stays);
    expect(filesWithCanary(directory)).toEqual([]);
    await again.close();
  });
});
