import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MemoryRecord } from '../domain/memory.ts';
import { valueAt } from '../scoring/compile.ts';
import { evaluate } from '../scoring/evaluate.ts';
import { resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import { snapshotOfState } from '../store/state-rows.ts';
import { coreOfState, keepSpace } from '../store/state-space.ts';
import type { MemoryFilter } from '../store/store.ts';
import { scaledRuns } from '../testing/runs.ts';
import { insert, replace, start, use, write } from '../testing/store-contract/harness.ts';
import { columnsOf, readsBelief, signalsForQuery } from './belief-columns.ts';
import { NOTHING_FOUND } from './query-columns.ts';
import { createResidence, withSearch } from './residence.ts';
import type { ResidentIndex } from './resident-index.ts';
import { neighboursOf, sessionOf } from './turns.ts';
import { type View, viewOf } from './view.ts';

const hour = 3_600_000;

/** A moment near those at which the tests look, or none. */
const clock = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.integer({ min: -2, max: 5 }).map((at) => start + at * hour) },
);

const fields = fc.record({
  id: fc.integer({ min: 0, max: 8 }).map((at) => `m${at}`),
  bornIn: fc.constantFrom(undefined, 's1', 's2'),
  createdAt: fc.integer({ min: 0, max: 5 }).map((at) => start - at * hour),
  updatedAt: fc.integer({ min: 0, max: 5 }).map((at) => start - at * hour),
  textChangedAt: clock,
  content: fc.constantFrom('tea', 'tea and milk?', 'milk '.repeat(40)),
  type: fc.constantFrom('fact', 'summary'),
  source: fc.constantFrom('stated' as const, 'consolidated' as const),
  tier: fc.constantFrom<MemoryRecord['tier']>('hot', 'hot', 'hot', 'cold', 'stub'),
  scope: fc.constantFrom('global', 'project:a'),
  author: fc.constantFrom(undefined, 'Ann', 'Bob'),
  role: fc.constantFrom(undefined, 'user'),
  importance: fc.constantFrom(0.1, 0.9),
  supersedes: fc.constantFrom<readonly string[]>([], ['m0'], ['m1', 'm2']),
  validFrom: clock,
  validUntil: clock,
  expiresAt: clock,
  invalidatedAt: clock,
});

const step = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), fields }),
  fc.record({ kind: fc.constant('put' as const), fields }),
  fc.record({
    kind: fc.constantFrom('keepText' as const, 'use' as const, 'remove' as const),
    fields,
  }),
  fc.record({
    kind: fc.constant('look' as const),
    later: fc.constantFrom(0, 1, hour / 2, hour, 3 * hour, -hour),
  }),
);

const filters: readonly MemoryFilter[] = [
  {},
  { scopes: ['global'] },
  { deep: true },
  { includeExpired: true, scopes: ['global', 'project:a'] },
];

const fading = {
  op: 'decay',
  age: { op: 'age', of: 'updatedAt' },
  halfLife: 30,
  missing: 0,
} as const;
/** The first one is kept for all views, the second one for those with the same beliefs. */
const formulas = [
  { op: 'product', of: [fading, { op: 'signal', name: 'stability' }] },
  { op: 'product', of: [fading, { op: 'table', by: 'superseded', cases: { true: 0.1 }, otherwise: 1 }] },
].map(
  (score) => resolveProfile(defineProfile({ name: 'fading', description: 'Fades.', score } as never)).root,
);

/** Everything that a view says, by keys: rows are numbered by the way an index grew. */
function contentOf(index: ResidentIndex, view: View, now: number) {
  const { rows, filtered, turns, belief, authors, hasRoles } = view;
  const isKept = formulas.map((formula) => {
    const { low, high, workOut } = view.kept(now)(formula, columnsOf(index.columns, belief));
    return (row: number) => {
      workOut?.(Int32Array.of(row), 1);
      const value = evaluate(formula, signalsForQuery(index, belief, row, NOTHING_FOUND), now);
      // Not so wide that they would hold whatever is believed.
      return low[row]! <= value && value <= high[row]! && high[row]! - low[row]! < 0.05;
    };
  });
  const living = [...index.rowOfKey].sort(([a], [b]) => a - b);
  return {
    visible: [...rows].map((row) => index.keys[row]).sort(),
    isAscending: rows.every((row, at) => at === 0 || (rows[at - 1] as number) < row),
    filtered,
    authors: [...authors].sort(),
    hasRoles,
    sessions: [turns.count, turns.totalLength],
    memories: living.map(([key, row]) => {
      const session = sessionOf(index, turns, row);
      return {
        key,
        superseded: belief.superseded[row],
        conflict: valueAt(belief.conflict, row),
        session: session === 0 ? undefined : index.sessions.dictionary.texts[session - 1],
        size: turns.sizes[session],
        sessionLength: turns.sessionLengths[session],
        isSeen: turns.states[row] !== 0,
        neighbours: neighboursOf(index, turns, row).map((each) => ({ ...each, row: index.keys[each.row] })),
        // Intervals may be wider than those made anew: they must hold what is true now.
        isKept: isKept.map((holds) => holds(row)),
      };
    }),
  };
}

