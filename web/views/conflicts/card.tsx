import { useState } from 'preact/hooks';
import { RESOLUTIONS } from '../../../src/domain/verbs.ts';
import type { Memory, PendingConflict, Resolution } from '../../../src/index.ts';
import { act } from '../../api.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { textSides } from '../../parts/difference.tsx';
import { MemoryFacts } from '../../parts/memory-line.tsx';
import { useOnce } from '../../parts/once.ts';
import { ago, moment } from '../../parts/time.ts';
import { tell, tellFailure } from '../../parts/toast.tsx';
import { withUndo } from '../../parts/undo.ts';

interface Decision {
  readonly title: string;
  readonly about: string;
  readonly done: string;
}

const DECISIONS: Readonly<Record<Resolution, Decision>> = {
  'keep-both': { title: 'Keep both', about: 'they do not contradict each other', done: 'Both are kept.' },
  update: {
    title: 'Update',
    about: 'the older one takes the text of the newer one',
    done: 'The older memory says what the newer one said.',
  },
  supersede: {
    title: 'Supersede',
    about: 'the older one is hidden while the newer one holds',
    done: 'The newer memory supersedes the older one.',
  },
  delete: {
    title: 'Delete the older one',
    about: 'it is erased for good, without undo',
    done: 'The older memory is erased.',
  },
};

/** Two conflicting memories, with the possible decisions. */
export function ConflictCard({
  conflict: { conflictId, older, newer, kind, similarity, at },
  canWrite,
  decided,
}: {
  readonly conflict: PendingConflict;
  readonly canWrite: boolean;
  /** Called before the list is fetched again. */
  readonly decided: () => void;
}) {
  const [confirming, setConfirming] = useState(false);
  const [before, after] = textSides(older.content, newer.content);
  const [decide, deciding] = useOnce(async (resolution: Resolution) => {
    if (resolution === 'delete' && !confirming) return setConfirming(true);
    decided();
    const { done } = DECISIONS[resolution];
    if (resolution === 'delete') {
      await act((memory) => memory.resolve(conflictId, resolution)).then(() => tell(done), tellFailure);
    } else {
      const kept = resolution === 'update' ? older.id : newer.id;
      await withUndo(
        kept,
        'resolve',
        () => done,
        (memory) => memory.resolve(conflictId, resolution),
      );
    }
    setConfirming(false);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (!canWrite || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === 'Escape') setConfirming(false);
    const resolution = RESOLUTIONS[Number(event.key) - 1];
    if (resolution) decide(resolution);
  };
  return (
    <article
      class="card pad stack conflict"
      tabIndex={-1}
      aria-label={`Conflict ${conflictId}`}
      onKeyDown={onKeyDown}
    >
      <h2 class="hidden">Conflict {conflictId}</h2>
      <p class="row quiet">
        <span class="tag">{kind === 'similar' ? 'nearly the same' : 'a new value'}</span>
        <span title="of the two statements, 0 to 1">
          similarity <span class="number">{similarity.toFixed(2)}</span>
        </span>
        <time dateTime={at} title={moment(at)}>
          noticed {ago(at)}
        </time>
      </p>
      <div class="both">
        <Side title="Older" memory={older} text={before} />
        <Side title="Newer" memory={newer} text={after} />
      </div>
      {canWrite && (
        <div class="decisions">
          {RESOLUTIONS.map((resolution, index) => {
            const { title, about } = DECISIONS[resolution];
            const sure = resolution === 'delete' && confirming;
            return (
              <BusyButton
                key={resolution}
                busy={deciding?.[0] === resolution}
                class={resolution === 'delete' ? 'danger' : ''}
                onClick={() => decide(resolution)}
              >
                <span class="row">
                  <kbd>{index + 1}</kbd>
                  <b>{sure ? 'Really erase it?' : title}</b>
                </span>
                <span class="quiet">{sure ? 'press again; Escape keeps it' : about}</span>
              </BusyButton>
            );
          })}
        </div>
      )}
    </article>
  );
}

function Side({
  title,
  memory,
  text,
}: {
  readonly title: string;
  readonly memory: Memory;
  readonly text: ReturnType<typeof textSides>[0];
}) {
  return (
    <div class="stack">
      <h3>{title}</h3>
      {memory.title && <b class="stored">{memory.title}</b>}
      <p class="stored statement">{text}</p>
      <MemoryFacts memory={memory} />
    </div>
  );
}
