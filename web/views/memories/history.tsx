import type { HistoryEntry, Memory } from '../../../src/index.ts';
import { act, useAsk } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { TextDifference } from '../../parts/difference.tsx';
import { Lines } from '../../parts/lines.tsx';
import { useOnce } from '../../parts/once.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { ago, moment } from '../../parts/time.ts';
import { tell, tellFailure } from '../../parts/toast.tsx';
import { mayUndo, session } from '../../session.ts';

/** All writes of a memory and of the memories it replaced, newest first, with their changes. */
export function History({ memory }: { readonly memory: Memory }) {
  const { id, revisionCount, updatedAt } = memory;
  const { answer, error, reload } = useAsk(
    (engine, signal) => engine.history(id, { signal }),
    [id, revisionCount, updatedAt],
  );
  const signedIn = useCell(session);
  const [undo, undoing] = useOnce((operation: number) =>
    act((engine) => engine.undo({ operation })).then(
      () => tell(`Undid operation ${operation}.`),
      tellFailure,
    ),
  );
  if (error) return <Failure error={error} retry={reload} />;
  if (!answer) return <Loading />;
  return (
    <ol class="timeline">
      {answer
        .map((entry, index) => ({ entry, after: afterOf(answer, index, memory) }))
        .reverse()
        .map(({ entry, after }) => (
          <li key={entry.sequence}>
            <div class="row">
              <b>{entry.link ? `${entry.verb} (a link)` : entry.verb}</b>
              <time class="quiet" dateTime={entry.at} title={moment(entry.at)}>
                {ago(entry.at)}
              </time>
              <span class="quiet number">#{entry.operation}</span>
              {entry.memoryId !== id && <code class="quiet">{entry.memoryId}</code>}
              {entry.undoes !== undefined && <span class="quiet">undid #{entry.undoes}</span>}
              {entry.redacted && <span class="tag warn">forgotten</span>}
              {signedIn && mayUndo(signedIn) && !entry.redacted && entry.verb !== 'undo' && entry.before && (
                <BusyButton
                  busy={undoing?.[0] === entry.operation}
                  class="small ghost"
                  onClick={() => undo(entry.operation)}
                >
                  Undo
                </BusyButton>
              )}
            </div>
            {!entry.link && <Changes before={entry.before} after={after} />}
          </li>
        ))}
    </ol>
  );
}

/** Returns the memory after an entry: the state before the next entry, or the current one. */
function afterOf(entries: readonly HistoryEntry[], index: number, now: Memory): Memory | undefined {
  const { memoryId } = entries[index] as HistoryEntry;
  const next = entries.slice(index + 1).find((each) => each.memoryId === memoryId && !each.link);
  if (next) return next.before;
  return memoryId === now.id ? now : undefined;
}

/** Fields that change by themselves or repeat another field. */
const PLAIN: ReadonlySet<string> = new Set([
  'updatedAt',
  'textChangedAt',
  'revisionCount',
  'effectiveWeight',
  'ordinal',
  'content',
]);

function Changes({
  before,
  after,
}: {
  readonly before: Memory | undefined;
  readonly after: Memory | undefined;
}) {
  if (!after) return null;
  if (!before)
    return (
      <p class="stored quiet">
        <Lines text={after.content} />
      </p>
    );
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Memory)[];
  const changed = names.filter(
    (name) => !PLAIN.has(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return (
    <div class="stack">
      {before.content !== after.content && <TextDifference before={before.content} after={after.content} />}
      {changed.length > 0 && (
        <dl class="facts-list">
          {changed.map((name) => [
            <dt key={`${name} t`}>{name}</dt>,
            <dd key={`${name} d`} class="stored">
              {/* Apart, so that the arrow leads from the old value to the new one if both are from right to left. */}
              <bdi>
                <del>{told(before[name])}</del>
              </bdi>{' '}
              →{' '}
              <bdi>
                <ins>{told(after[name])}</ins>
              </bdi>
            </dd>,
          ])}
        </dl>
      )}
    </div>
  );
}

function told(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
