import type { ClockName } from '../../domain/fields.ts';
import {
  type AttributeName,
  type ExactSignalName,
  isQuerySignal,
  type RowSignalName,
  type SignalName,
} from '../signals.ts';
import type { Node } from './index.ts';
import type { Compilation } from './operator.ts';

/** How many memories are bounded together: the arrays of a formula then stay in the first-level cache. */
export const BLOCK_SIZE = 1024;

/** What is resident of the memories of one space, one value a row. */
export interface Columns {
  /** A signal that does not depend on the query. */
  signal(name: RowSignalName): Float64Array;
  /** Milliseconds; NaN where unknown. */
  clock(name: ClockName): Float64Array;
  /** Texts as codes. */
  attribute(name: AttributeName): {
    readonly codes: Uint16Array | Uint32Array;
    readonly texts: readonly string[];
  };
}

/** Some rows, with what the query says of each. The arrays are as long as `BLOCK_SIZE`; `count` is in use. */
export interface Block {
  readonly rows: Int32Array;
  readonly count: number;
  readonly now: number;
  /** NaN where the similarity is unknown. */
  readonly similarityLow: Float64Array;
  readonly similarityHigh: Float64Array;
  /** NaN where the signal is unknown. Only what the formula reads is filled in. */
  readonly exact: { readonly [Name in ExactSignalName]: Float64Array };
}

/** Values between which the formula's value of each row lies; the same array when they are known exactly. */
export interface Lane {
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** Work on the rows of a block. */
export type Step = (block: Block) => void;

export function newLane(wide: boolean): Lane {
  const low = new Float64Array(BLOCK_SIZE);
  return { low, high: wide ? new Float64Array(BLOCK_SIZE) : low };
}

export function isWide(lane: Lane): boolean {
  return lane.low !== lane.high;
}

export function eachSide(lane: Lane, work: (out: Float64Array, side: 'low' | 'high') => void): void {
  work(lane.low, 'low');
  if (isWide(lane)) work(lane.high, 'high');
}

/** A function that rises with its argument. */
export function risingLane(compilation: Compilation, of: Node, apply: (value: number) => number): Lane {
  const inner = compilation.of(of);
  const lane = newLane(isWide(inner));
  eachSide(lane, (out, side) => {
    const from = inner[side];
    compilation.steps.push(({ count }) => {
      for (let at = 0; at < count; at++) out[at] = apply(from[at]!);
    });
  });
  return lane;
}

/** A function that is monotone in both arguments: its extremes lie at the corners. */
export function pairLane(
  { steps }: Compilation,
  a: Lane,
  b: Lane,
  apply: (a: number, b: number) => number,
): Lane {
  if (!isWide(a) && !isWide(b)) {
    const lane = newLane(false);
    steps.push(({ count }) => {
      for (let at = 0; at < count; at++) lane.low[at] = apply(a.low[at]!, b.low[at]!);
    });
    return lane;
  }
  const lane = newLane(true);
  steps.push(({ count }) => {
    for (let at = 0; at < count; at++) {
      const ll = apply(a.low[at]!, b.low[at]!);
      const lh = apply(a.low[at]!, b.high[at]!);
      const hl = apply(a.high[at]!, b.low[at]!);
      const hh = apply(a.high[at]!, b.high[at]!);
      lane.low[at] = Math.min(ll, lh, hl, hh);
      lane.high[at] = Math.max(ll, lh, hl, hh);
    }
  });
  return lane;
}

/** Whether a signal's lane is wide: codes of vectors give the similarity only within an interval. */
export function isBlurred(name: SignalName): boolean {
  return name === 'similarity';
}

/** Loads the values of a signal into a lane. */
export function loadSignal(columns: Columns, name: SignalName, missing: number, lane: Lane): Step {
  if (name === 'similarity') {
    return ({ similarityLow, similarityHigh, count }) => {
      for (let at = 0; at < count; at++) {
        const known = !Number.isNaN(similarityLow[at]!);
        lane.low[at] = known ? similarityLow[at]! : missing;
        lane.high[at] = known ? similarityHigh[at]! : missing;
      }
    };
  }
  if (isQuerySignal(name)) {
    return ({ exact, count }) => {
      const values = exact[name];
      for (let at = 0; at < count; at++) lane.low[at] = Number.isNaN(values[at]!) ? missing : values[at]!;
    };
  }
  const column = columns.signal(name);
  return ({ rows, count }) => {
    for (let at = 0; at < count; at++) lane.low[at] = column[rows[at]!]!;
  };
}
