import type { EvidenceChain } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { beginningOf } from '../../parts/cut.ts';
import { Question } from '../../parts/question.tsx';
import { Failure } from '../../parts/states.tsx';
import type { GraphEdge } from './around.ts';

/** Fetches the paths between the hits of the recall in the address, without tracking. */
export function useChains(params: URLSearchParams) {
  const query = params.get('q')?.trim() || undefined;
  const strategy = params.get('strategy') ?? undefined;
  return useAsk(
    query === undefined
      ? undefined
      : async (memory, signal) => {
          const { evidenceChains } = await memory.recall(query, {
            ...(strategy === undefined ? {} : { strategy }),
            track: false,
            signal,
          });
          return evidenceChains;
        },
    [query, strategy],
  );
}

/**
 * Returns the parts of the drawing that belong to chains: ids of memories, and keys of the edges between neighbours.
 */
export function litBy(
  chains: readonly EvidenceChain[] | undefined,
  edges: readonly GraphEdge[],
): ReadonlySet<string> | undefined {
  if (!chains || chains.length === 0) return undefined;
  const lit = new Set<string>();
  for (const { ids } of chains) {
    for (const [at, id] of ids.entries()) {
      lit.add(id);
      const before = ids[at - 1];
      for (const { key, from, to } of edges) {
        if ((from === before && to === id) || (from === id && to === before)) lit.add(key);
      }
    }
  }
  return lit;
}

/** A form for a recall, and its chains as far as their memories are shown. */
export function Chains({
  asked: { answer, error, reload },
  labels,
}: {
  readonly asked: ReturnType<typeof useChains>;
  readonly labels: ReadonlyMap<string, string>;
}) {
  const shown = answer?.filter(({ ids }) => ids.every((id) => labels.has(id))) ?? [];
  return (
    <section class="stack chains">
      <h3>Evidence of a recall</h3>
      <Question placeholder="A question, whose evidence lights up" />
      {error && <Failure error={error} retry={reload} />}
      {answer && (
        <p class="quiet">
          {answer.length === 0
            ? 'No links lead from one of its hits to another.'
            : `${shown.length} of its ${answer.length} ${answer.length === 1 ? 'chain is' : 'chains are'} among what is shown.`}
        </p>
      )}
      <ul class="lines">
        {shown.map(({ ids, weight }) => (
          <li key={JSON.stringify(ids)} class="row">
            <span class="number quiet">{weight.toFixed(2)}</span>
            <span class="stored">{ids.map((id) => beginningOf(labels.get(id) ?? '', 60)).join(' → ')}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
