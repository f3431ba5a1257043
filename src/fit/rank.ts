import type { ClockName } from '../domain/fields.ts';
import type { Slices } from '../domain/slices.ts';
import { nothingOf, slackOf } from '../scoring/cancelling.ts';
import { BLOCK_SIZE, type Block, type Columns, compile, compileConditions } from '../scoring/compile.ts';
import { evaluate } from '../scoring/evaluate.ts';
import { compareRanked, type Ranked } from '../scoring/order.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import { failedRequirement } from '../scoring/score.ts';
import { EXACT_SIGNALS, isQuerySignal, type SignalName, type Signals } from '../scoring/signals.ts';
import type { QuestionFeatures } from './features.ts';

/** Ranks the rows of questions by any parameters of one formula. */
export interface Ranker {
  /** Returns the best `depth` rows of each question in turn, best first, padded with −1. Runs in time slices. */
  rank(resolved: ResolvedProfile, slices: Slices): Promise<Int32Array>;
}

/**
 * Creates a ranker that works as a search does: a compiled formula bounds the scores of all rows, the rows that may be
 * among the best are evaluated, and the total order decides. The rankings are exactly those of the engine without
 * associations.
 */
export function createRanker(questions: readonly QuestionFeatures[], depth: number): Ranker {
  const most = questions.reduce((rows, { ids }) => Math.max(rows, ids.length), 0);
  const scratch = createScratch(questions, most);
  const readers = questions.map(signalReader);
  return {
    async rank(resolved, slices) {
      const formula = compile(resolved.root, scratch.columns);
      const judge = compileConditions(resolved.require, scratch.columns);
      const slack = slackOf(resolved.root);
      const nothing = nothingOf(resolved.root);
      const best = new Int32Array(questions.length * depth).fill(-1);
      const upper = new Float64Array(most);
      for (const [place, question] of questions.entries()) {
        const { now } = question;
        const rows = question.ids.length;
        const threshold = createThreshold(depth);
        const signalsOf = readers[place]!;
        scratch.load(place);
        for (let start = 0; start < rows; start += BLOCK_SIZE) {
          const block = scratch.block(question, start, Math.min(BLOCK_SIZE, rows - start));
          const verdict = judge(block);
          const { low, high } = formula.bounds(block);
          for (let at = 0; at < block.count; at++) {
            const refused = verdict[at] === 0;
            // A row with an unknown age is kept, so that the evaluation refuses it.
            upper[start + at] = refused ? -Infinity : Number.isNaN(high[at]!) ? Infinity : high[at]!;
            if (verdict[at] === 1) threshold.take(low[at]!);
          }
          const pause = slices();
          if (pause) await pause;
        }
        const least = threshold.value() - slack;
        const hits: (Ranked & { readonly row: number })[] = [];
        for (let row = 0; row < rows; row++) {
          if (upper[row]! <= nothing || upper[row]! < least) continue;
          const signals = signalsOf(row);
          if (failedRequirement(resolved, signals, now) !== undefined) continue;
          const score = evaluate(resolved.root, signals, now);
          if (score > 0) hits.push({ row, score, ...tieBreakers(question, row) });
          const pause = slices();
          if (pause) await pause;
        }
        hits.sort(compareRanked);
        for (let rank = 0; rank < Math.min(depth, hits.length); rank++) {
          best[place * depth + rank] = hits[rank]!.row;
        }
      }
      return best;
    },
  };
}

/** Returns a function that reads the signals of a row of a question. */
function signalReader({ signals, clocks, attributes }: QuestionFeatures): (row: number) => Signals {
  const numbers = [...Object.entries(signals), ...Object.entries(clocks)];
  const texts = Object.entries(attributes);
  return (row) => {
    const known: Record<string, number | string | undefined> = {};
    for (const [name, values] of numbers) {
      const value = values[row]!;
      if (!Number.isNaN(value)) known[name] = value;
    }
    for (const [name, values] of texts) known[name] = values[row];
    return known as Signals;
  };
}

function tieBreakers(question: QuestionFeatures, row: number): Omit<Ranked, 'score'> {
  const similarity = question.similarity[row]!;
  return {
    bm25: question.bm25[row]!,
    similarity: Number.isNaN(similarity) ? undefined : similarity,
    updatedAt: question.updatedAt[row]!,
    ordinal: question.ordinal[row]!,
  };
}

/** Creates the columns that a formula is compiled for. They hold one question at a time. */
function createScratch(questions: readonly QuestionFeatures[], rows: number) {
  const numbers = new Map<string, Float64Array>();
  const texts: string[] = [];
  const codeOf = new Map<string, number>();
  const attributes = new Map<string, Uint32Array>();
  const coded = questions.map(({ attributes }) =>
    Object.entries(attributes).map(([name, values]) => {
      const codes = Uint32Array.from(values, (text) => {
        const known = codeOf.get(text) ?? texts.push(text) - 1;
        codeOf.set(text, known);
        return known;
      });
      return [name, codes] as const;
    }),
  );
  const column = <Array>(columns: Map<string, Array>, name: string, make: () => Array): Array => {
    const known = columns.get(name) ?? make();
    columns.set(name, known);
    return known;
  };
  const number = (name: string) => column(numbers, name, () => new Float64Array(rows));
  const columns: Columns = {
    signal: number,
    clock: (name: ClockName) => number(name),
    attribute: (name) => ({
      codes: column(attributes, name, () => new Uint32Array(rows)),
      texts,
    }),
  };
  const unknown = new Float64Array(BLOCK_SIZE).fill(Number.NaN);
  const places = new Int32Array(BLOCK_SIZE);
  return {
    columns,
    /** Copies the stored values of a question's rows into the columns. */
    load(place: number): void {
      const { signals, clocks } = questions[place]!;
      for (const [name, values] of Object.entries(signals)) {
        if (!isQuerySignal(name as SignalName)) number(name).set(values);
      }
      for (const [name, values] of Object.entries(clocks)) number(name).set(values);
      for (const [name, codes] of coded[place]!) {
        column(attributes, name, () => new Uint32Array(rows)).set(codes);
      }
    },
    block({ signals, now }: QuestionFeatures, start: number, count: number): Block {
      for (let at = 0; at < count; at++) places[at] = start + at;
      const part = (name: SignalName) => signals[name]?.subarray(start, start + count) ?? unknown;
      const exact = Object.fromEntries(EXACT_SIGNALS.map((name) => [name, part(name)])) as Block['exact'];
      const similarity = part('similarity');
      return {
        rows: places,
        count,
        now,
        until: now,
        similarityLow: similarity,
        similarityHigh: similarity,
        exact,
      };
    },
  };
}

/** Tracks the smallest of the `depth` largest values so far; −∞ while there are fewer. */
function createThreshold(depth: number) {
  const greatest = new Float64Array(depth).fill(-Infinity);
  return {
    take(value: number): void {
      if (!(value > greatest[0]!)) return;
      let at = 1;
      for (; at < depth && greatest[at]! < value; at++) greatest[at - 1] = greatest[at]!;
      greatest[at - 1] = value;
    },
    value: () => greatest[0]!,
  };
}
