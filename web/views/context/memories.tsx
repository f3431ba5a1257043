import { useState } from 'preact/hooks';
import { useAsk } from '../../api.ts';
import { All } from '../../parts/all.tsx';
import { Failure } from '../../parts/states.tsx';
import { href } from '../../router.ts';
import { colourOf, type ShownContext, sectionsOf } from './budget-bar.tsx';

const PAGE = 20;

/** The memories of a context by section, in the order in which the model reads them. */
export function Inside({ items }: { readonly items: ShownContext['items'] }) {
  const sections = sectionsOf(items);
  return (
    <section class="stack">
      <h2>
        In it <span class="quiet">{items.length}</span>
      </h2>
      {sections.map((section) => (
        <div key={section}>
          <h3 class="row">
            <i class={`swatch ${colourOf(sections, section)}`} /> {section}
          </h3>
          <ol class="lines context-list">
            {items
              .filter((item) => item.section === section)
              .map(({ id, number, memory, score, tokens }) => (
                <li key={id}>
                  <span class="number quiet">{number}</span>
                  <a class="stored clamp" href={href('memories', {}, id)}>
                    {memory.title ? `${memory.title}: ${memory.content}` : memory.content}
                  </a>
                  <span class="number quiet" title={`score ${score.value.toFixed(4)}`}>
                    {tokens} tok
                  </span>
                </li>
              ))}
          </ol>
        </div>
      ))}
      {items.length === 0 && <p class="quiet">Nothing fits.</p>}
    </section>
  );
}

/** The candidates that were left out, with the reasons. */
export function Outside({ omitted }: { readonly omitted: ShownContext['omitted'] }) {
  const [count, setCount] = useState(PAGE);
  const shown = omitted.slice(0, count);
  const ids = shown.map(({ id }) => id);
  const { answer, error } = useAsk(
    (memory, signal) => Promise.all(ids.map((id) => memory.get(id, { signal }))),
    [JSON.stringify(ids)],
  );
  const texts = new Map(answer?.map((memory) => [memory?.id, memory?.title ?? memory?.content]));
  return (
    <section class="stack">
      <h2>
        Left out <span class="quiet">{omitted.length}</span>
      </h2>
      {omitted.length === 0 && <p class="quiet">Nothing: all that was found is in it.</p>}
      {error && <Failure error={error} />}
      <ul class="lines context-list out">
        {shown.map(({ id, message, reason }) => (
          <li key={id}>
            <span class="tag">{reason}</span>
            <div>
              <a class="stored clamp" href={href('memories', {}, id)}>
                {texts.get(id) ?? id}
              </a>
              <span class="quiet stored">{message}</span>
            </div>
          </li>
        ))}
      </ul>
      {omitted.length > count ? (
        <button type="button" onClick={() => setCount(count + PAGE)}>
          Show more
        </button>
      ) : (
        count > PAGE && <All />
      )}
    </section>
  );
}
