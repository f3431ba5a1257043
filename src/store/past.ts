import { SalienceError } from '../domain/errors.ts';
import type { Past } from './rewind.ts';
import { coreOfState, keepSpace } from './state-space.ts';
import type { SpaceCore } from './store.ts';

/** Returns a past state as a read-only core. */
export function coreOfPast({ name, state }: Past): SpaceCore {
  return {
    ...coreOfState({ ...keepSpace(name), state }, true),
    async everything() {
      throw new SalienceError(
        'invalid_argument',
        'this is a moment of the past already; look back from the present',
      );
    },
    async backup() {
      throw new SalienceError('invalid_argument', 'a moment of the past has no file to copy');
    },
  };
}
