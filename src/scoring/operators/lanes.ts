import type { ClockName } from '../../domain/fields.ts';
import {
  type AttributeName,
  EXACT_SIGNALS,
  type ExactSignalName,
  isQuerySignal,
  type QuerySignalName,
  type RowSignalName,
  type SignalName,
} from '../signals.ts';
import type { Node } from './index.ts';
import type { Interval } from './interval.ts';
import type { Compilation } from './operator.ts';

/** How many memories are bounded together, so that the arrays of a formula stay in the first-level cache. */
export const BLOCK_SIZE = 1024;

/** The resident columns of one space: a value for each row, or one for all rows, see {@link valueAt}. */
export interface Columns {
  /** A signal that does not depend on the query. */
  signal(name: RowSignalName): Float64Array;
  /** Milliseconds; NaN where unknown. */
  clock(name: ClockName): Float64Array;
  /** Texts as codes. */
  attribute(name: AttributeName): {
    readonly codes: Uint8Array | Uint16Array | Uint32Array;
    readonly texts: readonly string[];
  };
  /** Returns the kept bounds of a formula that no query changes; `undefined` if each query computes it. */
  kept?(node: Node): KeptColumn | undefined;
}

/**
 * Returns the value of a row. A column of length 1 has the same value in all rows, as most columns of most spaces do.
 */
export function valueAt(column: Float64Array, row: number): number {
  return column[column.length === 1 ? 0 : row]!;
}

/** What a query knows of all rows beforehand, so that a formula need not test each row. */
export interface Facts {
  /** The only block that the formula will get, if that is known. Query signals are then read from it directly. */
  readonly block?: Block | undefined;
  /** Whether every row has a value of its own (true) or none has (false); `undefined` if rows differ. */
  known(name: SignalName | ClockName): boolean | undefined;
}

/** Bounds of a formula that no query changes, for every row. */
export interface KeptColumn {
  readonly low: Float32Array;
  readonly high: Float32Array;
  /** The interval of all rows; `undefined` if the formula cannot be evaluated for one of them. */
  readonly range: Interval | undefined;
  /** Rows that were recomputed since the arrays were made, in that order. */
  readonly renewed?: readonly number[];
  /** Bounds those of the first `count` rows that were not bounded yet; absent if all rows are bounded. */
  readonly workOut?: (rows: Int32Array, count: number) => void;
}

/** Some rows with the query's values for each. The arrays have `BLOCK_SIZE` entries, of which `count` are used. */
export interface Block {
  readonly rows: Int32Array;
  readonly count: number;
  readonly now: number;
  /** The last moment for which bounds must hold. Equal to `now`, except for bounds that are kept between queries. */
  readonly until: number;
  /** NaN where the similarity is unknown. */
  readonly similarityLow: Float64Array;
  readonly similarityHigh: Float64Array;
  /** NaN where the signal is unknown. Only what the formula reads is filled in. */
  readonly exact: { readonly [Name in ExactSignalName]: Float64Array };
}

export type MutableBlock = { -readonly [Key in keyof Block]: Block[Key] };

/** Creates a block without rows whose query signals are all unknown. */
export function emptyBlock(now: number, until = now): MutableBlock {
  return {
    rows: new Int32Array(BLOCK_SIZE),
    count: 0,
    now,
    until,
    similarityLow: new Float64Array(BLOCK_SIZE).fill(Number.NaN),
    similarityHigh: new Float64Array(BLOCK_SIZE).fill(Number.NaN),
    exact: Object.fromEntries(
      EXACT_SIGNALS.map((name) => [name, new Float64Array(BLOCK_SIZE).fill(Number.NaN)]),
    ) as Block['exact'],
  };
}

/** One end of the interval of a value. */
export type Side = 'low' | 'high';

/** Arrays of lower and upper bounds; the same array if the values are exact. */
export type Sides = { readonly [Name in Side]: Float64Array };

/**
 * Bounds of the value of a formula for each row. A side is computed only if something reads it: reading the property
 * during compilation adds its steps.
 */
export interface Lane extends Sides {
  /** Whether the two sides differ. */
  readonly wide: boolean;
  /** The value of every row, if it is the same. */
  readonly constant?: number;
}

/** Work on the rows of a block. */
export type Step = (block: Block) => void;

export function constantLane(value: number): Lane {
  let values: Float64Array | undefined;
  const filled = () => {
    values ??= new Float64Array(BLOCK_SIZE).fill(value);
    return values;
  };
  return {
    wide: false,
    constant: value,
    get low() {
      return filled();
    },
    get high() {
      return filled();
    },
  };
}

/** A pool of arrays for the lanes of one formula after another, each as long as a block. */
export interface Rooms {
  next(): Float64Array;
  /** Makes all arrays available again. The lanes that used them must not be read any more. */
  reset(): void;
}

/** A formula has a few dozen lanes. Arrays beyond this number are not kept. */
const MOST_ROOMS = 256;

/**
 * Creates a pool for a caller that compiles and bounds without interruption. New arrays would cost more than bounding a
 * small block.
 */
export function createRooms(): Rooms {
  const rooms: Float64Array[] = [];
  let used = 0;
  return {
    next() {
      const room = rooms[used] ?? new Float64Array(BLOCK_SIZE);
      if (used < MOST_ROOMS) rooms[used] = room;
      used++;
      return room;
    },
    reset() {
      used = 0;
    },
  };
}

