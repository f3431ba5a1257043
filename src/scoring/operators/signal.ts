import { scalarText, shortNumber, visible } from '../show.ts';
import { isQuerySignal, SIGNAL_NAMES, SIGNALS, type SignalName } from '../signals.ts';
import type { WordCounts } from '../word-counts.ts';
import type { Scalar } from './index.ts';
import { constantLane, isBlurred, jointLane, laneOf, loadSignal, queryLane } from './lanes.ts';
import type { Operator, Quote } from './operator.ts';

/** A number about the memory. */
export interface SignalExpression {
  readonly op: 'signal';
  readonly name: SignalName;
  /** Its value when unknown. Default is that of the signal. */
  readonly missing?: Scalar | undefined;
}

export interface SignalNode {
  readonly op: 'signal';
  readonly path: string;
  readonly name: SignalName;
  readonly missing: number;
}

export interface Known {
  readonly name: string;
  readonly defaulted?: boolean;
  /** For a word signal: the counts that it was computed from. */
  readonly words?: WordCounts;
}

export const signal: Operator<SignalExpression, SignalNode, Known> = {
  name: 'signal',
  keys: { name: 'other', missing: 'scalar' },
  resolve(expression, path, resolver) {
    const name = resolver.oneOf('signal', expression.name, SIGNAL_NAMES, `${path}.name`);
    const missing = resolver.scalar(expression.missing ?? SIGNALS[name].otherwise, `${path}.missing`);
    const [low, high] = SIGNALS[name].range;
    if (missing < low || missing > high)
      throw resolver.fault(`${path}.missing`, `${missing} is not within ${low} and ${high}`);
    return { op: 'signal', name, missing, path };
  },
  formula: ({ name, missing }) =>
    missing === undefined ? visible(name) : `${visible(name)} or ${scalarText(missing)}`,
  isLoose: ({ missing }) => missing !== undefined,
  children: () => [],
  reads: ({ name }) => [name],
  evaluate: (node, walk) => walk.leaf(node, walk.signals[node.name] ?? node.missing),
  combine: () => Number.NaN,
  takes: (inputs) => inputs === 0,
  detail({ name }, _, { signals, words }) {
    if (signals[name] === undefined) return { name, defaulted: true };
    const counts = words?.[name];
    return counts ? { name, words: counts } : { name };
  },
  interval: ({ name, missing }, intervals) => intervals.signal(name, missing),
  compile({ name, missing }, compilation) {
    const {
      columns,
      facts: { known, block },
    } = compilation;
    const isKnown = known(name);
    if (isKnown === false) return constantLane(missing);
    if (isKnown && block && isQuerySignal(name)) return queryLane(block, name);
    if (isBlurred(name)) return jointLane(compilation, (sides) => loadSignal(columns, name, missing, sides));
    return laneOf(compilation, false, (_, out) =>
      loadSignal(columns, name, missing, { low: out, high: out }),
    );
  },
  label: ({ detail }) => detail.name,
  line: ({ detail }, quote) => ({
    words: `${quote(detail.name ?? '?')}${detail.defaulted ? ' (unknown, defaulted)' : ''}`,
    branches: [],
    note: detail.words && wordsNote(detail.words, quote),
  }),
};

/** Formats each word with its count and what the neighbours add: `coffee 2 + 0.6 · pyhton → python –`. */
function wordsNote({ terms, unknown }: WordCounts, quote: Quote): string {
  const asked = new Map(unknown.map(({ term, word }) => [term, word]));
  const words = terms.map(({ word, insteadOf, count, frequency }) => {
    const around = frequency > count ? shortNumber(Number((frequency - count).toFixed(2))) : undefined;
    const shown = [...(count > 0 ? [String(count)] : []), ...(around === undefined ? [] : [`+ ${around}`])];
    const name = insteadOf === undefined ? word : `${asked.get(insteadOf) ?? insteadOf} → ${word}`;
    return `${quote(name)} ${shown.join(' ') || '–'}`;
  });
  return words.join(' · ');
}
