import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SalienceError } from '../../domain/errors.ts';
import type { Verdict } from '../../language/verdicts.ts';
import { openMemory } from '../../open.ts';
import { createSqliteStore } from '../../stores/sqlite/index.ts';
import { liveFading as live } from '../../testing/live-memory.ts';
import { type ScriptedRequest, scriptedModel } from '../../testing/scripted-model.ts';
import type { MemoryEngine } from '../memory-engine.ts';

const days = ['Monday', 'Tuesday', 'Wednesday'];
const flights = days.map((day, at) => ({
  id: `f${at}`,
  content: `Anna flies to Lisbon on ${day} morning`,
  importance: [0.9, 0.4, 0.2][at],
  createdAt: `2025-12-0${at + 1}`,
}));

/** The pairs in a prompt, with their numbers. */
function pairsIn({ prompt }: ScriptedRequest) {
  return prompt
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<'older' | 'newer', { statement: string }> & { pair: number });
}

/** Flights of a memory whose model gives each pair the verdict that `judge` returns, or none. */
async function judging(judge: (older: string, newer: string) => Verdict | undefined) {
  const scripted = scriptedModel((request) => ({
    verdicts: pairsIn(request).flatMap(({ pair, older, newer }) => {
      const verdict = judge(older.statement, newer.statement);
      return verdict ? [{ pair, reason: 'because', verdict }] : [];
    }),
  }));
  const lived = await live({ languageModel: scripted.model });
  await lived.memory.rememberMany(flights);
  return { ...lived, ...scripted };
}

const recalled = async (memory: Awaited<ReturnType<typeof judging>>['memory']) =>
  (await memory.recall('Anna flies to Lisbon')).hits.map((hit) => hit.memory.id).sort();

