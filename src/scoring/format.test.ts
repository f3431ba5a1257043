import { marked } from 'marked';
import { describe, expect, test } from 'vitest';
import { formatExplanation } from './format.ts';
import type { Expression } from './operators/index.ts';
import { BUILTIN_PROFILE_NAMES } from './profiles/index.ts';
import { defineProfile, explain, type SignalInput } from './score.ts';

const now = '2026-04-20T00:00:00Z';

function drawn(score: Expression, signals: SignalInput = {}): string {
  const profile = defineProfile({ name: 'x', description: 'd', score: { op: 'clamp', of: score } });
  return formatExplanation(explain(profile, signals, { now }), 'text');
}

describe('as text', () => {
  test('a sum shows weight, contribution and share of every term', () => {
    const signals = { lexical: 0.4, updatedAt: '2026-03-21T00:00:00Z', revisionCount: 50 };
    expect(formatExplanation(explain('lexical', signals, { now }), 'text')).toBe(
      [
        '0.5150  sum',
        '├─ 0.4000  lexical  · weight 0.6, adds 0.2400 (47 %)',
        '├─ 0.5000  recency = decay, half-life 30 days  · weight 0.25, adds 0.1250 (24 %)',
        '│  └─ 30.0000  days since updatedAt (2026-03-21T00:00Z)',
        '└─ 1.0000  revision = share of the cap of 10, clipped to 1  · weight 0.15, adds 0.1500 (29 %)',
        '   └─ 50.0000  revisionCount',
      ].join('\n'),
    );
  });

  test('a product shows its factors, the scope that a table looked up, and what was defaulted', () => {
    const signals = { similarity: 0.9, scope: 'project:match', updatedAt: now };
    expect(formatExplanation(explain('scoped', signals, { now }), 'text')).toBe(
      [
        '0.9000  product',
        '├─ 0.9000  similarity  · factor',
        '├─ 1.0000  scopeWeight = [scope = project:match (other)] constant  · factor',
        '├─ 1.0000  weight (unknown, defaulted)  · factor',
        '└─ 1.0000  temporalDecay = decay, rate 0.005 a day  · factor',
        '   ├─ 0.0000  days since updatedAt (2026-04-20T00:00Z)',
        '   └─ 0.0050  parameter decayRate  · rate',
      ].join('\n'),
    );
    expect(formatExplanation(explain('scoped', { ...signals, scope: 'global' }, { now }), 'text')).toContain(
      '0.8000  scopeWeight = [scope = global] parameter globalWeight',
    );
  });

  test('lines of inner branches are carried past later ones', () => {
    const tree = explain('hybrid', { similarity: 0.5, lexical: 0.5, updatedAt: now }, { now });
    expect(tree.inputs).toHaveLength(5);
    const lines = formatExplanation(tree, 'text').split('\n');
    expect(lines.map((line) => line.replace(/\d.*/, '')).join('\n')).toBe(
      [
        '',
        '├─ ',
        '│  ├─ ',
        '│  └─ ',
        '│     └─ ',
        '│        ├─ ',
        '│        └─ ',
        '├─ ',
        '├─ ',
        '├─ ',
        '└─ ',
        '   ├─ ',
        '   ├─ ',
        '   │  └─ ',
        '   ├─ ',
        '   ├─ ',
        '   └─ ',
      ].join('\n'),
    );
  });

  test('choices say their condition and whether it held', () => {
    const choice: Expression = {
      op: 'when',
      if: { signal: 'lexical', above: 0.2, atMost: 0.5 },
      then: 0.75,
      else: { op: 'signal', name: 'confidence' },
    };
    expect(drawn(choice, { lexical: 0.5 })).toBe(
      '0.7500  [within 0 and 1] [lexical > 0.2 and ≤ 0.5] constant',
    );
    expect(drawn(choice, { lexical: 0.2 })).toContain(
      '[not: lexical > 0.2 and ≤ 0.5] confidence (unknown, defaulted)',
    );
  });

  test('bounds say when they clipped, and keep what they clipped on its own line', () => {
    const sum: Expression = {
      op: 'sum',
      terms: [
        { weight: 3, of: { op: 'signal', name: 'lexical' } },
        { weight: -1, of: 1 },
      ],
    };
    expect(drawn(sum, { lexical: 1 })).toMatch(/^1\.0000 {2}clipped to the highest, 1\n└─ 2\.0000 {2}sum/);
    expect(drawn(sum, { lexical: 0 })).toMatch(/^0\.0000 {2}clipped to the lowest, 0\n└─ -1\.0000 {2}sum/);
    expect(drawn(sum, { lexical: 0.5 })).toMatch(/^0\.5000 {2}\[within 0 and 1\] sum\n/);
    expect(
      drawn({ op: 'capped', of: { op: 'signal', name: 'accessCount' }, cap: 4 }, { accessCount: 2 }),
    ).toContain('share of the cap of 4\n└─ 2.0000  accessCount');
  });

  test('decays say their pace, an unknown age, a pace that is a formula, an age that is one', () => {
    const age: Expression = { op: 'age', of: 'createdAt' };
    expect(drawn({ op: 'decay', age, halfLife: 30, missing: 0.5 })).toBe(
      '0.5000  [within 0 and 1] decay, age unknown (defaulted)',
    );
    const scaled: Expression = {
      op: 'decay',
      curve: 'power',
      age: 2,
      exponent: 1.5,
      scale: { op: 'max', of: [1, 4] },
    };
    expect(drawn(scaled)).toBe(
      [
        '0.5443  [within 0 and 1] power decay, scale 4 days, exponent 1.5',
        '├─ 2.0000  constant  · age in days',
        '└─ 4.0000  largest  · scale',
        '   ├─ 1.0000  constant',
        '   └─ 4.0000  constant  · taken',
      ].join('\n'),
    );
  });

  test('shares of terms that cancel stay finite', () => {
    expect(
      drawn({
        op: 'sum',
        terms: [
          { weight: 1, of: 0.5 },
          { weight: -1, of: 0.5 },
        ],
      }),
    ).toContain('adds -0.5000 (50 %)');
    expect(drawn({ op: 'sum', terms: [{ weight: 1, of: 0 }] })).toContain('adds 0.0000 (0 %)');
  });

  const known: SignalInput = {
    similarity: 0.923456,
    lexical: 0.456789,
    contextLexical: 0.37,
    sessionLexical: 0.2,
    authorNamed: 1,
    dateMatch: 1,
    saidByUser: 1,
    importance: 0.654321,
    confidence: 0.98765,
    usefulness: 0.333333,
    conflict: 1,
    stability: 0.345678,
    accessCount: 123_456,
    revisionCount: 123_456,
    createdAt: '2024-12-31T23:59:59.999Z',
    updatedAt: '2025-12-31T23:59:59.999Z',
    lastAccessedAt: '2026-03-31T23:59:59.999Z',
  };
  const attributes: SignalInput = {
    type: `a-type-${'of-a-long-name'.repeat(9)}`,
    scope: `project:${'𝒜'.repeat(99)}`,
    tier: 'archived',
  };

  describe.each(BUILTIN_PROFILE_NAMES)('of %s', (name) => {
    test.each([
      ['everything known', { ...known, ...attributes }],
      [
        'only words and ages known',
        { lexical: 0.456789, createdAt: known.createdAt, updatedAt: known.updatedAt },
      ],
    ])('no line has more than 94 characters, and what adds up is there: %s', (_, signals) => {
      const tree = explain(name, signals, { now });
      const lines = formatExplanation(tree, 'text').split('\n');
      expect(lines.filter((line) => line.length > 94 || /\p{Cs}/u.test(line))).toEqual([]);
      const adds = (text: string) =>
        [...text.matchAll(/weight \S+, adds -?\d\.\d{4}/g)].map(([role]) => role);
      expect(adds(lines.join('\n'))).toEqual(adds(formatExplanation(tree, 'markdown')));
    });
  });

  test('of a line without room, long names are cut first, then the share, then words', () => {
    const line = (name: string) => {
      const part: Expression = { op: 'table', by: 'type', cases: {}, otherwise: 0.25 };
      const score: Expression = { op: 'mean', terms: [{ weight: 0.5, of: { op: 'ref', name } }] };
      const profile = defineProfile({ name: 'x', description: 'd', parts: { [name]: part }, score });
      const tree = explain(profile, { type: 'a-type-that-is-longer-than-others-are' }, { now });
      return formatExplanation(tree, 'text').split('\n')[1];
    };
    expect([1, 10, 40].map((length) => line('p'.repeat(length)))).toEqual([
      '└─ 0.2500  p = [type = a-type-that-is-… (other)] constant  · weight 0.5, adds 0.2500 (100 %)',
      '└─ 0.2500  pppppppppp = [type = a-type-that-is-… (other)] constant  · weight 0.5, adds 0.2500',
      '└─ 0.2500  ppppppppppppppp… = [type = a-type-that-is-… (other)] co…  · weight 0.5, adds 0.2500',
    ]);
  });

  test('text from outside can neither break the lines nor reach the terminal', () => {
    const scope = 'a\n└─ 1.0000  forged\u001b[31m\u202e';
    const text = formatExplanation(explain('scoped', { scope, updatedAt: now }, { now }), 'text');
    expect(text.split('\n')).toHaveLength(7);
    expect(text).toContain('[scope = a\\u{a}└─ 1.0000  forged\\u{1b}[3… (other)] constant');
  });
});

