import { useRef } from 'preact/hooks';
import type { Recall, StrategyDescription } from '../../../src/index.ts';
import { look } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { takeOver } from '../../parts/focus.ts';
import { useOnce } from '../../parts/once.ts';
import { saveFile } from '../../parts/save.ts';
import { Empty } from '../../parts/states.tsx';
import { tell, tellFailure } from '../../parts/toast.tsx';
import { setParams } from '../../router.ts';
import { datasetOf } from './dataset.ts';
import { clear, labels, openLabels } from './labels.ts';
import { Tuning } from './tuning.tsx';

/** The labelled questions, and their export as a dataset for evaluation and tuning on the command line. */
export function Labelled({
  recall,
  query,
  strategy,
}: {
  readonly recall: Recall | undefined;
  readonly query: string | undefined;
  readonly strategy: StrategyDescription;
}) {
  const all = useCell(labels);
  const questions = Object.entries(all);
  const [save, saving] = useOnce(() =>
    look((memory) => datasetOf(memory, all, new Date())).then((content) => {
      saveFile('questions.jsonl', 'application/jsonl', content);
      tell('Saved. It holds the texts of all memories of the space.');
    }, tellFailure),
  );
  if (questions.length === 0) {
    return (
      <Empty title="No labels yet">
        <p>
          Say of a hit that it is good or bad, or under “Why not” that a memory should have been here. The
          questions become a file that measures a strategy and fits its parameters.
        </p>
        <OpenFile />
      </Empty>
    );
  }
  return (
    <div class="stack">
      <ul class="stack">
        {questions.map(([question, judged]) => (
          <li key={question} class="card pad stack">
            <button type="button" class="link" onClick={() => setParams({ q: question, tab: undefined })}>
              <span class="stored">{question}</span>
            </button>
            <ul class="stack">
              {Object.entries(judged).map(([id, as]) => {
                const place = question === query ? placeOf(recall, id) : undefined;
                return (
                  <li key={id} class="row">
                    <span class={`tag ${as === 'bad' ? 'bad' : as === 'good' ? 'good' : 'warn'}`}>{as}</span>
                    <code class="stored">{id}</code>
                    {place && <span class="quiet">{place}</span>}
                  </li>
                );
              })}
            </ul>
          </li>
        ))}
      </ul>
      <div class="row">
        <BusyButton busy={saving !== undefined} onClick={() => save()}>
          Save as a dataset
        </BusyButton>
        <OpenFile />
        <button type="button" class="ghost" onClick={() => tell('Labels cleared.', clear())}>
          Clear
        </button>
      </div>
      <p class="quiet">
        Labels stay in this browser until they are cleared, as questions and ids. A dataset can be opened
        elsewhere, and is what <code>salience eval</code> and <code>salience tune</code> read.
      </p>
      <Tuning strategy={strategy} />
    </div>
  );
}

/** Opens a file of saved labels. */
function OpenFile() {
  const input = useRef<HTMLInputElement>(null);
  const open = (file: File | undefined) =>
    file
      ?.text()
      .then(openLabels)
      .then((count) => tell(`${count} ${count === 1 ? 'question' : 'questions'} opened.`))
      .catch(tellFailure);
  return (
    <>
      <button ref={takeOver} type="button" onClick={() => input.current?.click()}>
        Open a dataset
      </button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".jsonl"
        aria-label="A dataset with labels"
        onChange={(event) => {
          open(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}

function placeOf(recall: Recall | undefined, id: string): string | undefined {
  if (!recall) return undefined;
  const at = recall.hits.findIndex(({ memory }) => memory.id === id);
  return at === -1 ? 'not among the hits' : `place ${at + 1} now`;
}
