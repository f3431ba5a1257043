import { takeOver } from './focus.ts';

/**
 * Stands at the end of a list in place of its last "Show more", and takes the focus of that. `most`: there are more, but
 * only so many are shown.
 */
export function All({ most }: { readonly most?: number | undefined }) {
  return (
    <p ref={takeOver} tabIndex={-1} class="quiet">
      {most === undefined
        ? 'These are all.'
        : `There are more: ${most.toLocaleString('en')} are shown at most.`}
    </p>
  );
}
