import './conflicts.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PendingConflict } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { CopyAs } from '../../parts/copy-as.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { mayUndo, mayWriteIn, session } from '../../session.ts';
import { ConflictCard } from './card.tsx';

const PAGE = 20;

/** The pending conflicts, in the order in which they were detected. */
export default function ConflictsView() {
  const [limit, setLimit] = useState(PAGE);
  const signedIn = useCell(session);
  const list = useRef<HTMLOListElement>(null);
  /** The conflict being decided, and its position, which gets the focus when the conflict is gone. */
  const decided = useRef<{ readonly id: string; readonly place: number } | undefined>(undefined);
  const { answer, error, reload } = useAsk(
    // One more than shown is fetched, to know whether there are more.
    (memory, signal) => memory.conflicts({ limit: Math.min(limit + 1, 1000), signal }),
    [limit],
  );
  const focus = (index: number) => {
    const cards = list.current?.children ?? [];
    const card = cards[Math.max(0, Math.min(cards.length - 1, index))]?.querySelector('article');
    card?.focus();
    card?.scrollIntoView({ block: 'nearest' });
  };
  useEffect(() => {
    if (!answer) return;
    const { id, place = 0 } = decided.current ?? {};
    // The focused element is gone, or nothing had the focus.
    if (document.activeElement === document.body) focus(place);
    if (!answer.some(({ conflictId }) => conflictId === id)) decided.current = undefined;
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
                    decided.current = { id: conflict.conflictId, place: index };
                  }}
                />
              </li>
            ))}
          </ol>
          {answer.length > limit && (
            <button type="button" onClick={() => setLimit(Math.min(1000, limit + PAGE))}>
              Show more
            </button>
          )}
        </>
      )}
    </section>
  );
}
