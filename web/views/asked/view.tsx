import './asked.css';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RecordedRecall } from '../../../src/index.ts';
import { act, codeOf, useAsk } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { CopyAs } from '../../parts/copy-as.tsx';
import { takeOver } from '../../parts/focus.ts';
import { IdleButton } from '../../parts/idle-button.tsx';
import { useOnce } from '../../parts/once.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { ago, moment } from '../../parts/time.ts';
import { tell, tellFailure } from '../../parts/toast.tsx';
import { href, setParams, useRoute } from '../../router.ts';
import { session } from '../../session.ts';
import { Overview } from './overview.tsx';
import { ReplayPanel } from './replay.tsx';

const PAGE = 50;
/** The polling interval: the feed does not report recalls that leave nothing but their record. */
const REFRESH_MS = 4000;
const RECALL_ID = /^\d+$/;

/** The recalls that agents made, newest first, where the space records them. */
export default function AskedView() {
  const { rest: opened, params } = useRoute();
  const before = params.get('before') ?? '';
  const from = RECALL_ID.test(before) ? before : undefined;
  /** Where the newer pages begin that led to this one. Whoever opened this page by its address came through none. */
  const [newer, setNewer] = useState<readonly (string | undefined)[]>([]);
  const { answer, error, pending, reload } = useAsk(
    async (memory, signal) => ({
      from,
      recalls: await memory.recalls({ limit: PAGE, before: from, signal }),
    }),
    [from],
  );
  const forbidden = codeOf(error) === 'forbidden';
  const waiting = useRef(pending);
  waiting.current = pending;
  useEffect(() => {
    // Older pages are not refreshed, so that nothing moves while they are read.
    if (from !== undefined || forbidden) return undefined;
    // A pending answer is not requested again, which would abort it: a slow one would never arrive.
    const refresh = () => document.visibilityState === 'visible' && !waiting.current && reload();
    const timer = setInterval(refresh, REFRESH_MS);
    return () => clearInterval(timer);
  }, [from, forbidden]);
  const list = useRef<HTMLUListElement>(null);
  // The recall that was open is closed: the focus goes back to the list.
  useLayoutEffect(() => takeOver(list.current), [opened]);
  if (error && !answer) return <Failure error={error} retry={reload} />;
  if (!answer) return <Loading />;
  const { recalls } = answer;
  if (recalls.length === 0 && answer.from === undefined) return <NothingRecorded />;
  const last = recalls.at(-1)?.recallId;
  /** The list is still that of the page before. */
  const isOld = answer.from !== from;
  return (
    <div class={`asked master ${opened === '' ? '' : 'with-detail'}`}>
      <section class="asked-list stack" aria-busy={isOld && !error}>
        <div class="view-head">
          <h1>What was asked</h1>
          <CopyAs verb="recalls" fields={{ limit: PAGE, before: from }} answer={recalls} />
        </div>
        {before !== '' && from === undefined && (
          <p class="failure-text stored" role="alert">
            In the address: before={before} is not the id of a recall, which is a number. Until it is changed,
            the newest recalls are shown.
          </p>
        )}
        {error && <Failure error={error} retry={reload} />}
        <ul ref={list} class="card" tabIndex={-1} aria-label="Recalls">
          {recalls.map((recall) => (
            <li key={recall.recallId}>
              <RecallLine recall={recall} from={from} opened={opened === recall.recallId} />
            </li>
          ))}
        </ul>
        <div class="row">
          <IdleButton
            idle={from === undefined}
            onClick={() => {
              setParams({ before: newer.at(-1) });
              setNewer(newer.slice(0, -1));
            }}
          >
            Newer
          </IdleButton>
          <IdleButton
            idle={recalls.length < PAGE}
            // Until the list is there, its last recall is not known.
            onClick={() => {
              if (last === undefined || isOld) return;
              setNewer(from === undefined ? [undefined] : [...newer, from]);
              setParams({ before: last });
            }}
          >
            Older
          </IdleButton>
        </div>
      </section>
      {opened !== '' && (
        <ReplayPanel
          key={opened}
          recallId={opened}
          from={from}
          listed={recalls.find(({ recallId }) => recallId === opened)}
        />
      )}
    </div>
  );
}

function RecallLine({
  recall,
  from,
  opened,
}: {
  readonly recall: RecordedRecall;
  readonly from: string | undefined;
  readonly opened: boolean;
}) {
  const { recallId, at, query, queryHash, strategy, verb, hits, durationMs, redacted, caller, sessionId } =
    recall;
  return (
    <a
      class="asked-line"
      href={href('asked', { before: from }, recallId)}
      aria-current={opened ? 'true' : undefined}
    >
      <span class="stored clamp">
        {query ?? (
          <span class="quiet">{queryHash ? `question ${queryHash}, text not recorded` : 'no question'}</span>
        )}
      </span>
      <span class="row quiet">
        <time dateTime={at} title={moment(at)}>
          {ago(at)}
        </time>
        <span class="tag">{strategy}</span>
        {verb === 'context' && <span class="tag">context</span>}
        <span>
          {hits.length} {hits.length === 1 ? 'hit' : 'hits'}
        </span>
        <span class="number">{durationMs.toFixed(1)} ms</span>
        {caller && <span title="the token that asked">by {caller}</span>}
        {sessionId && <span title={`session ${sessionId}`}>in a session</span>}
        {redacted && <span class="tag warn">redacted</span>}
      </span>
    </a>
  );
}

/** The overview, and how to record recalls, or that they are recorded from now on. */
function NothingRecorded() {
  const signedIn = useCell(session);
  const [record, starting] = useOnce(() =>
    act((memory) => memory.configure({ recordRecalls: { days: 30, texts: true } })).then(
      () => tell('Recalls are recorded from now on, for 30 days.'),
      tellFailure,
    ),
  );
  const { answer: stats } = useAsk((memory, signal) => memory.stats({ signal }), []);
  const recording = stats?.settings.recordRecalls ?? 'off';
  if (recording !== 'off') {
    return (
      <div class="stack">
        <h1>Overview</h1>
        <Overview />
        <Empty title="No recall is recorded yet">
          <p ref={takeOver} tabIndex={-1}>
            This space records its recalls, and keeps each for {recording.days}{' '}
            {recording.days === 1 ? 'day' : 'days'}. What agents ask from now on appears here. What tokens
            with the right to read ask is not recorded.
          </p>
        </Empty>
      </div>
    );
  }
  return (
    <div class="stack">
      <h1>Overview</h1>
      <Overview />
      <Empty title="No recalls are recorded">
        <p>
          When a space records its recalls, this page lists what agents asked, and repeats each as it was
          beside what would be answered now. What tokens with the right to read ask is not recorded.
        </p>
        {signedIn?.canWrite ? (
          <BusyButton busy={starting !== undefined} class="primary" onClick={() => record()}>
            Record recalls for 30 days, with their texts
          </BusyButton>
        ) : (
          <p class="quiet">
            <code>salience configure</code> turns it on; this session may only read.
          </p>
        )}
      </Empty>
    </div>
  );
}
