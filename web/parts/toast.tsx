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
// Whoever signs in next is not told what others did, and undoes nothing of theirs.
session.subscribe(() => session.get() ?? toasts.set([]));

/** Says that something was done, and offers to take it back. What can be undone stays longer. */
export function tell(text: string, undo?: () => Promise<unknown>): void {
  show({ id: ++count, text, failed: false, undo }, undo ? 12_000 : 5000);
}

/** Says what failed; it stays until it is closed. */
export function tellFailure(error: unknown): void {
  show({ id: ++count, text: (error as Error).message, failed: true }, undefined);
}

function show(toast: Toast, milliseconds: number | undefined): void {
  toasts.set([...toasts.get().slice(-3), toast]);
  if (milliseconds !== undefined) setTimeout(() => drop(toast.id), milliseconds);
}

function drop(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useCell(toasts).map(({ id, text, failed, undo }) => (
        <div key={id} class={failed ? 'toast failed' : 'toast'}>
          <span>{text}</span>
          {undo && <Undo undo={undo} done={() => drop(id)} />}
          <button type="button" class="ghost" aria-label="Close this message" onClick={() => drop(id)}>
            ×
          </button>
        </div>
      ))}
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
