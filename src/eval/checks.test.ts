import { expect, test } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import * as api from './index.ts';

const functions: Readonly<Record<string, unknown>> = { ...api };
const query = { id: 'q', query: 'tea', now: 0, type: 'fact', relevant: ['a'], stale: [] };
const memory = { id: 'a', content: 'tea', createdAt: 0, session: undefined, type: undefined, metadata: {} };
const dataset = (space: unknown) => ({ name: 'mine', spaces: new Map([['s', space]]) });
const good = dataset({ memories: [memory], queries: [query] });
const engine = { open: () => Promise.reject(new Error('no space was to be opened')) };
const asked = { datasets: [good], strategies: ['bm25'], embedder: 'none' };
const tuned = { datasets: [good], profile: { name: 'x' } };
const used = { recalls: [], uses: [], memories: new Set() };
const summary = { dataset: 'd', strategy: 's', embedder: 'none', ks: [1] };
const outcome = { type: 'fact', ranking: ['a'], relevant: ['a'], milliseconds: 1 };
const [ranking, relevant] = [['a', 'b'], new Set(['b'])];

const refused: readonly [call: string, args: readonly unknown[], field: string][] = [
  ['evaluate', [], 'evaluate'],
  ['evaluate', [{ ...asked, dataset: good }, engine], 'evaluate.dataset'],
  ['evaluate', [{ ...asked, datasets: good }, engine], 'datasets'],
  ['evaluate', [{ ...asked, datasets: ['questions.jsonl'] }, engine], 'datasets[0]'],
  ['evaluate', [{ ...asked, datasets: [good, { name: 'x', spaces: {} }] }, engine], 'datasets[1]'],
  ['evaluate', [{ ...asked, datasets: [dataset(null)] }, engine], 'datasets[0].spaces["s"].memories'],
  [
    'evaluate',
    [{ ...asked, datasets: [dataset({ memories: [memory] })] }, engine],
    'datasets[0].spaces["s"].queries',
  ],
  ...(
    [
      ['memories', { ...memory, createdAt: '2026-01-01' }, 'createdAt'],
      ['memories', { ...memory, content: undefined }, 'content'],
      ['memories', null, 'id'],
      ['queries', { ...query, now: new Date(0) }, 'now'],
      ['queries', { ...query, relevant: 'a' }, 'relevant'],
      ['queries', { ...query, stale: undefined }, 'stale'],
      ['queries', { ...query, relevant: ['b'] }, 'relevant'],
      ['queries', { ...query, stale: ['b'] }, 'stale'],
      ['queries', { ...query, mustNot: ['a', 'b'] }, 'mustNot'],
      ['queries', { ...query, mustNot: 'a' }, 'mustNot'],
      ['queries', { ...query, weight: 0 }, 'weight'],
      ['queries', { ...query, weight: Number.NaN }, 'weight'],
    ] as const
  ).map(([list, item, name]): [string, unknown[], string] => [
    'evaluate',
    [{ ...asked, datasets: [dataset({ memories: [memory], queries: [query], [list]: [item] })] }, engine],
    `datasets[0].spaces["s"].${list}[0].${name}`,
  ]),
  ['evaluate', [{ ...asked, strategies: 'bm25' }, engine], 'strategies'],
  ['evaluate', [{ ...asked, ks: 5 }, engine], 'ks'],
  ['evaluate', [{ ...asked, embedder: undefined }, engine], 'embedder'],
  ['evaluate', [{ ...asked, excludeTypes: 'adversarial' }, engine], 'excludeTypes'],
  ['evaluate', [{ ...asked, contextTokens: Number.NaN }, engine], 'contextTokens'],
  ['evaluate', [asked], 'engine'],
  ['tune', [], 'tune'],
  ['tune', [{ ...tuned, objectives: 1 }, engine], 'tune.objectives'],
  ['tune', [{ ...tuned, datasets: [{}] }, engine], 'datasets[0]'],
  ['tune', [tuned, {}], 'engine'],
  ['createEvaluationEngine', [{ embeder: 'none' }], 'createEvaluationEngine.embeder'],
  ['compareRuns', [undefined], 'runs'],
  ['compareRuns', [[{ result: {} }]], 'runs[0]'],
  ['compareRuns', [[], { round: 5 }], 'compareRuns.round'],
  ['summarise', [undefined, summary], 'outcomes'],
  ['summarise', [[null], summary], 'outcomes[0].ranking'],
  ['summarise', [[{ ...outcome, relevant: 'a' }], summary], 'outcomes[0].relevant'],
  ['summarise', [[outcome], { ...summary, k: 5 }], 'summarise.k'],
  ['summarise', [[outcome], { ...summary, ks: 5 }], 'ks'],
  ['summarise', [[outcome], { ...summary, excludeTypes: 'fact' }], 'excludeTypes'],
  ['htmlReport', [{ runs: [], differences: [] }], 'datasets'],
  ['htmlReport', [{ runs: [], datasets: [] }], 'differences'],
  ['htmlReport', [{ runs: [1], differences: [], datasets: [] }], 'runs[0]'],
  ['htmlReport', [{ runs: [], differences: [], datasets: [], title: 'x' }], 'htmlReport.title'],
  ['formatReport', [undefined], 'results'],
  ['formatReport', [[], { baseline: 'x' }], 'formatReport.baseline'],
  ['questionsFromUse', [{ ...used, hours: 1 }], 'questionsFromUse.hours'],
  ['questionsFromUse', [{ ...used, memories: ['a'] }], 'memories'],
  ['questionsFromUse', [{ ...used, recalls: undefined }], 'recalls'],
  ['questionsFromUse', [{ ...used, recalls: [{ at: '2026-01-01' }] }], 'recalls[0].hits'],
  ['questionsFromUse', [{ ...used, uses: {} }], 'uses'],
  ['questionsFromUse', [{ ...used, uses: [{ at: '2026-01-01', ids: 'a' }] }], 'uses[0].ids'],
  ['tunedProfile', [{}, { versions: 1 }], 'tunedProfile.versions'],
  ['pairedRandomisationTest', [undefined, []], 'first'],
  ['pairedRandomisationTest', [[], 'x'], 'second'],
  ['pairedRandomisationTest', [[], [], { round: 1 }], 'pairedRandomisationTest.round'],
  ['bootstrapIntervals', [5], 'columns'],
  ['bootstrapIntervals', [[[1]], { group: [] }], 'bootstrapIntervals.group'],
  ...['recallAtK', 'hitAtK', 'allAtK', 'ndcgAtK', 'reciprocalRank'].flatMap((name) => [
    [name, ['a', relevant, 1], 'ranking'] as [string, unknown[], string],
    [name, [ranking, ['b'], 1], 'relevant'] as [string, unknown[], string],
    [name, [ranking, relevant, 0], 'k'] as [string, unknown[], string],
    [name, [ranking, relevant, 1.5], 'k'] as [string, unknown[], string],
  ]),
  ['updatedAboveStale', [ranking, relevant, ['a']], 'stale'],
  ['forbiddenAboveEvidence', [ranking, relevant, undefined], 'forbidden'],
  ['measure', [ranking, relevant, 5], 'ks'],
  ['measure', [ranking, relevant, [0]], 'k'],
  ['aggregate', [undefined], 'measured'],
];

test.each(refused)('%s(%j) is refused, and says why: %s', async (name, args, field) => {
  const call = functions[name] as (...args: readonly unknown[]) => unknown;
  const error = await (async () => call(...args))().then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(SalienceError);
  expect(error).toMatchObject({ code: 'invalid_argument', details: { field } });
});

test('rows are checked when the first is asked for, and files against datasets only', async () => {
  expect(() => api.rowsOf([], { datasets: [], ks: [1] } as never).next()).toThrow(/unknown option "ks"/);
  expect(() => api.rowsOf(undefined as never, { datasets: [] }).next()).toThrow(/^runs: /);
  expect(() => api.rowsOf([], { datasets: [5] } as never).next()).toThrow(/^datasets\[0\]: /);
  await expect(api.verifyRows('rows.jsonl', [{}] as never)).rejects.toThrow(/^datasets\[0\]: /);
});
