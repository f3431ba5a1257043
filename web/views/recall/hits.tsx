import { useState } from 'preact/hooks';
import type { Explanation, Hit, Recall } from '../../../src/index.ts';
import { useCell } from '../../cell.ts';
import { Chain } from '../../parts/chain.tsx';
import { beginningOf } from '../../parts/cut.ts';
import { ExplanationTree } from '../../parts/explanation.tsx';
import { MemoryFacts } from '../../parts/memory-line.tsx';
import { partNames, ScoreBar, ScoreLegend, useLit } from '../../parts/score-bar.tsx';
import { href, useRoute } from '../../router.ts';
import type { Label } from './dataset.ts';
import { label, labels } from './labels.ts';
import type { Ranking } from './ranking.ts';
import { Report } from './report.tsx';
import { recallSettings } from './request.ts';

/** The hits of a recall with the parts of their scores, and the upper bound of all other memories. */
export function Hits({
  recall: { trace, evidenceChains },
  ranking: { rows, isPreview },
  query,
}: {
  readonly recall: Recall;
  readonly ranking: Ranking;
  readonly query: string | undefined;
}) {
  const { params } = useRoute();
  const labelOf = new Map(
    rows.map(({ hit: { memory } }) => [memory.id, beginningOf(memory.title ?? memory.content, 60)]),
  );
  const names = partNames(rows.map(({ explanation }) => explanation));
  return (
    <div class={`stack ${useLit()}`}>
      <div class="row spread">
        <ScoreLegend names={names} />
        {isPreview && (
          <span class="tag warn" title="These hits, scored again here; the answer is on its way">
            preview
          </span>
        )}
      </div>
      <ol class={isPreview ? 'hits preview' : 'hits'}>
        {rows.map(({ hit, explanation }, index) => (
          <HitRow
            key={`${hit.memory.id} ${hit.relation?.id ?? ''}`}
            hit={hit}
            explanation={explanation}
            rank={index + 1}
            names={names}
            query={query}
          />
        ))}
        <li class="certificate">
          {isPreview ? (
            <span>What else is found, the answer says.</span>
          ) : (
            <span>
              {trace.completeness === 'exact'
                ? 'Everything else is below '
                : 'Probably everything else is below '}
              <b class="number">{trace.upperBound.toFixed(4)}</b>
            </span>
          )}
        </li>
      </ol>
      {evidenceChains.length > 0 && (
        <section class="stack">
          <h2 class="minor">What the hits have to do with each other</h2>
          <ul class="stack">
            {evidenceChains.map(({ ids, weight }) => (
              <li key={ids.join(' ')} class="row">
                <span class="number quiet">{weight.toFixed(2)}</span>
                <Chain texts={ids.map((id) => labelOf.get(id) ?? id)} />
                <a
                  href={href(
                    'graph',
                    { ...recallSettings(params), strategy: trace.strategy, depth: '3' },
                    ids[0],
                  )}
                >
                  In the graph
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function HitRow({
  hit,
  explanation,
  rank,
  names,
  query,
}: {
  readonly hit: Hit;
  readonly explanation: Explanation;
  readonly rank: number;
  readonly names: readonly string[];
  readonly query: string | undefined;
}) {
  const [open, setOpen] = useState(false);
  const { memory, snippet, isAssociative, viaDeepRecall, path, relation } = hit;
  return (
    <li class="hit">
      <div class="hit-score">
        <span class="quiet number">{rank}</span>
        <span class="number">{explanation.value.toFixed(4)}</span>
      </div>
      <div class="hit-body">
        <ScoreBar explanation={explanation} names={names} />
        <p class="stored clamp">{snippet ?? memory.content}</p>
        <div class="row spread hit-foot">
          <MemoryFacts memory={memory} />
          <div class="row">
            <button type="button" class="small" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? 'Hide' : 'Why this score'}
            </button>
            {isAssociative && (
              <span class="tag" title={path?.join(' → ')}>
                through links
              </span>
            )}
            {viaDeepRecall && <span class="tag warn">deep recall</span>}
            {relation && <span class="tag">relation: {relation.name}</span>}
            {query !== undefined && <LabelButtons query={query} id={memory.id} />}
          </div>
        </div>
        {open && (
          <div class="stack">
            <ExplanationTree explanation={explanation} />
            <Report hit={hit} explanation={explanation} rank={rank} query={query} />
          </div>
        )}
      </div>
    </li>
  );
}

const OF_HITS: readonly (readonly [Label, string])[] = [
  ['good', 'Good'],
  ['bad', 'Bad'],
];

function LabelButtons({ query, id }: { readonly query: string; readonly id: string }) {
  const given = useCell(labels)[query]?.[id];
  return (
    <span class="row labels">
      {OF_HITS.map(([as, title]) => (
        <button
          key={as}
          type="button"
          class={`small ${as}`}
          aria-pressed={given === as}
          title={`Label this hit as ${as} for this question`}
          onClick={() => label(query, id, as)}
        >
          {title}
        </button>
      ))}
    </span>
  );
}
