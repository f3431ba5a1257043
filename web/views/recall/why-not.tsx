import { useEffect, useState } from 'preact/hooks';
import type { WhyNot } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { ExplanationTree } from '../../parts/explanation.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { href, setParams, useRoute } from '../../router.ts';
import { label, labels } from './labels.ts';
import type { Asking } from './request.ts';

/** Explains why a memory is not a hit: the stage that dropped it, and what would include it. */
export function WhyNotPanel({ asking, asked }: { readonly asking: Asking; readonly asked: string }) {
  const { params } = useRoute();
  const id = params.get('whyNot') ?? '';
  const [typed, setTyped] = useState(id);
  // The address may change without this field, such as by a link.
  useEffect(() => setTyped(id), [id]);
  const options = { query: asking.query, ...asking.options };
  const { answer, error, pending, reload } = useAsk(
    id === ''
      ? undefined
      : (memory, signal) =>
          Promise.all([
            memory.whyNot(id, { ...options, signal }),
            memory.explain(id, { ...options, signal }),
            memory.get(id, { signal }),
          ]),
    [id, asked],
  );
  // The memory can be found by words, or named by its id.
  const found = useAsk(
    typed.trim() === '' || typed === id
      ? undefined
      : (memory, signal) =>
          memory.recall(typed, { strategy: 'hybrid', limit: 6, track: false, deep: true, signal }),
    [typed],
  );
  return (
    <div class="stack">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setParams({ whyNot: typed.trim() });
        }}
      >
        <label class="field">
          <span>The memory that you expected: words of it, or its id</span>
          <input
            type="text"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
            placeholder="words, or an id and Enter"
          />
        </label>
        {typed !== id && (
          <ul class="choices">
            {found.answer?.hits.map(({ memory }) => (
              <li key={memory.id}>
                <button
                  type="button"
                  onClick={() => {
                    setTyped(memory.id);
                    setParams({ whyNot: memory.id });
                  }}
                >
                  <span class="stored clamp">{memory.content}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </form>
      {error ? (
        <Failure error={error} retry={reload} />
      ) : answer ? (
        <div class="stack outdated" aria-busy={pending}>
          {answer[2] && (
            <blockquote>
              <a class="stored clamp" href={href('memories', {}, answer[2].id)}>
                {answer[2].content}
              </a>
            </blockquote>
          )}
          <Verdict why={answer[0]} query={asking.query} />
          <ExplanationTree explanation={answer[1].explanation} />
        </div>
      ) : (
        id !== '' && <Loading />
      )}
    </div>
  );
}

function Verdict({ why, query }: { readonly why: WhyNot; readonly query: string | undefined }) {
  const { id, outcome, stage, score, needed, changes, message } = why;
  const given = useCell(labels)[query ?? '']?.[id];
  return (
    <div class="card pad stack">
      <div class="row">
        <span class={`tag ${outcome === 'returned' ? 'good' : 'warn'}`}>{outcome}</span>
        {stage && <span class="tag">at {stage}</span>}
        {score !== undefined && <span class="number">score {score.toFixed(4)}</span>}
        {needed !== undefined && <span class="number quiet">needed above {needed.toFixed(4)}</span>}
      </div>
      <p class="stored">{message}</p>
      {changes.length > 0 && (
        <>
          <h2 class="minor">Each of these alone would lift its score high enough</h2>
          <ul class="stack">
            {changes.map((change) => (
              <li key={change.signal}>
                <code>{change.signal}</code> from <b class="number">{told(change.from)}</b> to{' '}
                <b class="number">{told(change.to)}</b>
              </li>
            ))}
          </ul>
        </>
      )}
      {query !== undefined && outcome !== 'returned' && (
        <div>
          <button
            type="button"
            class="small"
            aria-pressed={given === 'missing'}
            onClick={() => label(query, id, 'missing')}
          >
            It should have been here
          </button>
        </div>
      )}
    </div>
  );
}

function told(value: number | string | undefined): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(4))) : (value ?? 'unknown');
}
