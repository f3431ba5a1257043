import './time.css';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Operation, RecallOptions } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { CopyAs } from '../../parts/copy-as.tsx';
import { IdleButton } from '../../parts/idle-button.tsx';
import { Question } from '../../parts/question.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { moment } from '../../parts/time.ts';
import { setParams, useRoute } from '../../router.ts';
import { Changes } from './changes.tsx';

const PAGE = 200;
const MOST = 1000;
const DAY_MS = 86_400_000;
/** How far from today the day of validity can be moved, in days. */
const SPAN = 365;
/** How long each moment is shown during playback. */
const STEP_MS = 900;

/** The answer to a question as of any state of the space, and as of any day of validity. */
export default function TimeView() {
  const { params } = useRoute();
  const [count, setCount] = useState(PAGE);
  const { answer, error, reload } = useAsk(
    (memory, signal) => memory.operations({ limit: count, signal }),
    [count],
  );
  if (!answer && !error) return <Loading />;
  if (error || !answer || answer.length === 0) {
    return (
      <div class="stack">
        <h1>Time</h1>
        {error ? (
          <Failure error={error} retry={reload} />
        ) : (
          <Empty title="Nothing has happened yet">
            <p>Every write of this space is a moment to which this page can go back.</p>
          </Empty>
        )}
      </div>
    );
  }
  // While they are on their way, there are fewer than asked for.
  const more = answer.length >= count && count < MOST;
  const show = () => setCount(Math.min(MOST, count + PAGE));
  return (
    <Past
      params={params}
      moments={apart(answer.toReversed())}
      earlier={more || count > PAGE ? { more, show } : undefined}
    />
  );
}

