import { SalienceError } from '../domain/errors.ts';
import type { Grant } from './tokens.ts';

/**
 * Limits the requests that wait for activity, so that they never take all connections: `most` in all, and half of them
 * per token.
 */
export function createWaitingPlaces(most: number): (grant: Pick<Grant, 'id'>) => () => void {
  const taken = new Map<string, number>();
  const each = Math.ceil(most / 2);
  let all = 0;
  return ({ id }) => {
    const mine = taken.get(id) ?? 0;
    if (all >= most || mine >= each) {
      throw new SalienceError(
        'rate_limited',
        `wait: ${mine >= each ? `${mine} requests of this token` : `${all} requests`} are waiting already; end one, or ask without wait`,
        { details: { retryAfter: 1 } },
      );
    }
    all++;
    taken.set(id, mine + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      all--;
      const left = (taken.get(id) ?? 1) - 1;
      if (left > 0) taken.set(id, left);
      else taken.delete(id);
    };
  };
}
