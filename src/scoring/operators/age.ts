import { CLOCK_NAMES, type ClockName } from '../../domain/fields.ts';
import { ageInDays, formatInstant, type Instant, MILLISECONDS_PER_DAY } from '../../domain/time.ts';
import type { Signals } from '../signals.ts';
import { laneOf, valueAt } from './lanes.ts';
import type { Operator, Resolver } from './operator.ts';

/** Days since a clock, or since the earliest or the latest of several; never negative. */
export interface AgeExpression {
  readonly op: 'age';
  readonly of:
    | ClockName
    | { readonly earliest: readonly ClockName[] }
    | { readonly latest: readonly ClockName[] };
}

export interface AgeNode {
  readonly op: 'age';
  readonly path: string;
  readonly pick: 'earliest' | 'latest';
  readonly clocks: readonly ClockName[];
}

export interface Known {
  /** The clocks that it counts from. */
  readonly clocks: readonly string[];
  /** The instant that it counts from. */
  readonly at?: string;
}

export const age: Operator<AgeExpression, AgeNode, Known> = {
  name: 'age',
  keys: { of: 'other' },
  resolve({ of }, path, resolver) {
    const [pick, clocks] = clocksOf(of, `${path}.of`, resolver);
    const names = resolver.nonEmpty(clocks, `${path}.of`);
    for (const name of names) resolver.oneOf('clock', name, CLOCK_NAMES, `${path}.of`);
    return { op: 'age', pick, clocks: names, path };
  },
  formula({ of }) {
    if (typeof of === 'string') return `age(${of})`;
    return 'latest' in of
      ? `age(latest of ${of.latest.join(', ')})`
      : `age(earliest of ${of.earliest.join(', ')})`;
  },
  children: () => [],
  reads: ({ clocks }) => clocks,
  evaluate(node, walk) {
    const at = clockOf(node, walk.signals);
    return walk.leaf(node, at === undefined ? Number.NaN : ageInDays(at, walk.now));
  },
  combine: () => Number.NaN,
  takes: (inputs) => inputs === 0,
  detail(node, _, { signals }) {
    const at = clockOf(node, signals);
    const clocks = [...node.clocks];
    return at === undefined ? { clocks } : { clocks, at: formatInstant(at) };
  },
  interval: (node, intervals) => intervals.age(node).interval,
  age: (node, intervals) => intervals.age(node),
  compile(node, compilation) {
    const { columns, spans } = compilation;
    const clocks = node.clocks.map((clock) => columns.clock(clock));
    const latest = node.pick === 'latest';
    return laneOf(compilation, spans, (side, out) => ({ rows, count, now, until }) => {
      const moment = side === 'low' ? now : until;
      for (let at = 0; at < count; at++) {
        let instant = Number.NaN;
        for (const clock of clocks) {
          const value = valueAt(clock, rows[at]!);
          if (Number.isNaN(instant) || (latest ? value > instant : value < instant)) instant = value;
        }
        out[at] = Math.max(0, moment - instant) / MILLISECONDS_PER_DAY;
      }
    });
  },
  line({ detail }, quote) {
    const clocks = (detail.clocks ?? []).map(quote).join(' or ');
    // The value tells no seconds either.
    const at = detail.at === undefined ? '' : ` (${detail.at.replace(/:\d\d\.\d{3}Z$/, 'Z')})`;
    return { words: `days since ${clocks}${at}`, branches: [] };
  },
  title: ({ detail }) => `age of ${(detail.clocks ?? []).join(' or ')}`,
};

/** The instant that an age counts from, if any of its clocks is known. */
export function clockOf({ clocks, pick }: AgeNode, signals: Signals): Instant | undefined {
  let at: Instant | undefined;
  for (const clock of clocks) {
    const value = signals[clock];
    if (value === undefined) continue;
    if (at === undefined || (pick === 'latest' ? value > at : value < at)) at = value;
  }
  return at;
}

function clocksOf(
  of: AgeExpression['of'],
  path: string,
  resolver: Resolver,
): readonly [AgeNode['pick'], readonly ClockName[]] {
  if (typeof of === 'string') return ['latest', [of]];
  const [key, ...others] = Object.keys(resolver.object(of, path));
  if ((key !== 'latest' && key !== 'earliest') || others.length > 0)
    throw resolver.fault(path, 'give a clock, or one list of clocks as "earliest" or "latest"');
  return 'latest' in of ? ['latest', of.latest] : ['earliest', of.earliest];
}
