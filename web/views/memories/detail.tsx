import { useState } from 'preact/hooks';
import type { Memory, MemoryEngine } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { CopyAs } from '../../parts/copy-as.tsx';
import { takeOver } from '../../parts/focus.ts';
import { lazy } from '../../parts/lazy.tsx';
import { Lines } from '../../parts/lines.tsx';
import { MemoryFacts } from '../../parts/memory-line.tsx';
import { useOnce } from '../../parts/once.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { moment } from '../../parts/time.ts';
import { withUndo } from '../../parts/undo.ts';
import { href } from '../../router.ts';
import { mayWriteIn, session } from '../../session.ts';
import { Edit, isUnsaved, Unsaved } from './edit.tsx';
import { Forget } from './forget.tsx';
import { History } from './history.tsx';

const Chart = lazy('chart', () => import('../../parts/chart.tsx'));

/** One memory: its content, source, state and history, and the actions on it. */
export function Detail({ id, close }: { readonly id: string; readonly close: () => void }) {
  const {
    answer: memory,
    error,
    pending,
    reload,
  } = useAsk((engine, signal) => engine.get(id, { signal }), [id]);
  const signedIn = useCell(session);
  const [editing, setEditing] = useState(isUnsaved(id));
  const [forgetting, setForgetting] = useState(false);
  if (error && !memory) return <Failure error={error} retry={reload} />;
  if (!memory) {
    return pending ? (
      <Loading />
    ) : (
      <Empty title="There is no such memory">
        <p class="stored">{id}</p>
        <Unsaved id={id} />
        <button ref={takeOver} type="button" onClick={close}>
          Close
        </button>
      </Empty>
    );
  }
  return (
    <article class="stack detail" aria-label="Memory">
      {error && <Failure error={error} retry={reload} />}
      <div class="row spread">
        <h2 ref={takeOver} tabIndex={-1} class="stored">
          {memory.title ?? 'Memory'}
        </h2>
        <div class="row">
          <CopyAs verb="get" fields={{ id }} answer={memory} />
          <button type="button" class="ghost" aria-label="Close this memory" onClick={close}>
            ×
          </button>
        </div>
      </div>
      {editing ? (
        <Edit memory={memory} close={() => setEditing(false)} />
      ) : (
        <p class="stored content">
          <Lines text={memory.content} />
        </p>
      )}
      <MemoryFacts memory={memory} />
      {memory.invalidatedAt && (
        <p class="notice stored">
          No longer true since {moment(memory.invalidatedAt)}: {memory.invalidReason}
        </p>
      )}
      {signedIn?.canWrite && !mayWriteIn(signedIn, memory.scope) && (
        <p class="quiet">
          This session may not change it: it writes in {signedIn.grant.scopes?.join(', ')} alone.
        </p>
      )}
      {signedIn && mayWriteIn(signedIn, memory.scope) && !editing && (
        <div class="row">
          <button ref={takeOver} type="button" onClick={() => setEditing(true)}>
            Edit
          </button>
          <Validity memory={memory} />
          <Vote memory={memory} />
          <button type="button" class="danger" onClick={() => setForgetting(true)}>
            Forget…
          </button>
        </div>
      )}
      <section class="stack">
        <h3>History</h3>
        <History memory={memory} />
      </section>
      <section class="stack">
        <h3>Links</h3>
        <Links id={id} />
      </section>
      <section class="stack">
        <h3>A year without use</h3>
        <Curve id={id} />
      </section>
      <section class="stack">
        <h3>Every field</h3>
        <Fields memory={memory} />
      </section>
      {forgetting && <Forget id={id} close={() => setForgetting(false)} done={close} />}
    </article>
  );
}