test('a formula that reads a belief signal in any part is recognised', () => {
  const { root, parts } = resolveProfile(builtinProfile('hybrid'));
  expect(readsBelief(root)).toBe(true);
  expect(readsBelief(parts['recency']!)).toBe(false);
  expect(formulas.map(readsBelief)).toEqual([false, true]);
});

test('many views are kept, and their shared bounds follow a change once for all', async () => {
  const kept = keepSpace('alice');
  const space = withSearch(coreOfState(kept));
  const residence = createResidence('alice');
  const look = async (scope: string) => {
    const { index, relations } = await residence.refresh(snapshotOfState(kept.state, kept.numbers));
    const view = viewOf(index, relations, { scopes: ['global', scope] }, start);
    return { view, column: view.kept(start)(formulas[0]!, columnsOf(index.columns, view.belief)) };
  };
  await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
  const [first] = [await look('project:0'), await look('project:1')];
  for (let at = 2; at < 64; at++) expect((await look(`project:${at}`)).column).toBe(first.column);
  expect((await look('project:0')).view).toBe(first.view);
  // It came first again, and the other one is the last.
  await look('project:64');
  expect((await look('project:0')).view).toBe(first.view);
  await use(space, ['a'], () => ({ accessCount: 3, stability: 0.3 }));
  const changed = await look('project:2');
  expect(changed.column).not.toBe(first.column);
  expect((await look('project:3')).column).toBe(changed.column);
  expect((await look('project:2')).column).toBe(changed.column);
});

test('a view that followed its index equals a new one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const kept = keepSpace('alice');
      const space = withSearch(coreOfState(kept));
      const following = createResidence('alice');
      const rows = () => snapshotOfState(kept.state, kept.numbers);
      let now = start;
      for (const each of [...steps, { kind: 'look' as const, later: 0 }]) {
        if (each.kind === 'look') {
          now += each.later;
          const followed = await following.refresh(rows());
          const anew = await createResidence('alice').refresh(rows());
          for (const filter of filters) {
            const content = contentOf(
              followed.index,
              viewOf(followed.index, followed.relations, filter, now),
              now,
            );
            expect(content.memories.flatMap((memory) => memory.isKept)).not.toContain(false);
            expect(content).toEqual(
              contentOf(anew.index, viewOf(anew.index, anew.relations, filter, now), now),
            );
          }
          continue;
        }
        const { id, supersedes } = each.fields;
        const [known] = await space.get([id]);
        const given = Object.fromEntries(
          Object.entries({ ...each.fields, supersedes: supersedes.filter((older) => older < id) }).filter(
            ([, value]) => value !== undefined,
          ),
        ) as unknown as Partial<MemoryRecord> & { readonly id: string };
        if (each.kind === 'put') {
          // A memory stays in the session that it was born in.
          const { bornIn } = known ?? given;
          await write(space, [
            known
              ? replace({ ...given, ordinal: known.ordinal, ...(bornIn === undefined ? {} : { bornIn }) })
              : insert(given),
          ]);
        } else if (known && each.kind === 'keepText') {
          const { content, title, bornIn, ...rest } = given;
          await write(space, [{ kind: 'replace', memory: { ...known, ...rest } }], { verb: 'maintain' });
        } else if (known && each.kind === 'use') {
          const { tier = 'hot' } = given;
          await use(space, [id], () => ({ accessCount: 3, stability: 0.3, tier }));
        } else if (known) {
          await write(space, [{ kind: 'redact', id }], { verb: 'forget' });
        }
      }
    }),
    { numRuns: scaledRuns(300) },
  );
});
