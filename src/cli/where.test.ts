import { describe, expect, it } from 'vitest';
import type { MetadataFilter } from '../index.ts';
import { collectWhere } from './where.ts';

const all = (...conditions: readonly string[]) =>
  conditions.reduce<MetadataFilter | undefined>((previous, each) => collectWhere(each, previous), undefined);

describe('conditions on metadata', () => {
  it('read values like --metadata, and compare by the operator after the key', () => {
    expect(
      all('a=1', 'b="1"', 'c=true', 'd=open', 'e>=3', 'f<2026-03-01', 'g>-0.5', 'h<=7', 'i', 'j=', 'k=x>=y'),
    ).toEqual({
      a: [1],
      b: ['1'],
      c: [true],
      d: ['open'],
      e: { atLeast: 3 },
      f: { below: '2026-03-01' },
      g: { above: -0.5 },
      h: { atMost: 7 },
      i: { exists: true },
      j: [''],
      k: ['x>=y'],
    });
    expect(Object.entries(all('__proto__=1') ?? {})).toEqual([['__proto__', [1]]]);
  });

  it('keep text that would change as a number, so that they find what was stored', () => {
    expect(all('a=01234', 'b=123456789012345678', 'c=4e12345', 'd>="01234"', 'e>4e12345')).toEqual({
      a: ['01234'],
      b: ['123456789012345678'],
      c: ['4e12345'],
      d: { atLeast: '01234' },
      e: { above: '4e12345' },
    });
  });

  it('of one key match any of its values, or all of its bounds', () => {
    expect(all('a=1', 'b=x', 'a="1"', 'c>=3', 'c<5')).toEqual({
      a: [1, '1'],
      b: ['x'],
      c: { atLeast: 3, below: 5 },
    });
  });

  it('are refused if they contradict each other or are incomplete', () => {
    for (const [said, problem] of [
      [['=1'], 'Write key=value'],
      [['>3'], 'Write key=value'],
      [[''], 'Write key=value'],
      [['a>=true'], 'above or below'],
      [['a>=1.50'], 'Write >=1.5 for a number, or >="1.50"'],
      [['a<007'], 'Write <7 for a number'],
      [['a=1', 'a>2'], 'Give a values'],
      [['a', 'a>2'], 'Give a values'],
      [['a>1', 'a>2'], 'Give a values'],
    ] as const) {
      expect(() => all(...said)).toThrow(problem);
    }
  });
});
