import { useState } from 'preact/hooks';
import type { FitResult, LabelledQuestion, MemoryEngine, StrategyDescription } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { CopyAs } from '../../parts/copy-as.tsx';
import { Move } from '../../parts/move.tsx';
import { Failure } from '../../parts/states.tsx';
import { href, setParams } from '../../router.ts';
import { session } from '../../session.ts';
import { withoutGone } from './dataset.ts';
import { labels, questionsOf } from './labels.ts';
import { OWN, setting } from './request.ts';

/** The depth of the rankings in which labelled memories are looked up. */
const DEPTH = 50;

type Fitted = NonNullable<FitResult['fitted']>;
type Parameters = Readonly<Record<string, number>>;

interface Place {
  readonly query: string;
  readonly id: string;
  /** The position from 0; -1 if it is not among the first. */
  readonly before: number;
  readonly after: number;
}

interface Tuned {
  readonly fitted: Fitted;
  readonly places: readonly Place[];
  /** The number of labels of memories that no recall returns. */
  readonly leftOut: number;
}

/** Fits the parameters of a strategy to the labels, and shows the gain. */
export function Tuning({ strategy }: { readonly strategy: StrategyDescription }) {
  const questions = questionsOf(useCell(labels));
  const signedIn = useCell(session);
  const [asked, setAsked] = useState<readonly LabelledQuestion[]>();
  const [share, setShare] = useState(0);
  const { name } = strategy;
  const { answer, error, pending } = useAsk(
    asked && ((memory, signal) => tune(memory, asked, name, signal, setShare)),
    [asked, name],
  );
  if (!signedIn?.canWrite) {
    return <p class="quiet">This session may only read: it cannot tune. The saved file can be tuned with.</p>;
  }
  if (signedIn.grant.scopes) {
    return <p class="quiet">This session sees some scopes alone: it cannot tune.</p>;
  }
  return (
    <section class="stack" aria-busy={pending}>
      <div class="row spread">
        <h2>Tune {name}</h2>
        <CopyAs verb="fit" fields={{ questions, strategy: name }} answer={answer?.fitted} />
      </div>
      <p class="quiet">
        Looks for parameters that put what should be found first, and measures them on questions that they
        were not fitted to. Fewer than 10 questions are too few to be sure.
      </p>
      {pending ? (
        <div class="row">
          <progress aria-label="How much is done" max={1} value={share} />
          <span class="number">{Math.round(share * 100)} %</span>
          <button type="button" onClick={() => setAsked(undefined)}>
            Cancel
          </button>
        </div>
      ) : (
        <div>
          <button
            type="button"
            class="primary"
            disabled={questions.length < 2}
            onClick={() => {
              setShare(0);
              setAsked(questions);
            }}
          >
            {questions.length < 2
              ? 'Two questions with something to find are needed'
              : `Tune with ${questions.length} questions`}
          </button>
        </div>
      )}
      {error && !pending && <Failure error={error} />}
      {answer && !pending && <Result tuned={answer} strategy={strategy} />}
    </section>
  );
}

async function tune(
  memory: MemoryEngine,
  labelled: readonly LabelledQuestion[],
  strategy: string,
  signal: AbortSignal,
  onShare: (share: number) => void,
): Promise<Tuned> {
  const questions = await withoutGone(memory, labelled, new Date());
  if (questions.length < 2)
    throw new Error('Two questions are needed whose memories can still be found: label more hits.');
  let result: FitResult | undefined;
  do {
    // One step per request, so that each is short and reports progress.
    result = await memory.fit(questions, { strategy, steps: 1, state: result?.state, signal });
    onShare(result.share);
  } while (!result.fitted);
  const { fitted } = result;
  const found = async (query: string, parameters?: Parameters) => {
    const options = { strategy, limit: DEPTH, track: false, signal };
    const { hits } = await memory.recall(query, parameters ? { ...options, parameters } : options);
    return hits.map((hit) => hit.memory.id);
  };
  const places: Place[] = [];
  for (const { query, relevant } of questions) {
    const [before, after] = await Promise.all([found(query), found(query, valuesOf(fitted))]);
    for (const id of relevant) {
      places.push({ query, id, before: before.indexOf(id), after: after.indexOf(id) });
    }
  }
  return { fitted, places, leftOut: countIds(labelled) - countIds(questions) };
}

function countIds(questions: readonly LabelledQuestion[]): number {
  return questions.reduce((sum, { relevant }) => sum + relevant.length, 0);
}

function valuesOf({ parameters }: Fitted): Parameters {
  return Object.fromEntries(parameters.map(({ name, after }) => [name, after]));
}

function Result({ tuned, strategy }: { readonly tuned: Tuned; readonly strategy: StrategyDescription }) {
  const { fitted, places, leftOut } = tuned;
  const { parameters, heldOut, problems } = fitted;
  const use = () => {
    const values = valuesOf(fitted);
    const changes = strategy.parameters.map((each) => {
      const value = values[each.name];
      return value === undefined ? {} : setting(each, value, OWN);
    });
    setParams({ ...Object.assign({}, ...changes), tab: undefined });
  };
  return (
    <div class="stack tuned">
      {problems.length === 0 ? (
        <p class="tag good">The gain is certain.</p>
      ) : (
        problems.map((problem) => (
          <p key={problem} class="notice">
            Do not rely on it: {problem}.
          </p>
        ))
      )}
      {leftOut > 0 && (
        <p class="quiet">
          {leftOut === 1 ? '1 label is' : `${leftOut} labels are`} left out: of memories that no recall
          returns, such as forgotten or superseded ones.
        </p>
      )}
      <div class="tables">
        <Table
          title="On questions not fitted to"
          rows={Object.entries(heldOut).map(([name, { before, after, interval }]) => [
            name,
            before.toFixed(3),
            after.toFixed(3),
            interval ? `${signed(interval.low)} to ${signed(interval.high)}` : '',
          ])}
        />
        <Table
          title="Parameters"
          rows={parameters.map(({ name, before, after }) => [name, String(before), String(after), ''])}
        />
      </div>
      <div>
        <button type="button" onClick={use}>
          Try these values
        </button>
      </div>
      <h3>Where it is found, before and after</h3>
      <ol class="lines ranked">
        {places.map(({ query, id, before, after }) => (
          <li key={JSON.stringify([query, id])}>
            <span class="number quiet">{after === -1 ? '–' : after + 1}</span>
            <span>
              <a class="stored" href={href('memories', {}, id)}>
                {id}
              </a>{' '}
              <span class="stored quiet">for “{query}”</span>
            </span>
            <span class="quiet">{before === -1 ? `not among ${DEPTH}` : `was ${before + 1}`}</span>
            <Move from={before} to={after} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Table({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly (readonly [string, string, string, string])[];
}) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col">before</th>
          <th scope="col">after</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, before, after, note]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{before}</td>
            <td class="number">{after}</td>
            <td class="number quiet">{note}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}
