import type { Context } from '../../../src/index.ts';

export type ShownContext = Context | Context<'ambient'>;

interface Part {
  readonly name: string;
  readonly tokens: number;
  readonly colour: string;
}

/** The token budget as a bar, filled by the sections of the context and by the markup around the memories. */
export function BudgetBar({ context }: { readonly context: ShownContext }) {
  const { tokens, maxTokens } = context;
  const parts = partsOf(context);
  const free = maxTokens - tokens;
  const percent = (part: number) => `${(part / maxTokens) * 100}%`;
  return (
    <figure class="stack">
      <div
        class="bar budget-bar"
        role="img"
        aria-label={`${tokens} of ${maxTokens} tokens: ${parts.map((part) => `${part.name} ${part.tokens}`).join(', ')}`}
      >
        {parts.map(({ name, tokens: taken, colour }) => (
          <i key={name} class={colour} style={{ width: percent(taken) }} title={`${name}: ${taken} tokens`} />
        ))}
      </div>
      <figcaption class="legend">
        <b>
          {tokens.toLocaleString('en')} of {maxTokens.toLocaleString('en')} tokens
        </b>
        {parts.map(({ name, tokens: taken, colour }) => (
          <span key={name} class="row">
            <i class={colour} />
            {name} <span class="number quiet">{taken.toLocaleString('en')}</span>
          </span>
        ))}
        <span class="quiet">{free.toLocaleString('en')} free</span>
      </figcaption>
    </figure>
  );
}

/** Returns the colour class of a section, by its position in the context. */
export function colourOf(sections: readonly string[], section: string): string {
  return `p${sections.indexOf(section) % 7}`;
}

export function sectionsOf(items: ShownContext['items']): readonly string[] {
  return [...new Set(items.map(({ section }) => section))];
}

function partsOf({ items, tokens }: ShownContext): readonly Part[] {
  const sections = sectionsOf(items);
  const parts = sections.map((name): Part => {
    const own = items.filter(({ section }) => section === name);
    return {
      name,
      tokens: own.reduce((sum, item) => sum + item.tokens, 0),
      colour: colourOf(sections, name),
    };
  });
  const around = tokens - parts.reduce((sum, part) => sum + part.tokens, 0);
  return around > 0 ? [...parts, { name: 'frame', tokens: around, colour: 'p7' }] : parts;
}
