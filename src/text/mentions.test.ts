import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { finderOf, mentionsIn, type Named } from './mentions.ts';

const lines = readFileSync(new URL('../../test/fixtures/mentions.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '');
const things: readonly Named[] = lines.flatMap((line) => {
  const [, kind, names] = /^# (person|organisation|place|thing): (.+)$/u.exec(line) ?? [];
  if (kind === undefined || names === undefined) return [];
  const all = names.split(' | ');
  return [{ id: all[0] as string, names: all, kind }];
});
const heldOut = lines.indexOf('# held out');
const sentences = lines.flatMap((line, at) => {
  if (line.startsWith('# ')) return [];
  const labels: [number, number][] = [];
  let text = '';
  for (const part of line.split(/([[\]])/u)) {
    if (part === '[') labels.push([text.length, -1]);
    else if (part === ']') (labels.at(-1) as [number, number])[1] = text.length;
    else text += part;
  }
  return [{ text, labels, heldOut: at > heldOut }];
});

function measured(of: typeof sentences) {
  const find = finderOf(things);
  let [right, wrong, missed] = [0, 0, 0];
  const faults: string[] = [];
  for (const { text, labels } of of) {
    const found = find(text).map(({ start, end }) => `${start}-${end}`);
    const expected = labels.map(([start, end]) => `${start}-${end}`);
    for (const each of found) {
      if (expected.includes(each)) right++;
      else {
        wrong++;
        faults.push(`wrong: ${text}`);
      }
    }
    for (const each of expected) {
      if (found.includes(each)) continue;
      missed++;
      faults.push(`missed: ${text}`);
    }
  }
  return { precision: right / (right + wrong), recall: right / (right + missed), faults };
}

describe('mentions found by words', () => {
  it('are right nine times in ten on sentences labelled by hand', () => {
    expect(sentences.length).toBeGreaterThanOrEqual(300);
    for (const part of [sentences, sentences.filter((each) => each.heldOut)]) {
      const { precision, recall, faults } = measured(part);
      if (process.env['SALIENCE_SHOW_FAULTS']) console.log({ precision, recall }, faults.join('\n'));
      expect(precision).toBeGreaterThanOrEqual(0.9);
      expect(recall).toBeGreaterThanOrEqual(0.9);
    }
  });

  const ids = (text: string, ...named: readonly Named[]) => mentionsIn(text, named).map(({ id }) => id);

  it('ignore a name that two things share', () => {
    const two = [
      { id: 'a', names: ['Jordan', 'Jo Lee'], kind: 'person' },
      { id: 'b', names: ['jordan', 'Jordan'], kind: 'place' },
    ];
    expect(ids('We saw Jordan and Jo Lee', ...two)).toEqual(['a']);
    expect(mentionsIn('anything', [])).toEqual([]);
  });

  it('are the longest matching name, in any Unicode form', () => {
    const ada = { id: 'ada', names: ['Ada', 'Ada Lovelace'], kind: 'person' };
    expect(mentionsIn('I saw Ada Lovelace', [ada])).toEqual([{ id: 'ada', start: 6, end: 18 }]);
    const zoe = { id: 'zoe', names: ['Zoe\u0308'], kind: 'person' };
    expect(ids('I saw Zoë', zoe)).toEqual(['zoe']);
  });

  it('need a capital letter or a digit, and at least two characters', () => {
    expect(ids('I saw react and X', { id: 'r', names: ['react', 'X'] })).toEqual([]);
    expect(ids('I flew B2 home', { id: 'b', names: ['B2'] })).toEqual(['b']);
    expect(ids('I saw ADA', { id: 'a', names: ['Ada'], kind: 'person' })).toEqual([]);
    expect(ids('I saw (a+b)C', { id: 'a', names: ['(a+b)C'] })).toEqual(['a']);
  });
});

it.each([
  ['She moved to İstanbul with İpek', 'İstanbul'],
  ['She lives in القاهرة now', 'القاهرة'],
  ['गीता दिल्ली में रहती है', 'दिल्ली'],
  ['היא גרה ליד חיפה היום', 'חיפה'],
])('finds names with a dotted capital, and of scripts without cases: %s', (text, name) => {
  const found = mentionsIn(text, [{ id: 'e', names: [name], kind: 'place' }]);
  expect(found.map(({ start, end }) => text.slice(start, end).toLowerCase())).toEqual([name.toLowerCase()]);
});
