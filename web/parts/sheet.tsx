import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A dialog over the page. Escape closes it, and the focus goes back to where it was. */
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
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="sheet" aria-label={title} onClose={close}>
      <div class="stack">
        <div class="row spread">
          <h2>{title}</h2>
          <button type="button" class="ghost" aria-label="Close" onClick={close}>
            ×
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
