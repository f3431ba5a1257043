import type { ClockName } from '../model/fields.ts';
import { MILLISECONDS_PER_DAY } from '../model/time.ts';
import { clamp, power } from './arithmetic.ts';
import { decay } from './evaluate.ts';
import { type BoundCondition, type Bounds, type Node, withinBounds } from './node.ts';
import { rangeOf } from './range.ts';
import { type AttributeName, isClockName, type SignalName, type StoredSignalName } from './signals.ts';

/** How many memories are bounded together: the arrays of a formula then stay in the first-level cache. */
export const BLOCK_SIZE = 1024;

/** What is resident of the memories of one space, one value a row. */
export interface Columns {
  /** A signal that does not depend on the query. */
  signal(name: StoredSignalName): Float64Array;
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
  /** NaN where the lexical relevance is unknown. */
  readonly lexical: Float64Array;
}

/** Values between which the formula's value of each row lies; the same array when they are known exactly. */
export interface Lane {
  readonly low: Float64Array;
  readonly high: Float64Array;
}

type Step = (block: Block) => void;

interface Compilation {
  readonly columns: Columns;
  readonly steps: Step[];
  readonly lanes: Map<Node, Lane>;
}

/** A formula made ready to bound many memories at once: interval arithmetic over columns, a loop for each node. */
export interface CompiledFormula {
  /**
   * Bounds the score of every row of the block, up to the rounding of `exp` and `log`. The result is overwritten by
   * the next call. A row whose formula cannot be evaluated (an unknown age) has NaN.
   */
  bounds(block: Block): Lane;
}

export function compile(root: Node, columns: Columns): CompiledFormula {
  const compilation: Compilation = { columns, steps: [], lanes: new Map() };
  const lane = laneOf(compilation, root);
  return {
    bounds(block) {
      for (const step of compilation.steps) step(block);
      return lane;
    },
  };
}

/** For each row of the block, whether all conditions hold: 0 no, 1 yes, 2 undecided. */
export function compileConditions(
  conditions: readonly BoundCondition[],
  columns: Columns,
): (block: Block) => Uint8Array {
  const compiled = conditions.map((condition) => compileCondition(condition, columns));
  const verdict = new Uint8Array(BLOCK_SIZE);
  return (block) => {
    verdict.fill(1);
    for (const condition of compiled) {
      const each = condition(block);
      for (let at = 0; at < block.count; at++) {
        if (each[at] === 0 || verdict[at] === 0) verdict[at] = 0;
        else if (each[at] === 2) verdict[at] = 2;
      }
    }
    return verdict;
  };
}

/** For each row of the block, whether a condition holds: 0 no, 1 yes, 2 undecided. */
function compileCondition(condition: BoundCondition, columns: Columns): (block: Block) => Uint8Array {
  const verdict = new Uint8Array(BLOCK_SIZE);
  switch (condition.test) {
    case 'fixed':
      verdict.fill(condition.holds ? 1 : 0);
      return () => verdict;
    case 'attribute': {
      const { codes, texts } = columns.attribute(condition.attribute);
      const holds = Uint8Array.from(texts, (text) => (condition.values.includes(text) ? 1 : 0));
      return ({ rows, count }) => {
        for (let at = 0; at < count; at++) verdict[at] = holds[codes[rows[at]!]!]!;
        return verdict;
      };
    }
    case 'passed': {
      const clock = columns.clock(condition.clock);
      return ({ rows, count, now }) => {
        for (let at = 0; at < count; at++) verdict[at] = clock[rows[at]!]! <= now ? 1 : 0;
        return verdict;
      };
    }
    case 'known': {
      const { name } = condition;
      if (name === 'similarity' || name === 'lexical') {
        return (block) => {
          const values = name === 'similarity' ? block.similarityLow : block.lexical;
          for (let at = 0; at < block.count; at++) verdict[at] = Number.isNaN(values[at]!) ? 0 : 1;
          return verdict;
        };
      }
      if (!isClockName(name)) {
        verdict.fill(1);
        return () => verdict;
      }
      const clock = columns.clock(name);
      return ({ rows, count }) => {
        for (let at = 0; at < count; at++) verdict[at] = Number.isNaN(clock[rows[at]!]!) ? 0 : 1;
        return verdict;
      };
    }
    case 'signal': {
      const lane = newLane(condition.signal === 'similarity');
      const load = loadSignal(columns, condition.signal, condition.missing, lane);
      const { bounds } = condition;
      return (block) => {
        load(block);
        for (let at = 0; at < block.count; at++) verdict[at] = judge(lane.low[at]!, lane.high[at]!, bounds);
        return verdict;
      };
    }
  }
}

