import type { Recall } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { href } from '../../router.ts';
import type { Asking } from './request.ts';

/** Lists the memories that would be hits without the relevance floor. */
export function Floor({
  asking: { query, options },
  asked,
  recall,
}: {
  readonly asking: Asking;
  readonly asked: string;
  readonly recall: Recall;
}) {
  const { minRelevance, ...rest } = options;
  const { answer, error, reload } = useAsk(
    async (memory, signal) => ({ asked, hits: (await memory.recall(query, { ...rest, signal })).hits }),
    [asked],
  );
  const kept = new Set(recall.hits.map(({ memory }) => memory.id));
  // The answer to another question says nothing about these hits.
  const hits = answer?.asked === asked ? answer.hits : undefined;
  const left = hits?.filter(({ memory }) => !kept.has(memory.id));
  return (
    <section class="stack">
      <h2 class="minor">
        Left out by the floor of relevance
        {recall.trace.minRelevance !== undefined && ` (${recall.trace.minRelevance.toFixed(3)})`}
      </h2>
      {error ? (
        <Failure error={error} retry={reload} />
      ) : !left ? (
        <Loading />
      ) : left.length === 0 ? (
        <p class="quiet">Nothing: every hit reaches it.</p>
      ) : (
        <ul class="stack left-out">
          {left.map(({ memory, snippet, features }) => (
            <li key={memory.id} class="row">
              <span class="number quiet" title="relevance">
                {(features['relevance'] ?? 0).toFixed(3)}
              </span>
              <a class="stored" href={href('memories', {}, memory.id)}>
                {snippet ?? memory.content}
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
