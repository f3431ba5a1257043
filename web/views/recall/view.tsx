import './recall.css';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { unknown } from '../../../src/domain/options.ts';
import type { Recall, StrategyDescription } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { useCommands } from '../../palette.tsx';
import { CopyAs } from '../../parts/copy-as.tsx';
import { Question } from '../../parts/question.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { TypedInput } from '../../parts/typed-input.tsx';
import { Unread } from '../../parts/unread.tsx';
import { setParams, useRoute } from '../../router.ts';
import { Compare } from './compare.tsx';
import { Floor } from './floor.tsx';
import { Hits } from './hits.tsx';
import { Labelled } from './labelled.tsx';
import { Parameters, UnreadParameters } from './parameters.tsx';
import { type Ranking, rankingOf } from './ranking.ts';
import { type Asking, askingOf, BESIDE, limitOf, OWN, questionOf, unset } from './request.ts';
import { Waterfall } from './trace.tsx';
import { WhyNotPanel } from './why-not.tsx';

const TABS = [
  ['hits', 'Hits'],
  ['why-not', 'Why not'],
  ['compare', 'Side by side'],
  ['trace', 'Trace'],
  ['labels', 'Labels'],
  ['formula', 'Formula'],
] as const;

export default function RecallView() {
  const { params } = useRoute();
  const {
    answer: strategies,
    error: failed,
    reload,
  } = useAsk((memory, signal) => memory.strategies({ signal }), []);
  const wanted = params.get('strategy') ?? 'hybrid';
  const strategy = strategies?.find(({ name }) => name === wanted);
  const asking = askingOf(params, strategy);
  const asked = JSON.stringify(asking);
  const ready = strategy !== undefined && (asking.query !== undefined || !strategy.takesQuery);
  const recall = useAsk(
    ready
      ? async (memory, signal) => ({
          asking,
          recall: await memory.recall(asking.query, { ...asking.options, signal }),
        })
      : undefined,
    [asked, ready],
  );
  const answer = recall.answer?.recall;
  const ranking = useMemo(
    () => recall.answer && strategy && rankingOf(recall.answer, asking, strategy),
    [recall.answer, asked, strategy],
  );
  const tab = TABS.find(([name]) => name === params.get('tab'))?.[0] ?? 'hits';
  useCommands(
    TABS.map(([name, title]) => ({ title, group: 'Recall', run: () => setParams({ tab: name }) })),
    [],
  );
  if (failed) return <Failure error={failed} retry={reload} />;
  if (!strategies) return <Loading />;
  const names = strategies.map(({ name }) => name);
  const choice = (
    <select
      aria-label="Strategy"
      value={strategy?.name ?? ''}
      onChange={(event) => {
        const next = event.currentTarget.value;
        // No strategy stands beside itself.
        const beside = params.get('against') === next ? { ...unset(params, BESIDE), against: undefined } : {};
        setParams({ ...unset(params, OWN), ...beside, strategy: next, floor: undefined });
      }}
    >
      {!strategy && <option value="">Choose a strategy</option>}
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
  if (!strategy) {
    return (
      <div class="recall">
        <div class="view-head">
          <h1>Recall</h1>
          {choice}
        </div>
        <Failure error={new Error(unknown('strategy', wanted, names))} />
      </div>
    );
  }
  const fields = { query: asking.query, ...asking.options };
  // When comparing, the other strategy may take a query.
  const takesQuery = strategy.takesQuery || tab === 'compare';
  return (
    <div class="recall">
      <div class="view-head">
        <h1>Recall</h1>
        <CopyAs verb="recall" fields={fields} answer={answer && plain(answer)} />
      </div>
      <search class="asking">
        <Question
          autofocus
          placeholder={takesQuery ? 'Ask as an agent would' : `${strategy.name} takes no question`}
          disabled={!takesQuery}
        />
        {choice}
      </search>
      <Unread what="tab" value={params.get('tab')} known={TABS.map(([name]) => name)} instead={tab} />
      <Unread what="choice of deep" value={params.get('deep')} known={['true', 'false']} instead="false" />
      {limitOf(params) === 'unread' && (
        <p class="failure-text" role="alert">
          Most hits: write a whole number of 1 or more, such as {strategy.limit}. Until then the strategy’s
          own limit holds.
        </p>
      )}
      {params.get('floor') && !strategy.takesFloor && (
        <p class="failure-text stored" role="alert">
          In the address: floor={params.get('floor')}. {strategy.name} takes no floor of relevance, and none
          holds.
        </p>
      )}
      <UnreadParameters strategy={strategy} prefix={OWN} />
      <div class="recall-columns">
        <aside class="stack controls" aria-label="Settings of the recall">
          <p class="quiet">{strategy.description}</p>
          <details class="stack" open={innerWidth > 960}>
            <summary>Parameters</summary>
            <Parameters strategy={strategy} prefix={OWN} />
          </details>
          <details class="stack">
            <summary>Narrow</summary>
            <Narrow params={params} strategy={strategy} />
          </details>
        </aside>
        <section class="stack answer" aria-busy={recall.pending}>
          <div class="tabs" role="tablist" aria-label="What to see of the recall">
            {TABS.map(([name, title]) => (
              <button
                key={name}
                type="button"
                role="tab"
                aria-selected={tab === name}
                onClick={() => setParams({ tab: name === 'hits' ? undefined : name })}
              >
                {title}
              </button>
            ))}
          </div>
          {tab === 'compare' ? (
            <Compare query={questionOf(params)} options={asking.options} strategies={strategies} />
          ) : tab === 'labels' ? (
            <Labelled recall={answer} query={asking.query} strategy={strategy} />
          ) : tab === 'formula' ? (
            <pre class="card pad formula">{strategy.formula}</pre>
          ) : (
            <Answered recall={answer} error={recall.error} pending={recall.pending} retry={recall.reload}>
              {tab === 'why-not' ? (
                <WhyNotPanel asking={asking} asked={asked} />
              ) : tab === 'trace' ? (
                answer && <Waterfall trace={answer.trace} />
              ) : (
                answer &&
                ranking && <Answer asking={asking} asked={asked} recall={answer} ranking={ranking} />
              )}
            </Answered>
          )}
        </section>
      </div>
    </div>
  );
}

/** Shows the children, or a placeholder while there is no answer. */
function Answered({
  recall,
  error,
  pending,
  retry,
  children,
}: {
  readonly recall: Recall | undefined;
  readonly error: Error | undefined;
  readonly pending: boolean;
  readonly retry: () => void;
  readonly children: ComponentChildren;
}) {
  if (error) return <Failure error={error} retry={retry} />;
  if (recall) return <>{children}</>;
  if (pending) return <Loading />;
  return (
    <Empty title="Ask something">
      <p>
        Type a question as an agent would ask it. Every hit shows what its score is made of; nothing that you
        do here is learnt from.
      </p>
    </Empty>
  );
}

function Answer({
  asking,
  asked,
  recall,
  ranking,
}: {
  readonly asking: Asking;
  readonly asked: string;
  readonly recall: Recall;
  readonly ranking: Ranking;
}) {
  return (
    <>
      {recall.hits.length === 0 ? (
        <Empty title="Nothing found">
          <p>{recall.nothing?.message}</p>
          <p class="quiet">“Why not” says of one memory where it fell.</p>
        </Empty>
      ) : (
        <Hits recall={recall} ranking={ranking} query={asking.query} />
      )}
      {asking.options.minRelevance !== undefined && <Floor asking={asking} asked={asked} recall={recall} />}
    </>
  );
}

function Narrow({
  params,
  strategy: { name: ofStrategy, limit, takesFloor },
}: {
  readonly params: URLSearchParams;
  readonly strategy: StrategyDescription;
}) {
  const text = (name: string, title: string, placeholder: string, disabled = false) => (
    <div class="field">
      <label for={`narrow-${name}`}>{title}</label>
      <TypedInput
        id={`narrow-${name}`}
        value={params.get(name) ?? ''}
        placeholder={placeholder}
        disabled={disabled}
        take={(typed) => setParams({ [name]: typed.trim() })}
      />
    </div>
  );
  return (
    <div class="stack">
      {text('limit', 'Most hits', String(limit))}
      {text('scope', 'As seen from the scope', 'all')}
      {text('types', 'Types, with commas between', 'all')}
      {text(
        'floor',
        'Floor of relevance: 0–1, or auto',
        takesFloor ? 'none' : `${ofStrategy} takes none`,
        !takesFloor,
      )}
      <label class="row">
        <input
          type="checkbox"
          checked={params.get('deep') === 'true'}
          onChange={(event) => setParams({ deep: event.currentTarget.checked ? 'true' : undefined })}
        />
        Cold and consolidated memories too
      </label>
    </div>
  );
}

/** Converts an answer to the form that the command line prints: scores as numbers, explanations as data. */
function plain({ hits, ...answer }: Recall) {
  return {
    ...answer,
    hits: hits.map((hit) => ({
      ...hit,
      score: hit.score.value,
      features: hit.features,
      explanation: hit.explain(),
    })),
  };
}
