import { useEffect, useRef } from 'preact/hooks';
import type { ForgetResult } from '../../../src/index.ts';
import { act, useAsk } from '../../api.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { takeOver } from '../../parts/focus.ts';
import { useOnce } from '../../parts/once.ts';
import { Sheet } from '../../parts/sheet.tsx';
import { Loading } from '../../parts/states.tsx';
import { tell, tellFailure } from '../../parts/toast.tsx';
import { href } from '../../router.ts';

/** Forgets one memory, after showing what else will be forgotten with it. */
export function Forget({
  id,
  close,
  done,
}: {
  readonly id: string;
  readonly close: () => void;
  readonly done: () => void;
}) {
  const { answer, error, reload } = useAsk(
    (memory, signal) => memory.forget(id, { dryRun: true, signal }),
    [id],
  );
  const isShown = useRef(true);
  useEffect(
    () => () => {
      isShown.current = false;
    },
    [],
  );
  const [forget, forgetting] = useOnce(() =>
    act((memory) => memory.forget(id)).then(() => {
      tell('Forgotten.');
      // If the user has navigated elsewhere meanwhile, the page stays there.
      if (!isShown.current) return;
      close();
      done();
    }, tellFailure),
  );
  return (
    <Sheet title="Forget this memory" failure={error && { error, retry: reload }} close={close}>
      {!answer ? (
        <Loading />
      ) : (
        <>
          <Consequences planned={answer} />
          <div class="row">
            <BusyButton busy={forgetting !== undefined} class="danger" onClick={() => forget()}>
              Forget for good
            </BusyButton>
            <button ref={takeOver} type="button" onClick={close}>
              Keep
            </button>
          </div>
          <p class="quiet">What is merely no longer true can be invalidated instead, which can be undone.</p>
        </>
      )}
    </Sheet>
  );
}

/** What forgetting means here. */
export function Consequences({ planned }: { readonly planned: ForgetResult }) {
  const { count, rebuilt, reinstated, mayStillSay, erased } = planned;
  return (
    <ul class="stack consequences">
      <li>
        <b>{count}</b> {count === 1 ? 'memory is' : 'memories are'} erased with all history, and what was made
        of {count === 1 ? 'it' : 'them'}. There is no undo.
      </li>
      <li>
        {erased === 'bytes'
          ? 'Every byte of the texts leaves the files of the store.'
          : 'The rows are deleted; the database frees their bytes later. Backups are not touched.'}
      </li>
      {rebuilt.length > 0 && <Ids title="Consolidations that are made again without it" ids={rebuilt} />}
      {reinstated.length > 0 && <Ids title="Believed again" ids={reinstated} />}
      {mayStillSay.length > 0 && (
        <Ids title="May say the same in words of their own, and stay" ids={mayStillSay} />
      )}
    </ul>
  );
}

function Ids({ title, ids }: { readonly title: string; readonly ids: readonly string[] }) {
  return (
    <li>
      {title}:{' '}
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <a class="stored" href={href('memories', {}, id)}>
            {id}
          </a>
        </span>
      ))}
    </li>
  );
}
