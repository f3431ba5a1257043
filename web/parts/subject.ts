import { useEffect } from 'preact/hooks';
import { cell } from '../cell.ts';
import { beginningOf } from './cut.ts';

/** What is open in the view, for the title of the page. */
export const subject = cell<string | undefined>(undefined);

/** Names in the title of the page what is open in the view. */
export function useSubject(text: string | undefined): void {
  useEffect(() => {
    subject.set(text && beginningOf(text, 60));
    return () => subject.set(undefined);
  }, [text]);
}
