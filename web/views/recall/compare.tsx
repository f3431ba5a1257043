import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { StrategyDescription } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { CopyAs } from '../../parts/copy-as.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { href, setParams, useRoute } from '../../router.ts';
import { Parameters, UnreadParameters } from './parameters.tsx';
import { type Asking, BESIDE, chosenParameters, unset } from './request.ts';

type Line = readonly [fromY: number, toY: number, id: string];

/** Two strategies for one question, each with its own ranking. Their scores are not comparable and are not merged. */
export function Compare({
  query,
  options,
  strategies,
}: {
  readonly query: string | undefined;
  readonly options: Asking['options'];
  readonly strategies: readonly StrategyDescription[];
}) {
  const { params } = useRoute();
  const left = options.strategy ?? 'hybrid';
  const against = params.get('against') ?? left;
  const right = against === left ? (strategies.find(({ name }) => name !== left)?.name ?? left) : against;
  const beside = strategies.find(({ name }) => name === right);
  const { scope, types, limit, deep } = options;
  const chosen = Object.entries({
    [left]: options.parameters,
    [right]: beside && chosenParameters(params, beside.parameters, BESIDE),
  }).filter(([, values]) => values && Object.keys(values).length > 0);
  const parameters = chosen.length > 0 ? Object.fromEntries(chosen) : undefined;
  const fields = { strategies: [left, right], parameters, limit: limit ?? 10, scope, types, deep };
  const { answer, error, pending, reload } = useAsk(
    query === undefined || left === right
      ? undefined
      : (memory, signal) => memory.compare(query, { ...fields, signal }),
    [query, left, right, JSON.stringify(fields)],
  );
  const box = useRef<HTMLDivElement>(null);
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [on, setOn] = useState<string>();
  useLayoutEffect(() => {
    const draw = () => setLines(box.current ? linesIn(box.current) : []);
    draw();
    addEventListener('resize', draw);
    return () => removeEventListener('resize', draw);
  }, [answer]);
  const agreement = answer?.agreement[0];
  return (
    <div class="stack">
      <div class="row spread">
        <label class="row">
          <span>{left} beside</span>
          <select
            aria-label="The other strategy"
            value={right}
            onChange={(event) => setParams({ ...unset(params, BESIDE), against: event.currentTarget.value })}
          >
            {strategies
              .filter(({ name }) => name !== left)
              .map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
          </select>
        </label>
        <CopyAs verb="compare" fields={{ query, ...fields }} answer={answer} />
      </div>
      {beside && <UnreadParameters strategy={beside} prefix={BESIDE} />}
      {beside && beside.parameters.length > 0 && (
        <details class="stack beside">
          <summary>Parameters of {right}</summary>
          <Parameters strategy={beside} prefix={BESIDE} />
        </details>
      )}
      {agreement && (
        <p class="quiet">
          {agreement.shared} in both
          {agreement.tau !== undefined && `, order alike by τ = ${agreement.tau.toFixed(2)}`}. Scores of
          different strategies do not compare, so none are shown.
        </p>
      )}
      {query === undefined ? (
        <Empty title="Ask something first">
          <p>Two strategies are compared on one question.</p>
        </Empty>
      ) : error ? (
        <Failure error={error} retry={reload} />
      ) : !answer ? (
        <Loading />
      ) : (
        <div class="versus outdated" ref={box} aria-busy={pending}>
          {answer.rankings.map(({ strategy, hits, failure, alone = [] }, side) => (
            <section key={strategy} style={{ gridColumn: side === 0 ? 1 : 3 }}>
              <h2 class="minor">{strategy}</h2>
              {failure !== undefined && <p class="failure-text">{failure}</p>}
              {hits?.length === 0 && <p class="quiet">Nothing found.</p>}
              <ol>
                {hits?.map(({ rank, memory, snippet }) => (
                  <li
                    key={memory.id}
                    data-id={memory.id}
                    class={`${alone.includes(memory.id) ? 'alone' : ''} ${on === memory.id ? 'on' : ''}`}
                    onMouseEnter={() => setOn(memory.id)}
                    onMouseLeave={() => setOn(undefined)}
                  >
                    <span class="number quiet">{rank}</span>
                    <a class="stored clamp" href={href('memories', {}, memory.id)}>
                      {snippet ?? memory.content}
                    </a>
                  </li>
                ))}
              </ol>
            </section>
          ))}
          <svg class="ties" aria-hidden="true">
            {lines.map(([from, to, id]) => (
              <line key={id} class={on === id ? 'on' : ''} x1="0" x2="100%" y1={from} y2={to} />
            ))}
          </svg>
        </div>
      )}
    </div>
  );
}

/** Returns a line for every memory on both sides, from the middle of one row to the middle of the other. */
function linesIn(box: HTMLElement): readonly Line[] {
  const top = box.getBoundingClientRect().top;
  const places = new Map<string, number[]>();
  for (const row of box.querySelectorAll<HTMLElement>('li[data-id]')) {
    const { top: start, height } = row.getBoundingClientRect();
    const id = row.dataset['id'] ?? '';
    places.set(id, [...(places.get(id) ?? []), start - top + height / 2]);
  }
  return [...places].flatMap(([id, [from, to]]) =>
    from === undefined || to === undefined ? [] : [[from, to, id] as const],
  );
}
