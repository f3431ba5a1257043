import { describe, expect, it } from 'vitest';
import {
  collectPairs,
  collectParameters,
  parseList,
  parseNumber,
  parsePositives,
  parseWholeNumber,
} from './options.ts';
import { createPaint } from './paint.ts';
import { formatFields, formatTable } from './table.ts';
import { displayWidth } from './terminal-text.ts';
import { formatAge, formatBytes, plural } from './units.ts';

const DAY = 86_400_000;

describe('formatAge', () => {
  it.each([
    [0, 'now'],
    [-DAY, 'now'],
    [59_999, 'now'],
    [60_000, '1 min'],
    [3_600_000, '1 h'],
    [2 * DAY - 1, '47 h'],
    [3 * DAY, '3 d'],
    [59 * DAY, '59 d'],
    [90 * DAY, '2 mo'],
    [800 * DAY, '2 y'],
  ])('%d ms is %s', (age, text) => {
    expect(formatAge(1e12 - age, 1e12)).toBe(text);
  });
});

it('sizes and counts are written as people write them', () => {
  expect([1023, 65_536, 5 * 1024 ** 2, 3 * 1024 ** 3].map(formatBytes)).toEqual([
    '1023 B',
    '64.0 KiB',
    '5.0 MiB',
    '3.0 GiB',
  ]);
  expect([plural(1, 'memory', 'memories'), plural(1200, 'memory', 'memories'), plural(0, 'hit')]).toEqual([
    '1 memory',
    '1,200 memories',
    '0 hits',
  ]);
});

describe('tables', () => {
  it('are aligned by display width, cut to the terminal, and may hold any text', () => {
    const columns = [{ title: 'id' }, { title: 'n', align: 'right' as const }, { title: 'text' }];
    const rows = [
      ['日', '10', 'a\nb'],
      ['longer', '9', 'c\u001b'],
    ];
    expect(formatTable(columns, rows, 100)).toBe('id       n  text\n日      10  a b\nlonger   9  c\\u{1b}');
    for (const line of formatTable(columns, rows, 12).split('\n'))
      expect(displayWidth(line)).toBeLessThanOrEqual(12);
  });

  it('leave out unknown fields', () => {
    expect(
      formatFields([
        ['a', '1'],
        ['none', undefined],
        ['bcd', '2'],
      ]),
    ).toBe('a    1\nbcd  2');
  });
});

describe('values of options', () => {
  it('are read as numbers, flags or text', () => {
    const pairs = [
      'a=1',
      'b=-0.5',
      'c=true',
      'd=false',
      'e=1000',
      'f=',
      'g=1.2.3',
      'weights.x=0.5',
      'h=a=b',
      'i="3"',
      'j="true',
    ].reduce<ReturnType<typeof collectPairs> | undefined>(
      (previous, each) => collectPairs(each, previous),
      undefined,
    );
    expect(pairs).toEqual({
      a: 1,
      b: -0.5,
      c: true,
      d: false,
      e: 1000,
      f: '',
      g: '1.2.3',
      'weights.x': 0.5,
      h: 'a=b',
      i: '3',
      j: '"true',
    });
    expect(Object.entries(collectPairs('__proto__=1', undefined))).toEqual([['__proto__', 1]]);
    expect(() => collectPairs('a', undefined)).toThrow('name=value');
    expect(() => collectPairs('=a', undefined)).toThrow('name=value');
  });

  it('stay text if a number would lose digits', () => {
    for (const text of [
      '123456789012345678',
      '01234',
      '+49301234',
      '1.10',
      '4e12345',
      '1e3',
      '.5',
      '-0',
      'Infinity',
      'NaN',
      '0x1f',
      ' 1',
    ]) {
      expect(collectPairs(`a=${text}`, undefined)).toEqual({ a: text });
    }
    expect(collectPairs('a=9007199254740991', undefined)).toEqual({ a: 9007199254740991 });
  });

  it('of parameters are numbers in any notation', () => {
    const given = ['a=.5', 'b=7.0', 'c=1e3', 'd=on', 'e=true', 'f="3"'].reduce<
      ReturnType<typeof collectParameters> | undefined
    >((previous, each) => collectParameters(each, previous), undefined);
    expect(given).toEqual({ a: 0.5, b: 7, c: 1000, d: 'on', e: true, f: '3' });
  });

  it('are refused if they are not numbers', () => {
    expect([parseNumber('.5'), parseNumber('-1e-3'), parseWholeNumber('+7')]).toEqual([0.5, -0.001, 7]);
    for (const text of ['', ' ', 'x', '1x', 'Infinity', 'NaN'])
      expect(() => parseNumber(text)).toThrow('number');
    for (const text of ['1.5', '1e3', '99999999999999999999', ''])
      expect(() => parseWholeNumber(text)).toThrow('whole');
    expect([parseList('a, b,c'), parsePositives('1,10')]).toEqual([
      ['a', 'b', 'c'],
      [1, 10],
    ]);
    for (const text of ['', 'a,', ',']) expect(() => parseList(text)).toThrow('commas');
    expect(() => parsePositives('1,0')).toThrow('above 0');
  });
});

describe('paint', () => {
  const text = (...args: Parameters<typeof createPaint>) => createPaint(...args)('bold', 'x');
  it('colours a terminal unless colours are refused', () => {
    expect(text(true, {}, true)).toBe('\u001b[1mx\u001b[22m');
    expect(text(true, {}, false)).toBe('x');
    expect(text(false, {}, true)).toBe('x');
    expect(text(true, { NO_COLOR: '1' }, true)).toBe('x');
    expect(text(true, { NO_COLOR: '' }, true)).not.toBe('x');
    expect(text(true, { FORCE_COLOR: '1' }, false)).not.toBe('x');
    expect(text(true, { FORCE_COLOR: '1', NO_COLOR: '1' }, true)).toBe('x');
    expect(text(true, { FORCE_COLOR: '0' }, false)).toBe('x');
    expect(text(true, { TERM: 'dumb' }, true)).toBe('x');
    expect(text(true, { TERM: 'dumb', FORCE_COLOR: '1' }, true)).not.toBe('x');
    expect(text(true, { TERM: 'xterm' }, true)).not.toBe('x');
  });
});
