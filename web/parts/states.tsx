import type { ComponentChildren } from 'preact';
import { codeOf } from '../api.ts';
import { takeOver } from './focus.ts';

/** Shown late, so that a fast answer does not flicker. */
export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="hidden">Loading…</span>
    </div>
  );
}

/** Shown if there is nothing to list; says why, and what to do. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/**
 * Shows an error in the words of the server, with a retry button except for forbidden requests, where it cannot help.
 */
export function Failure({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  const code = codeOf(error);
  return (
    <div class="failure" role="alert">
      <p>{error.message || String(error)}</p>
      {code && <code>{code}</code>}
      {retry && code !== 'forbidden' && (
        <button ref={takeOver} type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
