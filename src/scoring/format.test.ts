import { marked } from 'marked';
import { describe, expect, test } from 'vitest';
import { formatExplanation } from './format.ts';
import type { Expression } from './operators/index.ts';
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
        '├─ 0.4000  lexical  · weight 0.6, adds 0.2400 (46.6 %)',
        '├─ 0.5000  recency = decay, half-life 30 days, age 30.00 days since updatedAt (2026-03-21T00:00:00.000Z)  · weight 0.25, adds 0.1250 (24.3 %)',
        '└─ 1.0000  revision = clipped to the cap of 10, as a share of it  · weight 0.15, adds 0.1500 (29.1 %)',
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
        '├─ 1.0000  scopeWeight = [scope = project:match (otherwise)] constant  · factor',
        '├─ 1.0000  weight (unknown, defaulted)  · factor',
        '└─ 1.0000  temporalDecay = decay, rate 0.005 a day (decayRate), age 0.00 days since updatedAt (2026-04-20T00:00:00.000Z)  · factor',
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
      '0.7500  [within 0 and 1] [if lexical > 0.2 and ≤ 0.5: yes] constant',
    );
    expect(drawn(choice, { lexical: 0.2 })).toContain(
      '[if lexical > 0.2 and ≤ 0.5: no] confidence (unknown, defaulted)',
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
        '0.5443  [within 0 and 1] power decay, scale 4 days, exponent 1.5, age 2.00 days',
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
    ).toContain('adds -0.5000 (50.0 %)');
    expect(drawn({ op: 'sum', terms: [{ weight: 1, of: 0 }] })).toContain('adds 0.0000 (0.0 %)');
  });

  test('text from outside can neither break the lines nor reach the terminal', () => {
    const scope = 'a\n└─ 1.0000  forged\u001b[31m\u202e';
    const text = formatExplanation(explain('scoped', { scope, updatedAt: now }, { now }), 'text');
    expect(text.split('\n')).toHaveLength(5);
    expect(text).toContain('[scope = a\\u{a}└─ 1.0000  forged\\u{1b}[31m\\u{202e} (otherwise)]');
  });
});

describe('as Markdown', () => {
  test('is a nested list', () => {
    const tree = explain('lexical', { lexical: 0.5, updatedAt: now, revisionCount: 5 }, { now });
    expect(formatExplanation(tree, 'markdown')).toBe(
      [
        '- **0.6250** sum',
        '  - **0.5000** `lexical` · weight 0.6, adds 0.3000 (48.0 %)',
        '  - **1.0000** `recency` = decay, half-life 30 days, age 0.00 days since `updatedAt` (2026-04-20T00:00:00.000Z) · weight 0.25, adds 0.2500 (40.0 %)',
        '  - **0.5000** `revision` = share of the cap of 10 · weight 0.15, adds 0.0750 (12.0 %)',
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
    expect(tags.filter((tag) => tag === 'li')).toHaveLength(10);
    const shown = scope
      .replaceAll('\n', '\\u{a}')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;');
    if (scope.trim() !== '') expect(html).toContain(`<code>${shown}</code>`);
  });
});
