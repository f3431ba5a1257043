import type { Memory, MemoryEngine, RecordedRecall } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { CopyAs } from '../../parts/copy-as.tsx';
import { takeOver } from '../../parts/focus.ts';
import { Move } from '../../parts/move.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { moment } from '../../parts/time.ts';
import { href } from '../../router.ts';

interface Placed {
  readonly id: string;
  readonly memory: Memory | undefined;
  readonly score: number | undefined;
}

/** Repeats a recorded recall in the space as it was then, beside the answer to the same question now. */
export function ReplayPanel({
  recallId,
  from,
  listed,
}: {
  readonly recallId: string;
  /** Where the page of the list begins; `undefined` for the newest. */
  readonly from: string | undefined;
  /** Its entry in the list; `undefined` if it is on another page. */
  readonly listed: RecordedRecall | undefined;
}) {
  const older = useAsk(
    listed || !/^\d+$/.test(recallId)
      ? undefined
      : (memory, signal) => memory.recalls({ limit: 1, before: String(Number(recallId) + 1), signal }),
    [recallId, listed === undefined],
  );
  const recorded = listed ?? older.answer?.find((each) => each.recallId === recallId);
  const replay = useAsk((memory, signal) => memory.replay(recallId, { signal }), [recallId]);
  const now = useAsk(recorded && ((memory, signal) => askNow(memory, recorded, signal)), [
    recallId,
    recorded === undefined,
  ]);
  const { answer } = replay;
  const then: readonly Placed[] | undefined = answer?.hits.map(({ memory, score }) => ({
    id: memory.id,
    memory,
    score,
  }));
  return (
    <section class="stack asked-detail" aria-label="The recall, then and now">
      <div class="row spread">
        <a ref={takeOver} href={href('asked', { before: from })}>
          ← All recalls
        </a>
        <CopyAs verb="replay" fields={{ recallId }} answer={answer} />
      </div>
      {older.error && <Failure error={older.error} retry={older.reload} />}
      {recorded && (
        <>
          <h2 class="stored">{recorded.query ?? 'A recall without its text'}</h2>
          <p class="row quiet">
            {moment(recorded.at)} <span class="tag">{recorded.strategy}</span>
            {recorded.query !== undefined && recorded.verb === 'recall' && (
              <a href={href('recall', { q: recorded.query, strategy: recorded.strategy })}>Open in Recall</a>
            )}
          </p>
        </>
      )}
      {replay.error ? (
        <Failure error={replay.error} retry={replay.reload} />
      ) : !answer || !then ? (
        <Loading />
      ) : (
        <>
          <p class="row">
            {answer.equal ? (
              <span class="tag good">repeated to the bit</span>
            ) : (
              <span class="tag warn">repeats differently</span>
            )}
            {answer.reasons.map(({ reason, message }) => (
              <span key={reason}>{message}</span>
            ))}
          </p>
          <div class="then-now">
            <Ranking title="Then" hits={then} other={now.answer} side="then" />
            {now.error ? (
              <Failure error={now.error} retry={now.reload} />
            ) : now.answer ? (
              <Ranking title="Now" hits={now.answer} other={then} side="now" />
            ) : (
              now.pending && <Loading />
            )}
          </div>
        </>
      )}
    </section>
  );
}

function Ranking({
  title,
  hits,
  other,
  side,
}: {
  readonly title: string;
  readonly hits: readonly Placed[];
  readonly other: readonly Placed[] | undefined;
  readonly side: 'then' | 'now';
}) {
  return (
    <div class="stack">
      <h3>{title}</h3>
      {hits.length === 0 && <p class="quiet">Nothing.</p>}
      <ol class="lines ranked placed">
        {hits.map(({ id, memory, score }, index) => {
          const place = other?.findIndex((each) => each.id === id);
          return (
            <li key={id}>
              <span class="number quiet">{index + 1}</span>
              <a class="stored clamp" href={href('memories', {}, id)}>
                {memory?.content ?? id}
              </a>
              <span class="number quiet">{score?.toFixed(3)}</span>
              {side === 'now' ? (
                <Move from={place} to={index} />
              ) : (
                <Move from={undefined} to={place === -1 ? -1 : index} />
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Asks the same question with the same options now, without tracking. */
async function askNow(
  memory: MemoryEngine,
  { verb, query, options, strategy }: RecordedRecall,
  signal: AbortSignal,
): Promise<readonly Placed[]> {
  const again = { ...options, strategy, track: false, signal };
  if (verb === 'context') {
    const { items } = await memory.context(query, again as Parameters<MemoryEngine['context']>[1] & object);
    return items.map(({ memory, score }) => ({ id: memory.id, memory, score: score.value }));
  }
  const { hits } = await memory.recall(query, again);
  return hits.map((hit) => ({ id: hit.memory.id, memory: hit.memory, score: hit.score.value }));
}
