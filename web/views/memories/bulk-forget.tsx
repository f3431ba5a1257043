import { useRef, useState } from 'preact/hooks';
import type { ListOptions } from '../../../src/index.ts';
import { act, useAsk } from '../../api.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { takeOver } from '../../parts/focus.ts';
import { useOnce } from '../../parts/once.ts';
import { Sheet } from '../../parts/sheet.tsx';
import { Loading } from '../../parts/states.tsx';
import { tell, tellFailure } from '../../parts/toast.tsx';
import { forgetFilterOf } from './filter.ts';
import { Consequences } from './forget.tsx';

/** Forgets all memories that match the filter, after the user has typed their number. */
export function BulkForget({ filter, close }: { readonly filter: ListOptions; readonly close: () => void }) {
  const target = forgetFilterOf(filter);
  const [typed, setTyped] = useState('');
  const number = useRef<HTMLInputElement>(null);
  const meant = 'filter' in target ? target.filter : undefined;
  const { answer, error, reload } = useAsk(
    meant && ((memory, signal) => memory.forget(meant, { dryRun: true, signal })),
    [JSON.stringify(filter)],
  );
  const [forget, forgetting] = useOnce(async () => {
    if (!meant) return;
    await act(async (memory) => {
      // Counted again: memories written since the user typed the number were not meant.
      const { count } = await memory.forget(meant, { dryRun: true });
      if (String(count) !== typed.trim()) {
        setTyped('');
        number.current?.focus();
        throw new Error(`The filter finds ${count} now. Nothing was forgotten: look again.`);
      }
      return memory.forget(meant);
    }).then(({ count }) => {
      tell(`${count} ${count === 1 ? 'memory is' : 'memories are'} forgotten.`);
      close();
    }, tellFailure);
  });
  return (
    <Sheet title="Forget all that the filter finds" failure={error && { error, retry: reload }} close={close}>
      {'because' in target ? (
        <p>{target.because}</p>
      ) : !answer ? (
        <Loading />
      ) : answer.count === 0 ? (
        <p>Nothing matches.</p>
      ) : (
        <>
          <pre class="card pad stored">{JSON.stringify(target.filter, undefined, 2)}</pre>
          <Consequences planned={answer} />
          <label class="field">
            <span>
              Type <b>{answer.count}</b> to forget {answer.count === 1 ? 'it' : 'them'} for good
            </span>
            <input
              ref={number}
              type="text"
              inputMode="numeric"
              autocomplete="off"
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </label>
          <div class="row">
            <BusyButton
              busy={forgetting !== undefined}
              class="danger"
              disabled={typed.trim() !== String(answer.count)}
              onClick={() => forget()}
            >
              Forget {answer.count}
            </BusyButton>
            <button ref={takeOver} type="button" onClick={close}>
              Keep
            </button>
          </div>
        </>
      )}
    </Sheet>
  );
}
