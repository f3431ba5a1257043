import './context.css';
import { VERBS } from '../../../src/domain/verbs.ts';
import type { MemoryEngine } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { CopyAs } from '../../parts/copy-as.tsx';
import { takeOver } from '../../parts/focus.ts';
import { Lines } from '../../parts/lines.tsx';
import { Question } from '../../parts/question.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { TypedInput } from '../../parts/typed-input.tsx';
import { Unread } from '../../parts/unread.tsx';
import { setParams, useRoute } from '../../router.ts';
import { BudgetBar, type ShownContext } from './budget-bar.tsx';
import { Inside, Outside } from './memories.tsx';

/** The contexts that an agent gets. `most` is the end of the budget's slider; a larger budget can be typed. */
const KINDS = [
  { name: 'question', title: 'For a question', verb: 'context', usual: 2000, most: 8000 },
  { name: 'turn', title: 'On every turn', verb: 'pinned', usual: 5000, most: 10_000 },
  { name: 'start', title: 'At the start of a session', verb: 'bootstrap', usual: 30_000, most: 60_000 },
] as const;
const FORMATS = VERBS.context.arguments.format.enum;
/** The ends of the slider and of what may be typed. */
const LEAST = 50;
const MOST = 1_000_000_000;

type Format = (typeof FORMATS)[number];

/** Shows the context for a model: the memories within the token budget, those left out and why, and the exact text. */
export default function ContextView() {
  const { params } = useRoute();
  const kind = KINDS.find(({ name }) => name === params.get('for')) ?? KINDS[0];
  const query = params.get('q')?.trim() || undefined;
  const budget = budgetOf(params.get('budget'));
  const maxTokens = typeof budget === 'number' ? budget : kind.usual;
  const format = FORMATS.find((each) => each === params.get('format')) ?? 'text';
  const fields = { ...(kind.verb === 'context' ? { query } : {}), maxTokens, format };
  const { answer, error, pending, reload } = useAsk(
    (memory, signal) => ask(memory, kind.verb, query, { maxTokens, format, signal }),
    [kind, query, maxTokens, format],
  );
  return (
    <div class="stack context">
      <div class="view-head">
        <h1>Context</h1>
        <CopyAs verb={kind.verb} fields={fields} answer={answer} />
      </div>
      <div class="row">
        {KINDS.map(({ name, title }) => (
          <button
            key={name}
            // "Show them" leads here, and is gone then.
            ref={name === kind.name ? takeOver : null}
            type="button"
            aria-pressed={name === kind.name}
            onClick={() => setParams({ for: name, budget: undefined })}
          >
            {title}
          </button>
        ))}
      </div>
      {kind.verb === 'context' && (
        <Question placeholder="The question that the model will be asked; empty: what matters whatever is asked" />
      )}
      <div class="context-settings">
        <div class="slider budget">
          <label for="budget">Budget in tokens</label>
          <TypedInput
            label="Budget in tokens, exactly"
            number={{ min: 1 }}
            value={String(maxTokens)}
            take={(budget) => setParams({ budget })}
          />
          <input
            id="budget"
            type="range"
            min={LEAST}
            max={Math.max(kind.most, maxTokens)}
            step={LEAST}
            value={maxTokens}
            onInput={(event) => setParams({ budget: event.currentTarget.value })}
          />
        </div>
        <label class="field">
          <span>Written as</span>
          <select value={format} onChange={(event) => setParams({ format: event.currentTarget.value })}>
            {FORMATS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      <Unread
        what="kind of context"
        value={params.get('for')}
        known={KINDS.map(({ name }) => name)}
        instead={kind.name}
      />
      <Unread what="format" value={params.get('format')} known={FORMATS} instead={format} />
      {budget === 'unread' && (
        <p class="failure-text" role="alert">
          Budget: write a number from 1 to {MOST.toLocaleString('en')}. Until then it is{' '}
          {kind.usual.toLocaleString('en')} tokens.
        </p>
      )}
      {kind.verb === 'context' && <PinnedCost />}
      {error ? (
        <Failure error={error} retry={reload} />
      ) : answer ? (
        <Built context={answer} pending={pending} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

/** Builds the context without tracking. */
function ask(
  memory: MemoryEngine,
  verb: (typeof KINDS)[number]['verb'],
  query: string | undefined,
  options: { readonly maxTokens: number; readonly format: Format; readonly signal: AbortSignal },
): Promise<ShownContext> {
  const looking = { ...options, track: false };
  return verb === 'context' ? memory.context(query, looking) : memory[verb](looking);
}

/** Returns the budget in the address: `undefined` for the default, `unread` if it is not a valid budget. */
function budgetOf(text: string | null): number | 'unread' | undefined {
  if (!text) return undefined;
  const budget = Math.round(Number(text));
  return budget >= 1 && budget <= MOST ? budget : 'unread';
}

function Built({ context, pending }: { readonly context: ShownContext; readonly pending: boolean }) {
  const { items, omitted, text, messages, nothing } = context;
  if (items.length === 0 && omitted.length === 0) {
    return (
      <Empty title="Nothing is in it">
        <p>{nothing?.message ?? 'No memory belongs in this context, and it costs nothing.'}</p>
      </Empty>
    );
  }
  return (
    <div class="stack built" aria-busy={pending}>
      <BudgetBar context={context} />
      <div class="context-columns">
        <div class="stack">
          <Inside items={items} />
          <Outside omitted={omitted} />
        </div>
        <section class="stack">
          <h2>What the model sees</h2>
          {messages ? (
            messages.map(({ role, content }) => (
              <div key={role} class="stack">
                <h3>{role}</h3>
                <pre class="card pad stored">
                  <Lines text={content} />
                </pre>
              </div>
            ))
          ) : text === '' ? (
            <p class="quiet">Nothing: no memory fits.</p>
          ) : (
            <pre class="card pad stored">
              <Lines text={text} />
            </pre>
          )}
        </section>
      </div>
    </div>
  );
}

/** Shows the tokens that pinned memories take before any question is asked. */
function PinnedCost() {
  const { answer } = useAsk((memory, signal) => memory.pinned({ signal }), []);
  if (!answer || answer.items.length === 0) return null;
  const { items, tokens } = answer;
  return (
    <p class="row quiet">
      <span>
        Beside it, {items.length} pinned {items.length === 1 ? 'memory takes' : 'memories take'}{' '}
        <b class="number">{tokens.toLocaleString('en')}</b> tokens on every turn.
      </span>
      <button type="button" class="link" onClick={() => setParams({ for: 'turn', budget: undefined })}>
        Show them
      </button>
    </p>
  );
}
