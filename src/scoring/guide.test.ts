import { readFileSync } from 'node:fs';
import { marked } from 'marked';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import type { Condition } from './condition.ts';
import * as scoring from './index.ts';
import { type Expression, OPERATOR_NAMES } from './operators/index.ts';
import { type ParameterOverrides, type Profile, resolveProfile } from './profile.ts';
import { findBuiltinProfile } from './profiles/index.ts';
import { SIGNAL_NAMES, SIGNALS } from './signals.ts';

const guide = readFileSync(new URL('../../docs/guides/profiles.md', import.meta.url), 'utf8');
const blocks = marked
  .lexer(guide)
  .flatMap((token) =>
    token.type === 'code' ? [{ kind: token.lang ?? '', text: token.text as string }] : [],
  );
const ofKind = (kind: string) => blocks.filter((block) => block.kind === kind).map(({ text }) => text);
const oneLine = (texts: readonly string[]) => texts.map((text) => text.replace(/\s+/g, ' '));

const defined = new Map<string, Profile>();
for (const text of ofKind('json profile')) {
  const profile = scoring.defineProfile(
    JSON.parse(text),
    (name) => defined.get(name) ?? findBuiltinProfile(name),
  );
  defined.set(profile.name, profile);
}
const tunable = defined.get('tunable-notes') as Profile;

/** A profile with the parts and parameters that the fragments of the guide may refer to. */
const surroundings: Omit<scoring.ProfileDefinition, 'name' | 'description' | 'score'> = {
  parameters: {
    alpha: { kind: 'number', default: 0.3, min: 0, max: 1 },
    strict: { kind: 'flag', default: false },
  },
  parts: { recency: { op: 'decay', age: { op: 'age', of: 'updatedAt' }, halfLife: 30 } },
};
const at = { createdAt: 0, updatedAt: 0, lastAccessedAt: 0, similarity: 0.4, lexical: 0.8, accessCount: 5 };

test('every block of the guide is of a tested kind', () => {
  const kinds = ['json profile', 'json expression', 'json condition', 'json parameters', 'ts', 'text'];
  for (const { kind, text } of blocks) expect(kinds, text).toContain(kind);
  expect(blocks).toHaveLength([...guide.matchAll(/^\s*```/gm)].length / 2);
  expect(defined.size).toBe(4);
});

test.each(OPERATOR_NAMES)('the guide shows the operator %s', (name) => {
  expect(ofKind('json expression').join()).toContain(`"op": "${name}"`);
});

test.each(oneLine(ofKind('json expression')))('the expression %s is valid and stays in range', (text) => {
  const score = JSON.parse(text) as Expression;
  const profile = scoring.defineProfile({ ...surroundings, name: 'x', description: 'd', score });
  const value = scoring.score(profile, at, { now: 30 * 86_400_000 });
  expect(value).toBeGreaterThan(0);
  expect(value).toBeLessThanOrEqual(1);
});

test.each(oneLine(ofKind('json condition')))('the condition %s is valid', (text) => {
  const condition = JSON.parse(text) as Condition;
  const score: Expression = { op: 'when', if: condition, then: 1, else: 0 };
  const profile = scoring.defineProfile({
    ...surroundings,
    name: 'x',
    description: 'd',
    score,
    require: [condition],
  });
  expect(scoring.explain(profile, at, { now: 0 }).op).toBe('when');
});

test.each(oneLine(ofKind('json parameters')))('the parameters %s are valid', (text) => {
  const bound = resolveProfile(tunable, JSON.parse(text) as ParameterOverrides);
  expect(bound.parameters).toMatchObject({ 'weights.meaning': 0.7, 'weights.recency': 0.6, halfLifeDays: 7 });
});

test('the guide shows every operator and lists every signal as it is', () => {
  const used = new Set([...guide.matchAll(/"op": "(\w+)"/g)].map(([, op]) => op));
  expect([...used].sort().join(' ')).toBe(
    'age capped clamp constant decay max mean min param power product ref signal sum table when',
  );
  for (const name of SIGNAL_NAMES) {
    const { range, otherwise, description } = SIGNALS[name];
    const bounds = range[1] === 1 ? '0–1' : '0 or more';
    expect(guide).toContain(`| \`${name}\` | ${bounds} | ${otherwise} | ${description} |`);
  }
});

describe('the examples do what the guide says', () => {
  const now = '2026-04-20T00:00:00Z';
  const note = { similarity: 0.8, updatedAt: '2026-04-13T00:00:00Z' };

  test('the TypeScript example prints the text below it', () => {
    const code = ts.transpileModule(ofKind('ts')[0] ?? '', {
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
    }).outputText;
    const printed: string[] = [];
    const console = { log: (value: unknown) => printed.push(String(value)) };
    new Function('require', 'console', 'exports', code)(() => scoring, console, {});
    expect(printed.join('\n')).toBe(ofKind('text')[0]);
  });

  test('an extended profile has its new defaults, parts and requirements', () => {
    const meeting = defined.get('meeting-notes') as Profile;
    expect(scoring.score(meeting, note, { now })).toBeCloseTo((0.7 * 0.8 + 0.5 * 0.5) / 1.2, 12);
    expect(scoring.score(meeting, { ...note, type: 'decision' }, { now })).toBeCloseTo(
      (0.7 * 0.8 + 0.5) / 1.2,
      12,
    );
    expect(meeting.require).toHaveLength(1);
  });

  test('choices and flags switch formulas', () => {
    const scored = (parameters: ParameterOverrides) => scoring.score(tunable, note, { now, parameters });
    expect(scored({ forgetting: 'none' })).toBeCloseTo(0.7 * 0.8 + 0.3, 12);
    expect(scored({ strict: true })).toBe(0.8);
  });
});
