/**
 * Solves the 0/1 knapsack problem: choose items with the highest total value within a weight and a number of items.
 *
 * 1. A Lagrangian relaxation prices weight (μ) and places (λ). For any μ, λ ≥ 0, no choice has a higher value than L =
 * Σ max(0, value − μ·weight − λ) + μ·capacity + λ·most.
 * 2. An item has the reduced value r = value − μ·weight − λ. Deciding it against the sign of r lowers that bound by
 * |r|. If the bound is then no higher than the value of a known choice, the item is decided (Dembo and Hammer, 1980).
 * 3. Dynamic programming over the weight decides the few items that are left, the core (Kellerer, Pferschy and
 * Pisinger, Knapsack Problems, 2004, chapters 2 and 5).
 */

export interface Knapsack {
  /** Finite, ≥ 0. */
  readonly values: readonly number[];
  /** Whole, ≥ 0, as many as values. */
  readonly weights: readonly number[];
  /** Whole, ≥ 0. */
  readonly capacity: number;
  /** The most items that may be taken. Default is all. */
  readonly most?: number | undefined;
  /** The most cells of the dynamic programming table. Beyond that, weights are rounded to a coarser unit. */
  readonly maxCells?: number | undefined;
  /**
   * How many items are tried first, to find a choice good enough to decide nearly all others. Affects only the time
   * taken, not the value of the answer.
   */
  readonly firstCore?: number | undefined;
}

export interface KnapsackChoice {
  /** Whether each item is taken. */
  readonly taken: readonly boolean[];
  /**
   * No choice is worth more than this one plus `lossBound`; 0 means that this one is the best. Values are rounded to a
   * fraction of the highest value that fits: 2⁻³³ for 300 items, 2⁻²⁵ for 5,000.
   */
  readonly lossBound: number;
}

/** Sixteen million: some tens of milliseconds. 300 items by 8,000 units of weight are 2.4 million. */
const MAX_CELLS = 1 << 24;

const FIRST_CORE = 32;
/** A coarse table is enough to find a good choice. */
const FIRST_CELLS = 1 << 19;

interface Problem {
  /** Whole numbers whose sums are exact. */
  readonly values: Float64Array;
  readonly weights: Int32Array;
  readonly capacity: number;
  readonly most: number;
}

interface Choice {
  readonly taken: Uint8Array;
  readonly value: number;
}

interface Relaxation {
  readonly bound: number;
  /** value − μ·weight − λ of every item. */
  readonly reduced: Float64Array;
  /** Items by the worth of their weight, best first. */
  readonly order: readonly number[];
}

/**
 * Finds the best choice. Of items with equal value and weight, earlier ones are preferred; the same items in the same
 * order always give the same choice. Taking items in their order and skipping those that do not fit is never better,
 * not even if `lossBound` is above 0.
 */
export function solveKnapsack(knapsack: Knapsack): KnapsackChoice {
  const fitting = [...knapsack.weights.keys()].filter((item) => knapsack.weights[item]! <= knapsack.capacity);
  const highest = fitting.reduce((most, item) => Math.max(most, knapsack.values[item]!), 0);
  const taken = knapsack.values.map(() => false);
  if (highest === 0) return { taken, lossBound: 0 };
  // Whole numbers are summed without rounding. The bound is below n·2^bits, so n additions to it round by less than
  // n²·2^(bits − 53), which must stay below a quarter.
  const bits = Math.max(0, Math.min(40, 2 * Math.clz32(fitting.length) - 13));
  const unit = highest / 2 ** bits;
  const problem: Problem = {
    values: Float64Array.from(fitting, (item) => Math.round(knapsack.values[item]! / unit)),
    weights: Int32Array.from(fitting, (item) => knapsack.weights[item]!),
    capacity: knapsack.capacity,
    most: Math.min(knapsack.most ?? fitting.length, fitting.length),
  };
  const { choice, gap } = solve(problem, knapsack.firstCore ?? FIRST_CORE, knapsack.maxCells ?? MAX_CELLS);
  for (const [at, item] of fitting.entries()) taken[item] = choice.taken[at] === 1;
  preferEarlier(taken, knapsack);
  return { taken, lossBound: gap * unit };
}

function solve(
  problem: Problem,
  firstCore: number,
  maxCells: number,
): { readonly choice: Choice; readonly gap: number } {
  const everything = problem.values.map((_, item) => item);
  let best = fill(problem, everything);
  if (best.taken.every((each) => each === 1)) return { choice: best, gap: 0 };
  const relaxation = relax(problem);
  best = better(best, fill(problem, relaxation.order));
  const closest = [...everything].sort(
    (a, b) => Math.abs(relaxation.reduced[a]!) - Math.abs(relaxation.reduced[b]!) || a - b,
  );
  best = better(
    best,
    decide(problem, relaxation, closest.slice(0, firstCore), Math.min(maxCells, FIRST_CELLS)).choice,
  );
  // Values are whole, so a better choice is better by at least 1. The half allows for rounding of the bound.
  const core = closest.filter(
    (item) => relaxation.bound - Math.abs(relaxation.reduced[item]!) >= best.value + 0.5,
  );
  if (core.length === 0) return { choice: best, gap: 0 };
  const { choice, exact } = decide(problem, relaxation, core, maxCells);
  best = better(best, choice);
  return { choice: best, gap: exact ? 0 : Math.max(0, Math.floor(relaxation.bound + 0.5) - best.value) };
}

