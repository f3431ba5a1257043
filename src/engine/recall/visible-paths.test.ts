import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MemoryRecord } from '../../domain/memory.ts';
import { day, live } from '../../testing/live-memory.ts';

/** What may become of a memory, and whether paths may pass it then. */
const fates = {
  ordinary: true,
  cold: true,
  filtered: true,
  invalidated: false,
  expired: false,
  ended: false,
  'not yet valid': false,
  superseded: false,
  stub: false,
} as const;
type Fate = keyof typeof fates;
const names = Object.keys(fates) as Fate[];

const now = Date.UTC(2026, 0, 1);
const changeOf: Readonly<Record<Fate, Partial<MemoryRecord>>> = {
  ordinary: {},
  cold: { tier: 'cold', coldSince: now },
  filtered: { type: 'other' },
  invalidated: { invalidatedAt: now, invalidReason: 'not so' },
  expired: { expiresAt: now },
  ended: { validUntil: now - day },
  'not yet valid': { validFrom: now + day },
  superseded: {},
  stub: { tier: 'stub', content: '[archived] nothing' },
};

async function graph(fateOf: readonly Fate[], edges: readonly (readonly [number, number, number])[]) {
  const { memory, space } = await live({ embedder: 'none' });
  await memory.rememberMany([
    { id: 'start', content: 'The coffee machine is broken' },
    { id: 'end', content: 'The coffee budget was cut' },
    ...fateOf.map((fate, at) => ({ id: `m${at}`, content: `Nothing of note ${'x'.repeat(at + 1)} ${fate}` })),
    { id: 'newer', content: 'Another statement' },
  ]);
  const ids = ['start', 'end', ...fateOf.map((_, at) => `m${at}`)];
  for (const [a, b, weight] of edges) await memory.link(ids[a]!, ids[b]!, { weight });
  const records = await space.get(ids.slice(2));
  const [newer] = await space.get(['newer']);
  const superseded = ids.slice(2).filter((_, at) => fateOf[at] === 'superseded');
  await space.write({ verb: 'maintain', at: now }, async () => ({
    changes: [
      { kind: 'replace', memory: { ...newer!, supersedes: superseded } },
      ...records.map((record, at) => ({
        kind: 'replace' as const,
        memory: { ...record!, ...changeOf[fateOf[at]!] },
        ...(fateOf[at] === 'stub' ? { indexed: { terms: new Map(), vector: undefined } } : {}),
      })),
    ],
    result: undefined,
  }));
  return memory;
}

test.each(names)('a memory that is %s: whether it joins two others', async (fate) => {
  const memory = await graph(
    [fate],
    [
      [0, 2, 0.9],
      [2, 1, 0.9],
    ],
  );
  const { hits, evidenceChains } = await memory.recall('coffee', {
    typesExclude: ['other'],
    association: { minimum: 0.01 },
  });
  const inAnswer = hits.some((hit) => hit.memory.id === 'm0');
  expect(evidenceChains.map(({ ids }) => ids[1])).toEqual(fates[fate] ? ['m0'] : []);
  expect(inAnswer).toBe(fate === 'ordinary' || fate === 'cold');
});

test('random graphs: nothing passes what is not visible, and a filter narrows only what is returned', async () => {
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...names), { minLength: 3, maxLength: 7 }),
      fc.array(
        fc.tuple(fc.nat(8), fc.nat(8), fc.constantFrom(0.3, 0.55, 0.6, 0.8, 1)).filter(([a, b]) => a !== b),
        { minLength: 3, maxLength: 14 },
      ),
      async (fateOf, drawn) => {
        const size = fateOf.length + 2;
        const unique = new Map(
          drawn
            .map(
              ([a, b, weight]) =>
                [Math.min(a % size, b % size), Math.max(a % size, b % size), weight] as const,
            )
            .filter(([a, b]) => a !== b)
            .map((edge) => [`${edge[0]}-${edge[1]}`, edge]),
        );
        const edges = [...unique.values()];
        const memory = await graph(fateOf, edges);
        const { hits, evidenceChains } = await memory.recall('coffee', {
          limit: 50,
          typesExclude: ['other'],
          association: { minimum: 0.001 },
        });
        const isOpen = (at: number) => at < 2 || fates[fateOf[at - 2]!];
        const reachable = new Map<number, number>();
        for (const start of [0, 1]) {
          const walk = (path: readonly number[], weight: number) => {
            if (path.length > 1 && weight >= 0.3)
              reachable.set(path.at(-1)!, Math.max(weight, reachable.get(path.at(-1)!) ?? 0));
            if (path.length > 2) return;
            for (const [a, b, each] of edges) {
              const at = path.at(-1)!;
              const other = a === at ? b : b === at ? a : undefined;
              if (other !== undefined && isOpen(other) && !path.includes(other))
                walk([...path, other], weight * each);
            }
          };
          walk([start], 1);
        }
        const inner = new Set(evidenceChains.flatMap(({ ids }) => ids.slice(1, -1)));
        const open = new Set([
          'start',
          'end',
          ...fateOf.flatMap((_, at) => (isOpen(at + 2) ? [`m${at}`] : [])),
        ]);
        for (const id of inner) expect(open.has(id)).toBe(true);
        for (const hit of hits) {
          for (const id of hit.path ?? []) expect(open.has(id)).toBe(true);
          if (hit.isAssociative) passed++;
        }
        const expected = [...reachable.keys()]
          .filter((at) => at >= 2 && ['ordinary', 'cold'].includes(fateOf[at - 2]!))
          .map((at) => `m${at - 2}`);
        const returned = hits.filter((hit) => hit.isAssociative).map((hit) => hit.memory.id);
        expect(returned.filter((id) => !inner.has(id)).sort()).toEqual(
          expected.filter((id) => !inner.has(id)).sort(),
        );
      },
    ),
    { numRuns: 150, seed: 1 },
  );
  expect(passed).toBeGreaterThan(10);
});

test('a score of 0 is no hit, whatever the minimum, and nothing is learnt from it', async () => {
  const { memory } = await live({
    embedder: 'none',
    profiles: [
      {
        name: 'learning',
        extends: 'retention',
        description: 'Learns by words.',
        score: { op: 'signal', name: 'lexical' },
      },
    ],
  });
  await memory.rememberMany([
    { id: 'hit', content: 'The coffee machine is broken' },
    { id: 'other', content: 'Sheep graze on the northern hill' },
  ]);
  await memory.link('hit', 'other', { weight: 1 });
  const { hits } = await memory.recall('coffee', {
    strategy: 'learning',
    association: { mode: 'direct', minimum: 0 },
  });
  expect(hits.map((hit) => hit.memory.id)).toEqual(['hit']);
  expect((await memory.get('hit'))?.accessCount).toBe(1);
  expect((await memory.get('other'))?.accessCount).toBe(0);
});
