import type { Explanation } from '../../src/index.ts';
import { type ScorePart, scoreParts } from '../../src/scoring/parts.ts';
import { cell, useCell } from '../cell.ts';

/** The part under the pointer or the focus. Every bar of the page highlights it. */
const lit = cell<string | undefined>(undefined);

const COLOURS = 8;

/** A score, 0–1, as a bar made of its parts. Negative parts are not drawn. */
export function ScoreBar({
  explanation,
  names,
}: {
  readonly explanation: Explanation;
  /** The names of the parts of all bars in the list, in the order of their colours. */
  readonly names: readonly string[];
}) {
  const on = useCell(lit);
  const parts = scoreParts(explanation);
  return (
    <div
      class="bar"
      role="img"
      aria-label={parts.map(({ name, value }) => `${name} ${value.toFixed(3)}`).join(', ')}
    >
      {parts.map(({ name, value }, index) => (
        <i
          key={`${name} ${index}`}
          class={`${colourOf(names, name)} ${on === name ? 'on' : ''}`}
          style={{ width: `${Math.max(0, value) * 100}%` }}
          title={`${name} ${value.toFixed(4)}`}
          onMouseEnter={() => lit.set(name)}
          onMouseLeave={() => lit.set(undefined)}
        />
      ))}
    </div>
  );
}

/** The legend of the colours of the bars. */
export function ScoreLegend({ names }: { readonly names: readonly string[] }) {
  const on = useCell(lit);
  return (
    <div class="legend">
      {names.map((name) => (
        <button
          key={name}
          type="button"
          class={on === name ? 'on' : ''}
          onMouseEnter={() => lit.set(name)}
          onMouseLeave={() => lit.set(undefined)}
          onFocus={() => lit.set(name)}
          onBlur={() => lit.set(undefined)}
        >
          <i class={colourOf(names, name)} />
          {name}
        </button>
      ))}
    </div>
  );
}

/** Returns the class for the container of bars and legend, which dims the parts that are not highlighted. */
export function useLit(): string {
  return useCell(lit) === undefined ? '' : 'lit';
}

/** Returns the names of the parts of several scores, each once. */
export function partNames(explanations: readonly Explanation[]): readonly string[] {
  return [...new Set(explanations.flatMap((each) => scoreParts(each).map(({ name }: ScorePart) => name)))];
}

function colourOf(names: readonly string[], name: string): string {
  return `p${Math.max(0, names.indexOf(name)) % COLOURS}`;
}