/** Takes items in the given order, skipping those that do not fit. */
function fill(problem: Problem, order: Iterable<number>, from?: Uint8Array): Choice {
  const taken = from?.slice() ?? new Uint8Array(problem.values.length);
  let value = 0;
  let room = problem.capacity;
  let places = problem.most;
  for (let item = 0; item < taken.length; item++) {
    if (taken[item] === 0) continue;
    value += problem.values[item]!;
    room -= problem.weights[item]!;
    places -= 1;
  }
  if (room < 0 || places < 0) return { taken, value: Number.NEGATIVE_INFINITY };
  for (const item of order) {
    if (taken[item] === 1 || problem.weights[item]! > room || places === 0) continue;
    taken[item] = 1;
    value += problem.values[item]!;
    room -= problem.weights[item]!;
    places -= 1;
  }
  return { taken, value };
}

function better(a: Choice, b: Choice): Choice {
  return b.value > a.value ? b : a;
}

/** Finds the prices of weight and places with the lowest bound. */
function relax(problem: Problem): Relaxation {
  let { relaxation, places } = relaxAt(problem, 0);
  if (places <= problem.most) return relaxation;
  let low = 0;
  let high = problem.values.reduce((most, value) => Math.max(most, value), 0);
  for (let step = 0; step < 24; step++) {
    const middle = (low + high) / 2;
    const tried = relaxAt(problem, middle);
    if (tried.relaxation.bound < relaxation.bound) relaxation = tried.relaxation;
    ({ places } = tried);
    if (places > problem.most) low = middle;
    else high = middle;
  }
  return relaxation;
}

/** Finds the weight price with the lowest bound for one price of a place, and how many places that choice takes. */
function relaxAt(problem: Problem, placePrice: number): { relaxation: Relaxation; places: number } {
  const { values, weights, capacity, most } = problem;
  const worth = values.map((value, item) => (value - placePrice) / weights[item]!);
  const order = [...worth.keys()].sort((a, b) => worth[b]! - worth[a]! || a - b);
  let room = capacity;
  let places = 0;
  let weightPrice = 0;
  for (const item of order) {
    if (values[item]! <= placePrice) break;
    if (weights[item]! > room) {
      weightPrice = worth[item]!;
      places += room / weights[item]!;
      break;
    }
    room -= weights[item]!;
    places += 1;
  }
  const reduced = values.map((value, item) => value - weightPrice * weights[item]! - placePrice);
  const bound = reduced.reduce((sum, each) => sum + Math.max(0, each), 0);
  return {
    relaxation: { bound: bound + weightPrice * capacity + placePrice * most, reduced, order },
    places,
  };
}

/** Finds the best choice when all items except `core` are decided by the sign of their reduced value. */
function decide(
  problem: Problem,
  { reduced, order }: Relaxation,
  core: readonly number[],
  maxCells: number,
): { readonly choice: Choice; readonly exact: boolean } {
  const taken = Uint8Array.from(reduced, (each) => (each > 0 ? 1 : 0));
  for (const item of core) taken[item] = 0;
  let room = problem.capacity;
  let places = problem.most;
  for (let item = 0; item < taken.length; item++) {
    if (taken[item] === 0) continue;
    room -= problem.weights[item]!;
    places -= 1;
  }
  if (room < 0 || places < 0) return { choice: { taken, value: Number.NEGATIVE_INFINITY }, exact: true };
  if (places === 0) return { choice: fill(problem, [], taken), exact: true };
  const whole = core.reduce((sum, item) => sum + problem.weights[item]!, 0);
  room = Math.min(room, whole);
  const layers = places < core.length ? places + 1 : 1;
  // Coarser weights are rounded up, so whatever fits by them really fits.
  const grain = Math.max(1, Math.ceil(((room + 1) * layers * core.length) / maxCells));
  const weights = core.map((item) => Math.ceil(problem.weights[item]! / grain));
  const values = core.map((item) => problem.values[item]!);
  for (const at of chooseByTable(values, weights, Math.floor(room / grain), layers)) taken[core[at]!] = 1;
  return { choice: fill(problem, order, taken), exact: grain === 1 };
}

/**
 * Solves by dynamic programming: best[layer][room] is the highest value of the items so far within that room, taking at
 * most `layer` of them (with one layer: any number). Returns the items of the best choice.
 */
function chooseByTable(
  values: readonly number[],
  weights: readonly number[],
  room: number,
  layers: number,
): readonly number[] {
  const width = room + 1;
  const best = new Float64Array(width * layers);
  const took = new Uint8Array(values.length * width * layers);
  const below = layers > 1 ? width : 0;
  let later = weights.reduce((sum, weight) => sum + weight, 0);
  for (let item = 0; item < values.length; item++) {
    const weight = weights[item]!;
    const value = values[item]!;
    later -= weight;
    // Later items cannot leave less room than this, so no smaller room is read again.
    const least = Math.max(weight, room - later);
    for (let layer = layers - 1; layer >= Math.min(1, layers - 1); layer--) {
      const start = layer * width;
      const row = (item * layers + layer) * width;
      const from = start - below - weight;
      for (let at = room; at >= least; at--) {
        const taking = best[from + at]! + value;
        if (taking > best[start + at]!) {
          best[start + at] = taking;
          took[row + at] = 1;
        }
      }
    }
  }
  const chosen: number[] = [];
  let layer = layers - 1;
  let at = room;
  for (let item = values.length - 1; item >= 0; item--) {
    if (took[(item * layers + layer) * width + at] === 0) continue;
    chosen.push(item);
    at -= weights[item]!;
    if (layers > 1) layer -= 1;
  }
  return chosen;
}

/** Of equal items, takes the earlier ones. */
function preferEarlier(taken: boolean[], { values, weights }: Knapsack): void {
  const groups = new Map<string, number[]>();
  for (const [item, value] of values.entries()) {
    const key = `${value} ${weights[item]}`;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  for (const group of groups.values()) {
    const count = group.filter((item) => taken[item]).length;
    for (const [at, item] of group.entries()) taken[item] = at < count;
  }
}
