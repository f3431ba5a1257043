import { useRef } from 'preact/hooks';
import type { Recall } from '../../../src/index.ts';
import { TextDifference } from '../../parts/difference.tsx';
import { Move } from '../../parts/move.tsx';
import { href } from '../../router.ts';

type Hits = Recall['hits'];

interface Shown {
  readonly query: string | undefined;
  readonly hits: Hits;
}

/** Shows an answer with the hits that are new, gone, moved or reworded since the previous one. */
export function Changes({ query, hits }: Shown) {
  const now = useRef<Shown | undefined>(undefined);
  const before = useRef<Shown | undefined>(undefined);
  if (now.current?.hits !== hits) {
    before.current = now.current;
    now.current = { query, hits };
  }
  // Not compared with the answer to another question, where everything would be new.
  const earlier = before.current?.query === query ? before.current?.hits : undefined;
  const present = new Set(hits.map(({ memory }) => memory.id));
  const gone = earlier?.filter(({ memory }) => !present.has(memory.id)) ?? [];
  if (hits.length === 0 && gone.length === 0) return <p class="quiet">Nothing was found at that moment.</p>;
  return (
    <ol class="lines ranked moments">
      {hits.map(({ memory, score }, index) => {
        const place = earlier?.findIndex((each) => each.memory.id === memory.id);
        const was = place === undefined || place < 0 ? undefined : earlier?.[place]?.memory.content;
        return (
          <li key={memory.id} class={place === -1 ? 'came' : ''}>
            <span class="number quiet">{index + 1}</span>
            {was !== undefined && was !== memory.content ? (
              <TextDifference before={was} after={memory.content} />
            ) : (
              <a class="stored clamp" href={href('memories', {}, memory.id)}>
                {memory.title ? `${memory.title}: ${memory.content}` : memory.content}
              </a>
            )}
            <span class="number quiet">{score.value.toFixed(3)}</span>
            <Move from={place} to={index} />
          </li>
        );
      })}
      {gone.map(({ memory }) => (
        <li key={memory.id} class="went">
          <span />
          <a class="stored clamp" href={href('memories', {}, memory.id)}>
            {memory.title ? `${memory.title}: ${memory.content}` : memory.content}
          </a>
          <span />
          <Move from={undefined} to={-1} />
        </li>
      ))}
    </ol>
  );
}