describe('the queue of similar pairs, judged by a model', () => {
  test('a pair that gets no usable verdict is asked about three times, and then left to people', async () => {
    const { memory, requests } = await judging(() => undefined);
    for (let run = 0; run < 3; run++) {
      expect((await memory.maintain()).failures.length).toBeGreaterThan(0);
    }
    const asked = requests.length;
    expect(asked).toBeGreaterThanOrEqual(3);
    expect(await memory.maintain()).toMatchObject({ judged: [], failures: [], usage: { calls: 0 } });
    expect(requests).toHaveLength(asked);
    expect((await memory.conflicts()).length).toBeGreaterThan(0);
  });

  test('a pair that a server did not answer on goes on waiting until it does', async () => {
    let isDown = true;
    const { memory } = await judging(() => {
      if (isDown) throw new Error('503');
      return 'OVERLAP';
    });
    for (let run = 0; run < 4; run++) expect((await memory.maintain()).failures).toHaveLength(1);
    isDown = false;
    expect((await memory.maintain()).judged).toHaveLength(3);
  });

  test.each([
    [400, 3],
    [503, 5],
    [401, 5],
  ])('a pair that a server refuses with status %d is asked about in %d of 5 runs', async (status, asked) => {
    const { memory } = await judging(() => {
      throw new SalienceError('model_failed', 'no', { details: { status } });
    });
    let failed = 0;
    for (let run = 0; run < 5; run++) failed += (await memory.maintain()).failures.length;
    expect(failed).toBe(asked);
    expect((await memory.conflicts()).length).toBeGreaterThan(0);
  });

  test('a run whose verdicts change nothing is still listed, and undone before earlier writes', async () => {
    const { memory } = await judging(() => 'NONE');
    const before = (await memory.list()).memories;
    const { run, judged } = await memory.maintain();
    expect(judged.length).toBeGreaterThan(0);
    expect((await memory.list()).memories).toEqual(before);
    expect((await memory.operations())[0]).toMatchObject({ verb: 'maintain', run });
    expect(await memory.undo()).toMatchObject({ verb: 'maintain', run, skipped: [] });
    expect((await memory.list()).memories).toEqual(before);
    expect(await memory.conflicts()).toHaveLength(judged.length);
    await expect(memory.undo({ run })).rejects.toMatchObject({ code: 'cannot_undo' });
  });

  test('an undo does not ask again about a pair whose newer memory keeps superseding the older one', async () => {
    const { memory } = await judging((_, newer) => (newer.includes('Tuesday') ? 'UPDATE' : 'CONTRADICTION'));
    const { run } = await memory.maintain({ maxPairs: 2 });
    const open = await memory.conflicts();
    await memory.update('f2', { tags: ['checked'] });
    const superseded = (await memory.get('f2'))?.supersedes;
    expect(superseded?.length).toBeGreaterThan(0);
    await memory.undo({ run }).catch(() => undefined);
    expect(await memory.get('f2')).toMatchObject({ supersedes: superseded });
    const again = (await memory.conflicts()).slice(open.length);
    expect(again.map(({ newer }) => newer.id)).not.toContain('f2');
  });

  test('an update supersedes, inherits the importance, and can be undone', async () => {
    const { memory, requests } = await judging((older, newer) =>
      older.includes('Monday') && newer.includes('Wednesday') ? 'UPDATE' : 'OVERLAP',
    );
    const report = await memory.maintain();
    expect(report.judgedBy).toBe('scripted');
    expect(report.judged).toHaveLength(report.similarPairs.length);
    expect(report.judged).toContainEqual({ older: 'f0', newer: 'f2', verdict: 'UPDATE', reason: 'because' });
    expect(report).toMatchObject({ failures: [], usage: { calls: 1 } });
    expect(report.usage.promptTokens).toBeGreaterThan(100);
    expect(requests).toHaveLength(1);
    expect(await memory.get('f2')).toMatchObject({
      supersedes: ['f0'],
      importance: 0.9,
      importanceSource: 'caller',
    });
    expect(await recalled(memory)).toEqual(['f1', 'f2']);
    expect(await memory.conflicts()).toEqual([]);

    // What is judged is not judged again, and costs nothing.
    expect(await memory.maintain()).toMatchObject({ judged: [], usage: { calls: 0 } });
    expect(await memory.maintain()).not.toHaveProperty('judgedBy');
    await memory.undo();
    expect(await recalled(memory)).toEqual(['f0', 'f1', 'f2']);
    expect((await memory.get('f2'))?.importance).toBe(0.2);
  });

  test.each(['UPDATE', 'CONTRADICTION'] as const)(
    'by %s a cold memory that hides a hot one is hot',
    async (verdict) => {
      const { memory, space, clock } = await judging((older, newer) =>
        older.includes('Monday') && newer.includes('Wednesday') ? verdict : 'NONE',
      );
      await memory.maintain({ useModel: false });
      const seen = async () =>
        (await memory.recall('Anna flies to Lisbon', { association: 'none', track: false })).hits
          .map((hit) => hit.memory.id)
          .sort();
      const [newer] = await space.get(['f2']);
      await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
        changes: [{ kind: 'replace', memory: { ...newer!, tier: 'cold', coldSince: clock.now() } }],
        result: undefined,
      }));
      expect(await seen()).toEqual(['f0', 'f1']);
      await memory.maintain();
      expect(await seen()).toEqual(['f1', 'f2']);
      expect(await memory.get('f2')).toMatchObject({ tier: 'hot', coldSince: undefined });
      await memory.undo();
      expect(await seen()).toEqual(['f0', 'f1']);
    },
  );

  test('a contradiction in a chain: the newest alone is believed', async () => {
    const { memory } = await judging(() => 'CONTRADICTION');
    await memory.maintain();
    expect(await recalled(memory)).toEqual(['f2']);
    expect((await memory.get('f1'))?.importance).toBe(0.9);
  });

  test('an importance set by a person is not replaced by an inherited one', async () => {
    const { memory } = await judging(() => 'UPDATE');
    await memory.setImportance('f2', 0.1);
    await memory.maintain();
    expect(await memory.get('f2')).toMatchObject({ importance: 0.1, importanceSource: 'person' });
    expect(await recalled(memory)).toEqual(['f2']);
  });

  test('a pair without a verdict, or not asked about, waits for the next run', async () => {
    let silent = true;
    const { memory, requests } = await judging(() => (silent ? undefined : 'NONE'));
    const first = await memory.maintain();
    expect(first).toMatchObject({ judged: [], judgedBy: 'scripted' });
    const waiting = (await memory.conflicts()).length;
    expect(waiting).toBe(first.similarPairs.length);
    silent = false;
    const asked = requests.length;
    expect(await memory.maintain({ useModel: false })).toMatchObject({ judged: [] });
    expect(await memory.maintain({ dryRun: true })).toMatchObject({ judged: [] });
    expect(requests).toHaveLength(asked);
    expect((await memory.maintain({ maxPairs: 1 })).judged).toHaveLength(1);
    expect(await memory.conflicts()).toHaveLength(waiting - 1);
    await memory.maintain();
    expect(await memory.conflicts()).toEqual([]);
    expect(await recalled(memory)).toEqual(['f0', 'f1', 'f2']);
    await expect(memory.maintain({ maxPairs: 0 })).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test('a model that fails is reported, and nothing is lost', async () => {
    const { model } = scriptedModel(() => {
      throw new Error('out of memory');
    });
    const { memory } = await live({ languageModel: model });
    await memory.rememberMany(flights);
    const report = await memory.maintain();
    expect(report).toMatchObject({ judged: [], failures: [expect.stringContaining('out of memory')] });
    expect(await memory.conflicts()).toHaveLength(report.similarPairs.length);
  });

  test('pairs that are no longer believed are not asked about', async () => {
    const { memory, requests } = await judging(() => 'UPDATE');
    await memory.maintain({ useModel: false });
    await memory.invalidate('f0', 'she cancelled');
    await memory.maintain();
    expect(requests.flatMap(pairsIn).map(({ older }) => older.statement)).toEqual([flights[1]!.content]);
    expect(await recalled(memory)).toEqual(['f2']);
  });

  test('a pair is found behind any number of pairs that are not asked about', async () => {
    const { memory, space, clock } = await judging(() => 'UPDATE');
    await memory.maintain({ useModel: false });
    const waiting = (await space.pendingPairs(10)).map(({ older, newer, kind, similarity }) => ({
      older,
      newer,
      kind,
      similarity,
    }));
    for (const { id } of flights) await memory.forget(id);
    const over = Array.from({ length: 150 }, (_, at) => `over${at}`);
    await memory.rememberMany(
      over.map((id) => ({ id, content: `Number ${id} of many`, validUntil: '2020-01-01' })),
    );
    const pairs = over.flatMap((older, at) =>
      over.slice(at + 1).map((newer) => ({ older, newer, kind: 'similar' as const, similarity: 0.9 })),
    );
    expect(pairs.length).toBeGreaterThan(10_000);
    await memory.rememberMany(flights);
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: [...pairs, ...waiting].map((pair) => ({ kind: 'queue-pair' as const, pair })),
      result: undefined,
    }));
    const { toJudge } = await memory.maintain({ dryRun: true });
    expect(toJudge).toEqual(waiting.map(({ older, newer }) => ({ older, newer })));
    const { judged } = await memory.maintain();
    expect(judged).toHaveLength(waiting.length);
    expect(await recalled(memory)).toEqual(['f2']);
  });

  test('a verdict by which a memory would supersede itself is not written', async () => {
    const { memory, requests } = await judging((older, newer) =>
      older.includes('Monday') && newer.includes('Wednesday') ? 'UPDATE' : 'NONE',
    );
    await memory.forget('f0');
    // It is not yet valid, so what it supersedes is still live.
    await memory.rememberMany([{ ...flights[0]!, supersedes: 'f2', validFrom: '2027-01-01' }]);
    const { judged } = await memory.maintain();
    expect(judged.length).toBeGreaterThan(0);
    expect(judged.map(({ older, newer }) => `${older} ${newer}`)).not.toContain('f0 f2');
    expect((await memory.get('f2'))?.supersedes).not.toContain('f0');

    // It counts as an answer in vain: after three, the pair is left to people.
    for (let run = 0; run < 4; run++) expect(await memory.maintain()).toMatchObject({ judged: [] });
    const asked = requests.filter((request) =>
      pairsIn(request).some(
        ({ older, newer }) => older.statement.includes('Monday') && newer.statement.includes('Wednesday'),
      ),
    );
    expect(asked).toHaveLength(3);
    expect(await memory.conflicts()).toHaveLength(1);
  });

  test('two entities are left to people', async () => {
    const { memory, requests } = await judging(() => 'UPDATE');
    await memory.maintain();
    const asked = requests.length;
    for (const { id } of flights) await memory.forget(id);
    await memory.rememberMany(flights.map((flight) => ({ ...flight, type: 'entity', title: flight.id })));
    expect((await memory.maintain()).similarPairs.length).toBeGreaterThan(0);
    expect(requests).toHaveLength(asked);
    expect(await memory.maintain({ dryRun: true })).toMatchObject({ toJudge: [] });
  });

  test('a text that changes while the model thinks makes its verdict void', async () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const { model } = scriptedModel(async (request) => {
      await meanwhile?.();
      return { verdicts: pairsIn(request).map(({ pair }) => ({ pair, reason: '', verdict: 'UPDATE' })) };
    });
    const { memory } = await live({ languageModel: model });
    await memory.rememberMany(flights.slice(0, 2));
    meanwhile = () => memory.update('f1', { content: 'Cows graze on the hill' });
    expect(await memory.maintain()).toMatchObject({ judged: [], usage: { calls: 1 } });
    expect((await memory.get('f1'))?.supersedes).toEqual([]);
    expect(await recalled(memory)).toContain('f0');
  });

  test('no transaction is open while the model judges', async () => {
    const path = mkdtempSync(join(tmpdir(), 'salience-judge-'));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    const open = () => createSqliteStore({ directory: path, busyTimeout: 0 });
    await using otherStore = open();
    await using other = await openMemory({ path, space: 'default', store: otherStore });
    const { model } = scriptedModel(async (request) => {
      await other.remember('Written meanwhile');
      return { verdicts: pairsIn(request).map(({ pair }) => ({ pair, reason: '', verdict: 'UPDATE' })) };
    });
    await using store = open();
    const clock = () => Date.UTC(2026, 0, 1);
    await using memory = await openMemory({ path, space: 'default', store, languageModel: model, clock });
    await memory.rememberMany(flights);
    expect((await memory.maintain()).judged.length).toBeGreaterThan(0);
  });
});