function judge(low: number, high: number, bounds: Bounds): 0 | 1 | 2 {
  if (low === high) return withinBounds(low, bounds) ? 1 : 0;
  if (withinBounds(low, bounds) && withinBounds(high, bounds)) return 1;
  // Undecided unless the whole interval lies outside one of the limits.
  const tooLow = high < (bounds.atLeast ?? -Infinity) || high <= (bounds.above ?? -Infinity);
  const tooHigh = low > (bounds.atMost ?? Infinity) || low >= (bounds.below ?? Infinity);
  return tooLow || tooHigh ? 0 : 2;
}

function laneOf(compilation: Compilation, node: Node): Lane {
  const known = compilation.lanes.get(node);
  if (known) return known;
  const lane = compileNode(compilation, node);
  compilation.lanes.set(node, lane);
  return lane;
}

function compileNode(compilation: Compilation, node: Node): Lane {
  const { columns, steps } = compilation;
  switch (node.op) {
    case 'constant': {
      const values = new Float64Array(BLOCK_SIZE).fill(node.value);
      return { low: values, high: values };
    }
    case 'signal': {
      const lane = newLane(node.name === 'similarity');
      steps.push(loadSignal(columns, node.name, node.missing, lane));
      return lane;
    }
    case 'age': {
      const lane = newLane(false);
      const clocks = node.clocks.map((clock) => columns.clock(clock));
      const latest = node.pick === 'latest';
      steps.push(({ rows, count, now }) => {
        for (let at = 0; at < count; at++) {
          let instant = Number.NaN;
          for (const clock of clocks) {
            const value = clock[rows[at]!]!;
            if (Number.isNaN(instant) || (latest ? value > instant : value < instant)) instant = value;
          }
          lane.low[at] = Math.max(0, now - instant) / MILLISECONDS_PER_DAY;
        }
      });
      return lane;
    }
    case 'ref':
      return laneOf(compilation, node.of);
    case 'sum':
    case 'mean':
      return compileSum(compilation, node);
    case 'product':
      return compileProduct(compilation, node.of);
    case 'min':
    case 'max': {
      const of = node.of.map((each) => laneOf(compilation, each));
      const lane = newLane(of.some(isWide));
      const pick = node.op === 'min' ? Math.min : Math.max;
      eachSide(lane, (out, side) => {
        const [first, ...rest] = of.map((each) => each[side]);
        steps.push(({ count }) => {
          for (let at = 0; at < count; at++) {
            let value = first![at]!;
            for (const other of rest) value = pick(value, other[at]!);
            out[at] = value;
          }
        });
      });
      return lane;
    }
    case 'power':
      return compilePair(compilation, node.base, node.exponent, power);
    case 'clamp':
      return compileMonotone(compilation, node.of, (value) => clamp(value, node.min, node.max));
    case 'capped':
      return compileMonotone(compilation, node.of, (value) => clamp(value, 0, node.cap) / node.cap);
    case 'decay': {
      const { missing } = node;
      const age = laneOf(compilation, node.age);
      const lane = compilePair(compilation, node.age, node.pace, (days, pace) => decay(node, days, pace));
      if (missing === undefined) return lane;
      steps.push(({ count }) => {
        for (let at = 0; at < count; at++) {
          if (!Number.isNaN(age.low[at]!)) continue;
          lane.low[at] = missing;
          lane.high[at] = missing;
        }
      });
      return lane;
    }
    case 'table': {
      const { codes, texts } = columns.attribute(node.by);
      const keys = [...node.cases.keys()];
      const lanes = [...node.cases.values(), node.otherwise].map((each) => laneOf(compilation, each));
      const choice = Uint16Array.from(texts, (text) => {
        const key = keys.indexOf(text);
        return key < 0 ? keys.length : key;
      });
      const lane = newLane(lanes.some(isWide));
      eachSide(lane, (out, side) => {
        const from = lanes.map((each) => each[side]);
        steps.push(({ rows, count }) => {
          for (let at = 0; at < count; at++) out[at] = from[choice[codes[rows[at]!]!]!]![at]!;
        });
      });
      return lane;
    }
    case 'when': {
      if (node.condition.test === 'fixed')
        return laneOf(compilation, node.condition.holds ? node.then : node.else);
      const held = laneOf(compilation, node.then);
      const other = laneOf(compilation, node.else);
      const decide = compileCondition(node.condition, columns);
      const undecided = node.condition.test === 'signal' && node.condition.signal === 'similarity';
      const lane = newLane(undecided || isWide(held) || isWide(other));
      steps.push((block) => {
        const verdict = decide(block);
        for (let at = 0; at < block.count; at++) {
          const holds = verdict[at]!;
          lane.low[at] =
            holds === 1
              ? held.low[at]!
              : holds === 0
                ? other.low[at]!
                : Math.min(held.low[at]!, other.low[at]!);
          lane.high[at] =
            holds === 1
              ? held.high[at]!
              : holds === 0
                ? other.high[at]!
                : Math.max(held.high[at]!, other.high[at]!);
        }
      });
      return lane;
    }
  }
}