function Validity({ memory: { id, invalidatedAt } }: { readonly memory: Memory }) {
  const [reason, setReason] = useState<string>();
  const [reinstate, reinstating] = useOnce(() =>
    withUndo(
      id,
      'reinstate',
      () => 'True again.',
      (memory) => memory.reinstate(id),
    ),
  );
  const [invalidate, invalidating] = useOnce(async (because: string) => {
    const change = (memory: MemoryEngine) => memory.invalidate(id, because);
    if (await withUndo(id, 'invalidate', () => 'Marked as no longer true.', change)) setReason(undefined);
  });
  if (invalidatedAt) {
    return (
      <BusyButton takesOver busy={reinstating !== undefined} onClick={() => reinstate()}>
        Reinstate
      </BusyButton>
    );
  }
  if (reason === undefined) {
    return (
      <button ref={takeOver} type="button" onClick={() => setReason('')}>
        Invalidate…
      </button>
    );
  }
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        invalidate(reason);
      }}
    >
      <input
        ref={takeOver}
        type="text"
        aria-label="Why it is no longer true"
        placeholder="Why it is no longer true"
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <BusyButton type="submit" busy={invalidating !== undefined} disabled={reason.trim() === ''}>
        Invalidate
      </BusyButton>
      <button type="button" class="ghost" onClick={() => setReason(undefined)}>
        Cancel
      </button>
    </form>
  );
}

function Vote({ memory: { id, usefulness } }: { readonly memory: Memory }) {
  const [vote, voting] = useOnce((up: boolean) =>
    withUndo(
      id,
      'feedback',
      ({ usefulness: now }: Memory) => `Usefulness is ${now.toFixed(2)} now.`,
      (memory) => memory.feedback(id, up ? 'up' : 'down', { voter: 'inspector' }),
    ),
  );
  return (
    <span class="row">
      <BusyButton busy={voting?.[0] === true} aria-label="Vote: it helps" onClick={() => vote(true)}>
        ↑
      </BusyButton>
      <span class="number" title="usefulness, from votes">
        {usefulness.toFixed(2)}
      </span>
      <BusyButton
        busy={voting?.[0] === false}
        aria-label="Vote: it does not help"
        onClick={() => vote(false)}
      >
        ↓
      </BusyButton>
    </span>
  );
}

function Links({ id }: { readonly id: string }) {
  const { answer, error, reload } = useAsk(
    async (memory, signal) => {
      const links = await memory.links(id, { signal });
      const texts = await Promise.all(links.slice(0, 50).map((link) => memory.get(link.id, { signal })));
      return links.map((link, index) => ({ ...link, content: texts[index]?.content }));
    },
    [id],
  );
  if (error) return <Failure error={error} retry={reload} />;
  if (!answer) return <Loading />;
  if (answer.length === 0) return <p class="quiet">None.</p>;
  return (
    <ul class="links">
      {answer.map(({ id: other, kind, weight, content }) => (
        <li key={`${kind} ${other}`}>
          <span class="number quiet">{weight.toFixed(2)}</span>
          <span class="tag">{kind}</span>
          <a class="stored clamp" href={href('memories', {}, other)}>
            {content ?? other}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Curve({ id }: { readonly id: string }) {
  const { answer, error, reload } = useAsk(
    async (memory, signal) => {
      const curve = await memory.curve(id, { days: 365, signal });
      return {
        ...curve,
        times: curve.points.map(({ at }) => Date.parse(at) / 1000),
        series: [
          { title: 'retention', colour: '--part-0', values: curve.points.map(({ retention }) => retention) },
        ],
      };
    },
    [id],
  );
  if (error) return <Failure error={error} retry={reload} />;
  if (!answer) return <Loading />;
  const { fading, curve, coldAt, times, series, points } = answer;
  const after = (share: number) => points[Math.round((points.length - 1) * share)];
  return (
    <>
      <Chart times={times} series={series} min={0} max={1} />
      <p class="quiet">
        {fading === 'off'
          ? 'This space does not let memories fade: it stays as it is. '
          : `Fades by the ${curve} curve. `}
        {[1 / 12, 1 / 2, 1].map((share) => {
          const point = after(share);
          return point && `${point.at.slice(0, 10)}: ${point.retention.toFixed(2)}. `;
        })}
        {coldAt && `Maintenance may make it cold on ${coldAt.slice(0, 10)}.`}
      </p>
    </>
  );
}

function Fields({ memory }: { readonly memory: Memory }) {
  return (
    <dl class="facts-list">
      {Object.entries(memory)
        .filter(([name, value]) => name !== 'content' && value !== undefined)
        .map(([name, value]) => [
          <dt key={`${name} t`}>{name}</dt>,
          <dd key={`${name} d`} class="stored">
            {typeof value === 'string' ? value : <code>{JSON.stringify(value)}</code>}
          </dd>,
        ])}
    </dl>
  );
}
