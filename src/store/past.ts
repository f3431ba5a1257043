import { SalienceError } from '../domain/errors.ts';
import { closedError, openedReadOnly } from './faults.ts';
import type { Past } from './rewind.ts';
import { type State, versionOf } from './state.ts';
import { infoOf } from './state-reader.ts';
import type { PastSpace, Snapshot } from './store.ts';
import { withReader } from './with-reader.ts';

/** A moment of the past as a space to read from; `snapshotOf` ranks what was known then, and is asked at most once. */
export function openPast({ name, state, redacted }: Past, snapshotOf: (state: State) => Snapshot): PastSpace {
  let closed = false;
  let snapshot: Snapshot | undefined;
  const present = (): State => {
    if (closed) throw closedError(`space ${JSON.stringify(name)}`);
    return state;
  };
  const refuse = async () => {
    present();
    throw openedReadOnly(name);
  };
  const close = async () => {
    closed = true;
  };
  const space = withReader({
    name,
    erases: 'bytes',
    async snapshot(work) {
      snapshot ??= snapshotOf(present());
      present();
      return work(snapshot);
    },
    write: refuse,
    use: refuse,
    record: refuse,
    reindex: refuse,
    async backup() {
      present();
      throw new SalienceError('invalid_argument', 'a moment of the past has no file to copy');
    },
    async asKnown() {
      present();
      throw new SalienceError(
        'invalid_argument',
        'this is a moment of the past already; look back from the present',
      );
    },
    version: async () => versionOf(present()),
    info: async () => infoOf(name, present()),
    async check() {
      present();
      return [];
    },
    residentBytes: () => 0,
    close,
    [Symbol.asyncDispose]: close,
  });
  return { ...space, redacted };
}