function Past({
  params,
  moments,
  earlier,
}: {
  readonly params: URLSearchParams;
  /** Oldest first. */
  readonly moments: readonly Operation[];
  /** The button for earlier writes, if there were any behind the first page. */
  readonly earlier: { readonly more: boolean; readonly show: () => void } | undefined;
}) {
  const known = params.get('known') ?? undefined;
  const valid = params.get('valid') ?? undefined;
  const query = params.get('q')?.trim() || undefined;
  const last = moments.length - 1;
  /** -1: before all of them. */
  const place = known === undefined ? last : placeOf(moments, known);
  /** The position of the slider while it is dragged. */
  const [dragged, setDragged] = useState<number>();
  const [playing, setPlaying] = useState(false);
  const [cancelled, setCancelled] = useState<string>();
  const asOf = known === undefined && valid === undefined ? undefined : { known, valid };
  const options: RecallOptions = {
    ...(query === undefined ? { strategy: 'ambient' } : {}),
    limit: 20,
    track: false,
    asOf,
  };
  const asked = JSON.stringify([query, asOf]);
  const { answer, error, pending, reload } = useAsk(
    cancelled === asked
      ? undefined
      : async (memory, signal) => ({
          query,
          hits: (await memory.recall(query, { ...options, signal })).hits,
        }),
    [asked, cancelled === asked],
  );
  const goTo = (index: number) => {
    setDragged(undefined);
    setCancelled(undefined);
    setParams({ known: index >= last ? undefined : moments[index]?.at });
  };
  // A layout effect, so that playback waits for a pending answer even if frames are late.
  useLayoutEffect(() => {
    if (!playing || pending) return undefined;
    if (place >= last || error) return setPlaying(false);
    const timer = setTimeout(() => goTo(place + 1), STEP_MS);
    return () => clearTimeout(timer);
  }, [playing, pending, place, answer]);
  const play = () => {
    if (!playing && place >= last) goTo(0);
    setPlaying(!playing);
  };
  const shown = moments[dragged ?? place];
  const isTime = valid === undefined || !Number.isNaN(Date.parse(valid));
  const days = valid === undefined || !isTime ? 0 : Math.round((Date.parse(valid) - startOfToday()) / DAY_MS);
  return (
    <div class="stack past">
      <div class="view-head">
        <h1>Time</h1>
        <CopyAs verb="recall" fields={{ query, ...options }} />
      </div>
      <Question placeholder="A question; empty: what matters whatever is asked" />
      <div class="clocks">
        <section class="card pad stack">
          <h2>What was known</h2>
          <p class="stored" aria-live="polite">
            {known !== undefined && dragged === undefined && place < 0 ? (
              Number.isNaN(Date.parse(known)) ? (
                'This is not a time.'
              ) : (
                `At ${moment(known)}, before the writes that are listed here.`
              )
            ) : shown && (dragged ?? place) < last ? (
              <>
                After <b>{shown.verb}</b> <span class="number quiet">#{shown.operation}</span>,{' '}
                {moment(shown.at)}
              </>
            ) : (
              'Now: all that was written.'
            )}
          </p>
          <input
            type="range"
            aria-label="What was known: the write up to which one looks"
            aria-valuetext={
              shown ? `after ${shown.verb}, ${moment(shown.at)}` : 'before the writes that are listed'
            }
            min={0}
            max={last}
            step={1}
            value={dragged ?? Math.max(0, place)}
            onInput={(event) => setDragged(event.currentTarget.valueAsNumber)}
            onChange={(event) => goTo(event.currentTarget.valueAsNumber)}
          />
          <div class="row">
            <IdleButton idle={place <= 0} onClick={() => goTo(place - 1)}>
              ← One write back
            </IdleButton>
            <button type="button" onClick={play} aria-pressed={playing}>
              {playing ? 'Stop' : 'Play'}
            </button>
            <IdleButton idle={place >= last} onClick={() => goTo(place + 1)}>
              One write on →
            </IdleButton>
            {earlier && (
              <IdleButton class="ghost" idle={!earlier.more} onClick={earlier.show}>
                Earlier writes
              </IdleButton>
            )}
          </div>
        </section>
        <section class="card pad stack">
          <h2>What was true</h2>
          <p>
            {valid === undefined
              ? 'At the moment of the question.'
              : isTime
                ? `On ${valid.slice(0, 10)}.`
                : 'This is not a time.'}
          </p>
          <input
            type="range"
            aria-label="What was true: days from today"
            aria-valuetext={
              !isTime
                ? 'not a time'
                : days === 0
                  ? 'today'
                  : `${Math.abs(days)} ${Math.abs(days) === 1 ? 'day' : 'days'} ${days < 0 ? 'ago' : 'ahead'}`
            }
            min={-SPAN}
            max={SPAN}
            step={1}
            value={days}
            onInput={(event) => {
              const day = event.currentTarget.valueAsNumber;
              setParams({ valid: day === 0 ? undefined : dayFrom(day) });
            }}
          />
          <div class="row">
            <input
              type="date"
              aria-label="The day whose truth counts"
              value={valid?.slice(0, 10) ?? ''}
              onChange={(event) => {
                const day = event.currentTarget.value;
                setParams({ valid: day === '' ? undefined : `${day}T12:00:00.000Z` });
              }}
            />
            <IdleButton idle={valid === undefined} onClick={() => setParams({ valid: undefined })}>
              Today
            </IdleButton>
          </div>
        </section>
      </div>
      <section class="stack" aria-busy={pending}>
        <div class="row waiting">
          <h2>The answer</h2>
          {pending && (
            <button
              type="button"
              class="small"
              onClick={() => {
                setPlaying(false);
                setCancelled(asked);
              }}
            >
              Cancel
            </button>
          )}
        </div>
        {error ? (
          <Failure error={error} retry={reload} />
        ) : cancelled === asked ? (
          <p class="row">
            Cancelled.
            <button type="button" onClick={() => setCancelled(undefined)}>
              Ask again
            </button>
          </p>
        ) : answer ? (
          <Changes query={answer.query} hits={answer.hits} />
        ) : (
          <Loading />
        )}
      </section>
    </div>
  );
}

/** Keeps the last operation of each moment, because a look back goes to a moment, not between two writes in it. */
function apart(operations: readonly Operation[]): readonly Operation[] {
  return operations.filter(({ at }, index) => operations[index + 1]?.at !== at);
}

/** Returns the index of the last operation up to a moment. */
function placeOf(moments: readonly Operation[], known: string): number {
  return moments.findLastIndex(({ at }) => Date.parse(at) <= Date.parse(known));
}

function startOfToday(): number {
  return Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2;
}

function dayFrom(days: number): string {
  return new Date(startOfToday() + days * DAY_MS).toISOString();
}