test('without a model nothing is superseded, and the pairs wait', async () => {
  const { memory } = await live();
  await memory.rememberMany(flights);
  const report = await memory.maintain();
  expect(report).toMatchObject({ judged: [], failures: [], usage: { calls: 0 } });
  expect(report).not.toHaveProperty('judgedBy');
  expect(await memory.conflicts()).toHaveLength(report.similarPairs.length);
  expect(await recalled(memory)).toEqual(['f0', 'f1', 'f2']);
});

describe('consolidations', () => {
  const runs = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((weekday, at) => ({
    id: `visit${at}`,
    content: `Went for a long run of ${at + 5} km along the river on ${weekday}`,
    type: 'event',
    importance: 0.2,
  }));

  async function consolidating(answer: (request: ScriptedRequest) => string | object) {
    const { model, requests } = scriptedModel(answer);
    const lived = await live({ languageModel: model });
    await lived.memory.rememberMany(runs);
    lived.pass(20);
    return { ...lived, requests };
  }

  test('are written by the model, which may lose no number', async () => {
    const content = 'Long runs along the river on Monday to Friday, of 5, 6, 7, 8 and 9 km';
    const { memory } = await consolidating(({ system }) =>
      system.includes('join similar') ? { content, title: 'Long runs' } : { verdicts: [] },
    );
    const { consolidated, judgedBy, usage } = await memory.maintain({ consolidate: true });
    expect(consolidated).toEqual([{ id: expect.any(String), from: runs.map(({ id }) => id), by: 'model' }]);
    expect(judgedBy).toBe('scripted');
    expect(usage.calls).toBeGreaterThan(0);
    expect(await memory.get(consolidated[0]!.id!)).toMatchObject({
      content,
      title: 'Long runs',
      source: 'consolidated',
    });
  });

  test.each<readonly [string, (memory: MemoryEngine) => Promise<unknown>]>([
    ['changed', (memory) => memory.update('visit2', { content: 'Stayed at home on Wednesday' })],
    ['superseded', (memory) => memory.remember('It was a walk', { id: 'walk', supersedes: 'visit2' })],
    ['forgotten', (memory) => memory.forget('visit2')],
  ])('are not written if an original is %s while the model writes', async (_, meanwhile) => {
    const content = 'Long runs along the river on Monday to Friday, of 5, 6, 7, 8 and 9 km';
    const scripted = scriptedModel(({ system }) =>
      system.includes('join similar') ? { content, title: 'Long runs' } : { verdicts: [] },
    );
    let isDone = false;
    const { memory, pass } = await live({
      languageModel: {
        ...scripted.model,
        async generate(request) {
          const answer = await scripted.model.generate(request);
          if (!isDone) await meanwhile(memory);
          isDone = true;
          return answer;
        },
      },
    });
    await memory.rememberMany(runs);
    pass(20);
    expect((await memory.maintain({ consolidate: true })).consolidated).toEqual([]);
    expect(isDone).toBe(true);
    const { memories } = await memory.list({ limit: 100 });
    expect(memories.filter(({ source }) => source === 'consolidated')).toEqual([]);
    expect(memories.filter(({ consolidatedAt }) => consolidatedAt !== undefined)).toEqual([]);
  });

  test('are not written if the text of the model is too large for a memory', async () => {
    const content = 'Long runs along the river on Monday to Friday, of 5, 6, 7, 8 and 9 km';
    const { model } = scriptedModel(({ system }) =>
      system.includes('join similar') ? { content, title: 'Long runs' } : { verdicts: [] },
    );
    const { memory, pass } = await live({ languageModel: model, maxContentBytes: content.length - 1 });
    await memory.rememberMany(runs);
    pass(20);
    const report = await memory.maintain({ consolidate: true, fade: false });
    expect(report).toMatchObject({ consolidated: [], usage: { calls: expect.any(Number) } });
    const before = (await memory.list()).memories;
    expect(before.map(({ id }) => id).toSorted()).toEqual(runs.map(({ id }) => id));
    await expect(memory.maintain({ consolidate: runs.map(({ id }) => id) })).rejects.toMatchObject({
      code: 'content_too_large',
    });
    expect((await memory.list()).memories).toEqual(before);
  });

  test('are plain where the model fails, and say so', async () => {
    const { memory, requests } = await consolidating(() => ({ content: 'Ran a lot', title: null }));
    const { consolidated, failures } = await memory.maintain({ consolidate: true });
    expect(consolidated).toMatchObject([{ by: 'rules' }]);
    expect(failures).toHaveLength(1);
    expect((await memory.get(consolidated[0]!.id!))?.content).toContain('9 km');
    const asked = requests.length;
    await memory.undo();
    const plain = await memory.maintain({ consolidate: true, useModel: false });
    expect(plain.consolidated).toMatchObject([{ by: 'rules' }]);
    expect(requests).toHaveLength(asked);
  });
});
