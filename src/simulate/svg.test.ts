import { describe, expect, it } from 'vitest';
import { escapeXml } from '../domain/escape-xml.ts';
import { drawLinePlot, type LinePlot } from './svg.ts';

const line = (name: string, ...ys: readonly number[]): LinePlot['series'][number] => ({
  name,
  points: ys.map((y, x) => ({ x, y })),
  marks: [],
});

const plot = (changes: Partial<LinePlot> = {}): LinePlot => ({
  title: 'A plot',
  description: 'What it shows.',
  xLabel: 'days',
  yLabel: 'share',
  xMax: 10,
  shapes: { core: 'star', cold: 'circle' },
  series: [line('one', 1, 0.5, 0)],
  ...changes,
});

const linesOf = (svg: string) =>
  [...svg.matchAll(/<polyline points="([^"]*)"/g)].map(([, points = '']) =>
    points.split(' ').map((point) => point.split(',').map(Number) as [number, number]),
  );

/** Every tag is closed, in order: enough to be XML, as attributes hold no raw quotes. */
function expectWellFormed(svg: string): void {
  const open: string[] = [];
  for (const [, close, name, selfClosed] of svg.matchAll(
    /<(\/?)([a-z]+)(?:\s+[\w:-]+="[^"<>]*")*\s*(\/?)>/g,
  )) {
    if (close) expect(open.pop()).toBe(name);
    else if (!selfClosed) open.push(name as string);
  }
  expect(open).toEqual([]);
  expect(svg.replace(/<[^<>]*>/g, '')).not.toMatch(/[<>]/);
}

describe('drawLinePlot', () => {
  it('lays values out linearly: 0 below, 1 above, time to the right', () => {
    const [points] = linesOf(drawLinePlot(plot({ series: [line('one', 1, 0.5, 0)], xMax: 2 })));
    const [[x0, top], [x1, middle], [x2, bottom]] = points as [
      [number, number],
      [number, number],
      [number, number],
    ];
    expect(x1 - x0).toBe(x2 - x1);
    expect(middle).toBe((top + bottom) / 2);
    expect(bottom).toBeGreaterThan(top);
  });

  it('leaves out the points inside a level run and no others', () => {
    const [points] = linesOf(drawLinePlot(plot({ series: [line('one', 1, 1, 1, 0.5, 0.2, 0.2, 0.2)] })));
    expect(points).toHaveLength(5);
  });

  it('labels axes, lines and the kinds of marks that occur, in the order of the shapes', () => {
    const series = [{ ...line('one', 1, 0), marks: [{ x: 1, y: 0, kind: 'cold' }] }];
    const svg = drawLinePlot(plot({ series }));
    for (const label of ['A plot', 'days', 'share', 'one', 'cold', '0.0', '1.0', '10']) {
      expect(svg).toContain(`>${label}</text>`);
    }
    expect(svg).not.toContain('>core</text>');
    expect(svg).toContain('<title>one: cold, 1</title>');
    expect(svg).toMatch(/<svg [^>]*viewBox="0 0 960 \d+" role="img"/);
    expectWellFormed(svg);
  });

  it('gives each of the first eight lines its own colour, and the next the same ones with dashes', () => {
    const series = Array.from({ length: 12 }, (_, index) => line(`line ${index}`, 1, 0));
    const strokes = [...drawLinePlot(plot({ series })).matchAll(/<polyline [^>]*?stroke="(#\w+)"[^>]*?>/g)];
    const colours = strokes.map(([, colour]) => colour);
    expect(new Set(colours.slice(0, 8)).size).toBe(8);
    expect(colours.slice(8)).toEqual(colours.slice(0, 4));
    expect(strokes.map(([tag]) => tag.includes('stroke-dasharray'))).toEqual([
      ...Array(8).fill(false),
      ...Array(4).fill(true),
    ]);
  });

  it('grows with its legend', () => {
    const heightOf = (count: number) => {
      const series = Array.from({ length: count }, (_, index) => line(`line ${index}`, 1, 0));
      return Number(/viewBox="0 0 960 (\d+)"/.exec(drawLinePlot(plot({ series })))?.[1]);
    };
    expect(heightOf(3)).toBe(heightOf(1));
    expect(heightOf(40)).toBeGreaterThan(40 * 20);
  });

  it.each([1, 7, 30, 90, 365, 800, 3660])('has a readable number of ticks over %i days', (xMax) => {
    const svg = drawLinePlot(plot({ xMax }));
    const ticks = [...svg.matchAll(/text-anchor="middle">(\d+)<\/text>/g)].map(([, text]) => Number(text));
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(13);
    expect(ticks[0]).toBe(0);
    expect(ticks.at(-1)).toBeLessThanOrEqual(xMax);
  });

  it('holds any name without breaking out of its place, long ones cut', () => {
    const hostile = '</text><script>alert("x")</script>&\u0000\ud800';
    const svg = drawLinePlot(
      plot({ title: hostile, series: [line(hostile, 1, 0), line('x'.repeat(99), 1, 0)] }),
    );
    expect(svg).not.toContain('<script');
    expect(svg).toContain(`>${'x'.repeat(23)}…</text>`);
    expectWellFormed(svg);
  });
});

describe('escapeXml', () => {
  it('escapes what has a meaning and replaces what XML cannot hold', () => {
    expect(escapeXml(`<a b="c" d='e'>&`)).toBe('&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;');
    expect(escapeXml('a\u0000b\ud800c\uffffd')).toBe('a\ufffdb\ufffdc\ufffdd');
    expect(escapeXml('é 漢 😀\n')).toBe('é 漢 😀\n');
  });
});