/**
 * Creates a lane whose sides are computed separately. `fill` returns the step for one side, and reads the lanes that it
 * needs.
 */
export function laneOf(
  { steps, rooms }: Pick<Compilation, 'steps' | 'rooms'>,
  wide: boolean,
  fill: (side: Side, out: Float64Array) => Step,
): Lane {
  const made: { [Name in Side]?: Float64Array } = {};
  const sideOf = (side: Side): Float64Array => {
    const known = made[side];
    if (known) return known;
    const out = rooms.next();
    steps.push(fill(side, out));
    made[side] = out;
    return out;
  };
  return {
    wide,
    get low() {
      return sideOf('low');
    },
    get high() {
      return sideOf(wide ? 'high' : 'low');
    },
  };
}

/** Creates a lane whose sides are computed together. */
export function jointLane({ steps, rooms }: Compilation, fill: (sides: Sides) => Step): Lane {
  let made: Sides | undefined;
  const sides = () => {
    if (made === undefined) {
      const both = { low: rooms.next(), high: rooms.next() };
      steps.push(fill(both));
      made = both;
    }
    return made;
  };
  return {
    wide: true,
    get low() {
      return sides().low;
    },
    get high() {
      return sides().high;
    },
  };
}

export function isWide({ wide }: Lane): boolean {
  return wide;
}

/** Creates the lane of min(max(value, low), high) ÷ divisor. */
export function clippedLane(
  compilation: Compilation,
  of: Node,
  low: number,
  high: number,
  divisor: number,
): Lane {
  const inner = compilation.of(of);
  return laneOf(compilation, inner.wide, (side, out) => {
    const from = inner[side];
    return ({ count }) => {
      for (let at = 0; at < count; at++) {
        const value = from[at]!;
        out[at] = (value < low ? low : value > high ? high : value) / divisor;
      }
    };
  });
}

/** Widens a lane of non-negative values by an error of `by` in each direction. */
export function widened(compilation: Compilation, inner: Lane, by: number): Lane {
  return laneOf(compilation, true, (side, out) => {
    const from = inner[side];
    return ({ count }) => {
      for (let at = 0; at < count; at++)
        out[at] = side === 'high' ? from[at]! + by : Math.max(0, from[at]! - by);
    };
  });
}

/** Applies a function that is monotone in both arguments: its extremes lie at the corners. */
export function pairLane(
  compilation: Compilation,
  a: Lane,
  b: Lane,
  apply: (a: number, b: number) => number,
): Lane {
  if (!a.wide && !b.wide) {
    return laneOf(compilation, false, (_, out) => {
      const [left, right] = [a.low, b.low];
      return ({ count }) => {
        for (let at = 0; at < count; at++) out[at] = apply(left[at]!, right[at]!);
      };
    });
  }
  if (!b.wide) {
    return jointLane(compilation, ({ low, high }) => {
      const [aLow, aHigh, right] = [a.low, a.high, b.low];
      return ({ count }) => {
        for (let at = 0; at < count; at++) {
          const one = apply(aLow[at]!, right[at]!);
          const other = apply(aHigh[at]!, right[at]!);
          low[at] = Math.min(one, other);
          high[at] = Math.max(one, other);
        }
      };
    });
  }
  return jointLane(compilation, ({ low, high }) => {
    const [aLow, aHigh, bLow, bHigh] = [a.low, a.high, b.low, b.high];
    return ({ count }) => {
      for (let at = 0; at < count; at++) {
        const ll = apply(aLow[at]!, bLow[at]!);
        const lh = apply(aLow[at]!, bHigh[at]!);
        const hl = apply(aHigh[at]!, bLow[at]!);
        const hh = apply(aHigh[at]!, bHigh[at]!);
        low[at] = Math.min(ll, lh, hl, hh);
        high[at] = Math.max(ll, lh, hl, hh);
      }
    };
  });
}

/** Whether the lane of a signal is wide: codes of vectors give the similarity only as an interval. */
export function isBlurred(name: SignalName): boolean {
  return name === 'similarity';
}

/** Returns a query signal of a block, for a signal that every row has. */
export function queryLane({ similarityLow, similarityHigh, exact }: Block, name: QuerySignalName): Lane {
  if (name === 'similarity') return { wide: true, low: similarityLow, high: similarityHigh };
  return { wide: false, low: exact[name], high: exact[name] };
}

/** Creates the arrays for the values of a signal. */
export function roomFor(name: SignalName): Sides {
  const low = new Float64Array(BLOCK_SIZE);
  return { low, high: isBlurred(name) ? new Float64Array(BLOCK_SIZE) : low };
}

/** Returns a step that loads the values of a signal. */
export function loadSignal(columns: Columns, name: SignalName, missing: number, { low, high }: Sides): Step {
  if (name === 'similarity') {
    return ({ similarityLow, similarityHigh, count }) => {
      for (let at = 0; at < count; at++) {
        const known = !Number.isNaN(similarityLow[at]!);
        low[at] = known ? similarityLow[at]! : missing;
        high[at] = known ? similarityHigh[at]! : missing;
      }
    };
  }
  if (isQuerySignal(name)) {
    return ({ exact, count }) => {
      const values = exact[name];
      for (let at = 0; at < count; at++) low[at] = Number.isNaN(values[at]!) ? missing : values[at]!;
    };
  }
  const column = columns.signal(name);
  return ({ rows, count }) => {
    for (let at = 0; at < count; at++) low[at] = valueAt(column, rows[at]!);
  };
}