describe('as Markdown', () => {
  test('is a nested list', () => {
    const tree = explain('lexical', { lexical: 0.5, updatedAt: now, revisionCount: 5 }, { now });
    expect(formatExplanation(tree, 'markdown')).toBe(
      [
        '- **0.6250** sum',
        '  - **0.5000** `lexical` · weight 0.6, adds 0.3000 (48 %)',
        '  - **1.0000** `recency` = decay, half-life 30 days · weight 0.25, adds 0.2500 (40 %)',
        '    - **0.0000** days since `updatedAt` (2026-04-20T00:00Z)',
        '  - **0.5000** `revision` = share of the cap of 10 · weight 0.15, adds 0.0750 (12 %)',
        '    - **5.0000** `revisionCount`',
      ].join('\n'),
    );
  });

  test.each([
    '<img src=x onerror=alert(1)>',
    '[click](https://evil.example)',
    'https://evil.example www.evil.example a@evil.example',
    '`code` ``more`` `',
    '```\n<script>x</script>',
    '**bold** _em_ ~~gone~~ | a | b |',
    '\n\n# heading\n\n- item\n\n<b>',
    '&lt;b&gt; &copy; \\` \\',
    '`',
    ' ',
    '',
  ])('an attribute value of %j stays a text', (scope) => {
    const tree = explain('scoped', { scope, updatedAt: now }, { now });
    const html = marked.parse(formatExplanation(tree, 'markdown'), { async: false });
    const tags = [...html.matchAll(/<\/?([a-z0-9]+)/g)].map(([, tag]) => tag);
    expect([...new Set(tags)].sort()).toEqual(['code', 'li', 'strong', 'ul']);
    expect(tags.filter((tag) => tag === 'li')).toHaveLength(14);
    const shown = scope
      .replaceAll('\n', '\\u{a}')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;');
    if (scope.trim() !== '') expect(html).toContain(`<code>${shown}</code>`);
  });
});
