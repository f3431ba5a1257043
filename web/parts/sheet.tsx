import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { FailureInSheet } from './toast.tsx';

/** A dialog over the page. Escape closes it, and the focus goes back to where it was. It tells what fails while it is open. */
export function Sheet({
  title,
  close,
  children,
}: {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before anything is painted: keys that are pressed at once are for the sheet.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // What is closed gives the focus back, what is merely taken away does not.
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="sheet"
      aria-label={title}
      // At once: that it was closed the browser says later, in a task of its own, when it may be asked for again.
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        close();
      }}
      // What closes it otherwise, such as the gesture of a phone. After it is gone, nobody is told.
      onClose={() => dialog.current && close()}
    >
      <div class="stack">
        <div class="row spread">
          <h2>{title}</h2>
          <button type="button" class="ghost" aria-label="Close" onClick={close}>
            ×
          </button>
        </div>
        {children}
        <FailureInSheet />
      </div>
    </dialog>
  );
}
