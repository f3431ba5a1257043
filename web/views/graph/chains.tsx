import { unknown } from '../../../src/domain/options.ts';
import type { EvidenceChain } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { Chain } from '../../parts/chain.tsx';
import { beginningOf } from '../../parts/cut.ts';
import { Question } from '../../parts/question.tsx';
import { Failure } from '../../parts/states.tsx';
import { useRoute } from '../../router.ts';
import { askingOf, questionOf, recallSettings } from '../recall/request.ts';
import type { GraphEdge } from './around.ts';

/** Fetches the paths between the hits of the recall in the address, without tracking. */
export function useChains(params: URLSearchParams) {
  const asked = JSON.stringify(recallSettings(params));
  const name = params.get('strategy') ?? 'hybrid';
  return useAsk(
    questionOf(params) === undefined && !params.has('strategy')
      ? undefined
      : async (memory, signal) => {
          const strategies = await memory.strategies({ signal });
          const strategy = strategies.find((each) => each.name === name);
          if (!strategy) {
            const names = strategies.map((each) => each.name);
            throw new Error(unknown('strategy', name, names));
          }
          const { query, options } = askingOf(params, strategy);
          // Without a question there is nothing to ask, unless the strategy takes none.
          if (query === undefined && strategy.takesQuery) return undefined;
          const { evidenceChains } = await memory.recall(query, { ...options, signal });
          return evidenceChains;
        },
    [asked],
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
  const { q, ...settings } = recallSettings(useRoute().params);
  const narrowed = Object.entries(settings).map(([name, value]) => `${name.replace(/^p\./, '')}=${value}`);
  const shown = answer?.filter(({ ids }) => ids.every((id) => labels.has(id))) ?? [];
  return (
    <section class="stack chains">
      <h3>Evidence of a recall</h3>
      <Question placeholder="A question, whose evidence lights up" />
      {answer && narrowed.length > 0 && <p class="quiet stored">Asked with {narrowed.join(', ')}.</p>}
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
            <Chain texts={ids.map((id) => beginningOf(labels.get(id) ?? '', 60))} />
          </li>
        ))}
      </ul>
    </section>
  );
}
