import { expect } from 'vitest';
import type { SearchRequest, SpaceStore } from '../../store/store.ts';
import { type ContractTest, insert, inspectIn, onSpace, searchIn, start, write } from './harness.ts';
import { idsOf, profileOf, request } from './queries.ts';

/** Returns the reason why each memory of a space is not eligible. */
async function reasonsOf(
  space: SpaceStore,
  query: SearchRequest,
): Promise<Readonly<Record<string, string | undefined>>> {
  const { memories } = await space.list({ filter: {}, limit: 50 });
  const ids = memories.map(({ id }) => id);
  const found = await inspectIn(space, ids, query);
  return Object.fromEntries(ids.map((id, at) => [id, found[at]?.excluded]));
}

export const eligibilityTests: readonly ContractTest[] = [
  onSpace('eligibility: each condition, its edges, and its reason', async (space) => {
    const scope = 'project:a';
    await write(space, [
      insert({ id: 'plain', scope, tags: ['x'] }),
      insert({ id: 'scope', scope: 'project:b', tags: ['x'] }),
      insert({ id: 'elsewhere', scope: 'global', tags: ['x'] }),
      insert({ id: 'type', scope, type: 'rule', tags: ['x'] }),
      insert({ id: 'tag', scope }),
      insert({ id: 'metadata', scope, tags: ['x'], metadata: { draft: null } }),
      insert({ id: 'cold', scope, tags: ['x'], tier: 'cold' }),
      insert({ id: 'stub', scope, tags: ['x'], tier: 'stub' }),
      insert({ id: 'invalidated', scope, tags: ['x'], invalidatedAt: start }),
      insert({ id: 'to-be-invalidated', scope, tags: ['x'], invalidatedAt: start + 1 }),
      insert({ id: 'expired', scope, tags: ['x'], expiresAt: start }),
      insert({ id: 'expired-core', scope, tags: ['x'], expiresAt: start, core: true }),
      insert({ id: 'to-expire', scope, tags: ['x'], expiresAt: start + 1 }),
      insert({ id: 'valid-from', scope, tags: ['x'], validFrom: start }),
      insert({ id: 'not-yet', scope, tags: ['x'], validFrom: start + 1 }),
      insert({ id: 'valid-until', scope, tags: ['x'], validUntil: start }),
      insert({ id: 'no-longer', scope, tags: ['x'], validUntil: start - 1 }),
    ]);
    const query = request(
      { terms: ['content'] },
      {
        filter: {
          scopes: ['global', scope],
          inScope: scope,
          types: ['fact'],
          tags: ['x'],
          metadata: [{ key: 'draft', test: { exists: false } }],
        },
        limit: 50,
        profile: profileOf('ambient'),
      },
    );
    const answer = await searchIn(space, query);
    const eligible = ['plain', 'to-be-invalidated', 'expired-core', 'to-expire', 'valid-from', 'valid-until'];
    expect(idsOf(answer).toSorted()).toEqual(eligible.toSorted());
    expect(answer).toMatchObject({ total: 17, filtered: 10, eligible: 6 });
    expect(await reasonsOf(space, query)).toEqual({
      ...Object.fromEntries(eligible.map((id) => [id, undefined])),
      scope: 'scope',
      elsewhere: 'elsewhere',
      type: 'type',
      tag: 'tag',
      metadata: 'metadata',
      cold: 'tier',
      stub: 'tier',
      invalidated: 'invalidated',
      expired: 'expired',
      'not-yet': 'not-yet-valid',
      'no-longer': 'no-longer-valid',
    });
  }),
  onSpace(
    'deep adds cold and consolidated memories, cold only cold ones, includeExpired what has ended by nature; stubs never come',
    async (space) => {
      const ended = { validUntil: start - 1 };
      await write(space, [
        insert({ id: 'hot' }),
        insert({ id: 'cold', tier: 'cold' }),
        insert({ id: 'stub', tier: 'stub' }),
        insert({ id: 'plan', type: 'plan', ...ended }),
        insert({ id: 'cold-state', type: 'transient_state', tier: 'cold', ...ended }),
        insert({ id: 'fact', ...ended }),
        insert({ id: 'expired-plan', type: 'plan', expiresAt: start }),
        insert({ id: 'invalid-plan', type: 'plan', invalidatedAt: start, ...ended }),
        insert({ id: 'future-plan', type: 'plan', validFrom: start + 1, ...ended }),
        insert({ id: 'consolidated', tier: 'cold', consolidatedAt: start }),
        insert({ id: 'consolidated-stub', tier: 'stub', consolidatedAt: start }),
        insert({ id: 'consolidated-warm', consolidatedAt: start }),
        insert({ id: 'to-be-consolidated', consolidatedAt: start + 1 }),
      ]);
      const excluded = {
        hot: undefined,
        cold: 'tier',
        stub: 'tier',
        plan: 'no-longer-valid',
        'cold-state': 'tier',
        fact: 'no-longer-valid',
        'expired-plan': 'expired',
        'invalid-plan': 'invalidated',
        'future-plan': 'not-yet-valid',
        consolidated: 'consolidated',
        'consolidated-stub': 'tier',
        'consolidated-warm': 'consolidated',
        'to-be-consolidated': undefined,
      };
      const consolidatedToo = { consolidated: undefined, 'consolidated-warm': undefined };
      for (const [filter, filtered, changed] of [
        [{}, 8, {}],
        [{ cold: true }, 11, { cold: undefined, 'cold-state': 'no-longer-valid' }],
        [{ deep: true }, 11, { ...consolidatedToo, cold: undefined, 'cold-state': 'no-longer-valid' }],
        [{ includeExpired: true }, 8, { plan: undefined }],
        [
          { deep: true, includeExpired: true },
          11,
          { ...consolidatedToo, cold: undefined, plan: undefined, 'cold-state': undefined },
        ],
      ] as const) {
        const query = request({ terms: ['content'] }, { filter, limit: 50 });
        const expected = { ...excluded, ...changed };
        expect(await reasonsOf(space, query)).toEqual(expected);
        const eligible = Object.entries(expected).flatMap(([id, reason]) => (reason ? [] : [id]));
        const answer = await searchIn(space, query);
        expect(idsOf(answer).toSorted()).toEqual(eligible.toSorted());
        expect(answer).toMatchObject({ filtered, eligible: eligible.length });
      }
    },
  ),
];
