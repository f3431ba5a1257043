import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Failure } from './states.tsx';
import { FailureInSheet } from './toast.tsx';

/**
 * A dialog over the page. Escape closes it, and the focus goes back to where it was. It tells what fails while it is
 * open.
 */
export function Sheet({
  title,
  failure,
  close,
  children,
}: {
  readonly title: string;
  /** Why there is nothing to show. It stands in place of the content. */
  readonly failure?: { readonly error: Error; readonly retry: () => void } | undefined;
  readonly close: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the first paint, so that keys pressed at once reach the sheet.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Closing a dialog restores the focus; merely removing it does not.
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="sheet"
      aria-label={title}
      // Closed at once: the browser fires `close` in a later task, when the sheet may have been opened again.
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        close();
      }}
      // Closed in another way, such as by a gesture on a phone. Ignored after the sheet is removed.
      onClose={() => dialog.current && close()}
    >
      <div class="stack">
        <div class="row spread">
          <h2>{title}</h2>
          <button type="button" class="ghost" aria-label="Close" onClick={close}>
            ×
          </button>
        </div>
        {failure ? <Failure {...failure} /> : children}
        <FailureInSheet told={failure?.error.message} />
      </div>
    </dialog>
  );
}
