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
/** What failed last while a sheet is open. */
const failedInSheet = cell<Toast | undefined>(undefined);
let sheets = 0;
// Whoever signs in next is not told what others did, and undoes nothing of theirs.
session.subscribe(() => session.get() ?? toasts.set([]));

/** Says that something was done, and offers to take it back. What can be undone stays longer. */
export function tell(text: string, undo?: () => Promise<unknown>): void {
  show({ id: ++count, text, failed: false, undo }, undo ? 12_000 : 5000);
}

/** Says what failed; it stays until it is closed. While a sheet is open, the sheet says it. */
export function tellFailure(error: unknown): void {
  const toast = { id: ++count, text: (error as Error).message, failed: true };
  if (sheets > 0) failedInSheet.set(toast);
  else show(toast, undefined);
}

function show(toast: Toast, milliseconds: number | undefined): void {
  toasts.set([...toasts.get().slice(-3), toast]);
  if (milliseconds !== undefined) setTimeout(() => drop(toast.id), milliseconds);
}

function drop(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

/** The place of a sheet for what fails while it is open: messages behind it can be neither read nor closed. */
export function FailureInSheet() {
  useLayoutEffect(() => {
    sheets++;
    return () => {
      sheets--;
      if (sheets === 0) failedInSheet.set(undefined);
    };
  }, []);
  const failure = useCell(failedInSheet);
  return (
    failure && (
      <p
        // The same failure is told anew each time.
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
  /** What had the focus before it came to the messages. */
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
    // What goes with the focus gives it back.
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
