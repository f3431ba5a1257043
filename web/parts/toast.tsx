import { useLayoutEffect, useRef } from 'preact/hooks';
import { cell, useCell } from '../cell.ts';
import { session } from '../session.ts';
import { BusyButton } from './busy-button.tsx';
import { useOnce } from './once.ts';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly failed: boolean;
  readonly undo?: (() => Promise<unknown>) | undefined;
}

const toasts = cell<readonly Toast[]>([]);
let count = 0;
/** The last failure while a sheet is open. */
const failedInSheet = cell<Toast | undefined>(undefined);
/** The number of open sheets. */
let sheets = 0;
// Cleared on sign-out: the next user must neither see nor undo what others did.
session.subscribe(() => session.get() ?? toasts.set([]));

/** Shows that something was done, with an undo button if `undo` is given. Toasts with undo stay longer. */
export function tell(text: string, undo?: () => Promise<unknown>): void {
  show({ id: ++count, text, failed: false, undo }, undo ? 12_000 : 5000);
}

/** Shows an error until it is closed. While a sheet is open, the sheet shows it. */
export function tellFailure(error: unknown): void {
  const toast = { id: ++count, text: (error as Error).message, failed: true };
  if (sheets > 0) failedInSheet.set(toast);
  else show(toast, undefined);
}

function show(toast: Toast, milliseconds: number | undefined): void {
  // The session ended with this answer: the sign-in page says so, and the next user would meet it.
  if (!session.get()) return;
  toasts.set([...toasts.get().slice(-3), toast]);
  if (milliseconds !== undefined) setTimeout(() => drop(toast.id), milliseconds);
}

function drop(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

/**
 * Shows failures within an open sheet, because toasts behind it can be neither read nor closed. One that the sheet
 * already shows as `told` is not shown again.
 */
export function FailureInSheet({ told }: { readonly told: string | undefined }) {
  useLayoutEffect(() => {
    sheets++;
    return () => {
      sheets--;
      if (sheets === 0) failedInSheet.set(undefined);
    };
  }, []);
  const failure = useCell(failedInSheet);
  const isTold = failure !== undefined && failure.text === told;
  useLayoutEffect(() => {
    if (isTold) failedInSheet.set(undefined);
  }, [isTold]);
  return (
    failure &&
    !isTold && (
      <p
        // A new element for each failure, so that the same one is announced again.
        key={failure.id}
        ref={(element) => element?.scrollIntoView({ block: 'nearest' })}
        class="failure-text stored"
        role="alert"
      >
        {failure.text}
      </p>
    )
  );
}

export function Toasts() {
  /** The element that had the focus before it moved into the toasts. */
  const before = useRef<HTMLElement | undefined>(undefined);
  const goBack = () =>
    (before.current?.isConnected ? before.current : document.getElementById('main'))?.focus();
  return (
    <div
      class="toasts"
      role="status"
      aria-live="polite"
      onFocusIn={({ relatedTarget, currentTarget }) => {
        const from = relatedTarget as HTMLElement | null;
        if (from && !currentTarget.contains(from)) before.current = from;
      }}
    >
      {useCell(toasts).map((toast) => (
        <Message key={toast.id} toast={toast} goBack={goBack} />
      ))}
    </div>
  );
}

function Message({
  toast: { id, text, failed, undo },
  goBack,
}: {
  readonly toast: Toast;
  readonly goBack: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const shown = box.current;
    // A toast that is removed while it has the focus gives it back.
    return () => shown?.contains(document.activeElement) && goBack();
  }, []);
  return (
    <div ref={box} class={failed ? 'toast failed' : 'toast'}>
      <span>{text}</span>
      {undo && <Undo undo={undo} done={() => drop(id)} />}
      <button type="button" class="ghost" aria-label="Close this message" onClick={() => drop(id)}>
        ×
      </button>
    </div>
  );
}

function Undo({ undo, done }: { readonly undo: () => Promise<unknown>; readonly done: () => void }) {
  const [run, undoing] = useOnce(() =>
    undo()
      .finally(done)
      .then(() => tell('Undone.'), tellFailure),
  );
  return (
    <BusyButton busy={undoing !== undefined} onClick={() => run()}>
      Undo
    </BusyButton>
  );
}