function compileSum(compilation: Compilation, node: Extract<Node, { op: 'sum' | 'mean' }>): Lane {
  const of = node.of.map((each) => laneOf(compilation, each));
  const lane = newLane(of.some(isWide));
  const weight = node.op === 'mean' ? node.weights.reduce((sum, each) => sum + each, 0) : 1;
  eachSide(lane, (out, side) => {
    const opposite = side === 'low' ? 'high' : 'low';
    const terms = of.map((each, index) => each[node.weights[index]! >= 0 ? side : opposite]);
    compilation.steps.push(({ count }) => {
      for (let index = 0; index < terms.length; index++) {
        const [term, each] = [terms[index]!, node.weights[index]!];
        if (index === 0) for (let at = 0; at < count; at++) out[at] = each * term[at]!;
        else for (let at = 0; at < count; at++) out[at]! += each * term[at]!;
      }
      if (node.op === 'mean') for (let at = 0; at < count; at++) out[at]! /= weight;
    });
  });
  return lane;
}

function compileProduct(compilation: Compilation, of: readonly Node[]): Lane {
  if (of.some((each) => rangeOf(each)[0] < 0)) {
    const [first, ...rest] = of.map((each) => laneOf(compilation, each));
    return rest.reduce((product, each) => pairOf(compilation, product, each, (a, b) => a * b), first!);
  }
  const lanes = of.map((each) => laneOf(compilation, each));
  const lane = newLane(lanes.some(isWide));
  eachSide(lane, (out, side) => {
    const factors = lanes.map((each) => each[side]);
    compilation.steps.push(({ count }) => {
      factors.forEach((factor, index) => {
        if (index === 0) for (let at = 0; at < count; at++) out[at] = factor[at]!;
        else for (let at = 0; at < count; at++) out[at]! *= factor[at]!;
      });
    });
  });
  return lane;
}

function compileMonotone(compilation: Compilation, of: Node, apply: (value: number) => number): Lane {
  const inner = laneOf(compilation, of);
  const lane = newLane(isWide(inner));
  eachSide(lane, (out, side) => {
    const from = inner[side];
    compilation.steps.push(({ count }) => {
      for (let at = 0; at < count; at++) out[at] = apply(from[at]!);
    });
  });
  return lane;
}

function compilePair(
  compilation: Compilation,
  a: Node,
  b: Node,
  apply: (a: number, b: number) => number,
): Lane {
  return pairOf(compilation, laneOf(compilation, a), laneOf(compilation, b), apply);
}

/** A function that is monotone in both arguments: its extremes lie at the corners. */
function pairOf(compilation: Compilation, a: Lane, b: Lane, apply: (a: number, b: number) => number): Lane {
  if (!isWide(a) && !isWide(b)) {
    const lane = newLane(false);
    compilation.steps.push(({ count }) => {
      for (let at = 0; at < count; at++) lane.low[at] = apply(a.low[at]!, b.low[at]!);
    });
    return lane;
  }
  const lane = newLane(true);
  compilation.steps.push(({ count }) => {
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

function loadSignal(columns: Columns, name: SignalName, missing: number, lane: Lane): Step {
  if (name === 'similarity') {
    return ({ similarityLow, similarityHigh, count }) => {
      for (let at = 0; at < count; at++) {
        const known = !Number.isNaN(similarityLow[at]!);
        lane.low[at] = known ? similarityLow[at]! : missing;
        lane.high[at] = known ? similarityHigh[at]! : missing;
      }
    };
  }
  if (name === 'lexical') {
    return ({ lexical, count }) => {
      for (let at = 0; at < count; at++) lane.low[at] = Number.isNaN(lexical[at]!) ? missing : lexical[at]!;
    };
  }
  const column = columns.signal(name);
  return ({ rows, count }) => {
    for (let at = 0; at < count; at++) lane.low[at] = column[rows[at]!]!;
  };
}

function newLane(wide: boolean): Lane {
  const low = new Float64Array(BLOCK_SIZE);
  return { low, high: wide ? new Float64Array(BLOCK_SIZE) : low };
}

function isWide(lane: Lane): boolean {
  return lane.low !== lane.high;
}

function eachSide(lane: Lane, work: (out: Float64Array, side: 'low' | 'high') => void): void {
  work(lane.low, 'low');
  if (isWide(lane)) work(lane.high, 'high');
}
