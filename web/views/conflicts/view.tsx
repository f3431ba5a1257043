import './conflicts.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PendingConflict } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { All } from '../../parts/all.tsx';
import { CopyAs } from '../../parts/copy-as.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { mayUndo, mayWriteIn, session } from '../../session.ts';
import { ConflictCard } from './card.tsx';

const PAGE = 20;
/** The most that the server lists. */
const MOST = 1000;

/** The pending conflicts, in the order in which they were detected. */
export default function ConflictsView() {
  const [limit, setLimit] = useState(PAGE);
  const signedIn = useCell(session);
  const list = useRef<HTMLOListElement>(null);
  /** Where the focus goes when what has it is gone: the conflict being decided, or the button "Show more". */
  const leaving = useRef<{ readonly id?: string; readonly place: number } | undefined>(undefined);
  const { answer, error, reload } = useAsk(
    // One more than shown is fetched, to know whether there are more.
    (memory, signal) => memory.conflicts({ limit: Math.min(limit + 1, MOST), signal }),
    [limit],
  );
  const cardAt = (index: number) => {
    const cards = list.current?.children ?? [];
    return cards[Math.max(0, Math.min(cards.length - 1, index))]?.querySelector('article');
  };
  const focus = (index: number) => {
    const card = cardAt(index);
    card?.focus();
    card?.scrollIntoView({ block: 'nearest' });
  };
  useEffect(() => {
    if (!answer) return;
    const left = leaving.current;
    if (document.activeElement === document.body) {
      if (left) focus(left.place);
      // Nothing had the focus: the keys work from the first conflict on, and the page stays where it is.
      else cardAt(0)?.focus({ preventScroll: true });
    }
    if (!answer.some(({ conflictId }) => conflictId === left?.id)) leaving.current = undefined;
  }, [answer]);
  if (error) return <Failure error={error} retry={reload} />;
  if (!answer) return <Loading />;
  const shown = answer.slice(0, limit);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = [...(list.current?.children ?? [])].findIndex((each) => each.contains(event.target as Node));
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    focus(at + step);
  };
  return (
    <section class="conflicts">
      <div class="view-head">
        <h1>
          Conflicts{' '}
          <span class="quiet count">{answer.length > limit ? `${limit}+` : answer.length || ''}</span>
        </h1>
        <CopyAs verb="conflicts" fields={{ limit }} answer={shown} />
      </div>
      {shown.length === 0 ? (
        <Empty title="Nothing to decide">
          <p>
            When a statement is remembered that may contradict another one, or says nearly the same, the two
            wait here for somebody who knows which is true. Maintenance looks for such pairs too.
          </p>
          <code>salience maintain</code>
        </Empty>
      ) : (
        <>
          <p class="quiet">
            {signedIn?.canWrite ? (
              <>
                {mayUndo(signedIn)
                  ? 'Every decision but the last can be undone.'
                  : 'This session sees some scopes alone: it decides on what lies in them, and undoes nothing.'}{' '}
                On a conflict: <kbd>j</kbd> and <kbd>k</kbd> go to the next and the one before, <kbd>1</kbd>{' '}
                to <kbd>4</kbd> decide.
              </>
            ) : (
              'This session may only read: it cannot decide.'
            )}
          </p>
          <ol ref={list} class="stack" onKeyDown={onKeyDown}>
            {shown.map((conflict: PendingConflict, index) => (
              <li key={conflict.conflictId}>
                <ConflictCard
                  conflict={conflict}
                  canWrite={
                    signedIn !== undefined &&
                    [conflict.older, conflict.newer].every(({ scope }) => mayWriteIn(signedIn, scope))
                  }
                  decided={() => {
                    leaving.current = { id: conflict.conflictId, place: index };
                  }}
                />
              </li>
            ))}
          </ol>
          {answer.length > limit ? (
            <button
              type="button"
              onClick={() => {
                leaving.current = { place: limit };
                setLimit(Math.min(MOST, limit + PAGE));
              }}
            >
              Show more
            </button>
          ) : (
            answer.length === MOST && <All most={MOST} />
          )}
        </>
      )}
    </section>
  );
}
