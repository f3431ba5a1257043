import { expect, test } from 'vitest';
import { SalienceError, type SalienceErrorCode } from '../domain/errors.ts';
import { headersOf, problemOf } from './problem.ts';

test.each<SalienceErrorCode>(['embedder_failed', 'model_failed', 'model_invalid_output'])(
  '%s is the failure of a server behind this one, of which nothing is told',
  (code) => {
    const error = new SalienceError(code, 'http://10.0.0.7:1234 said: no such key', {
      details: { model: 'm' },
    });
    expect(problemOf(error)).toEqual({
      problem: {
        type: 'about:blank',
        title: code.replaceAll('_', ' '),
        status: 502,
        detail: 'the server cannot do this now; see its log',
        code,
        details: {},
      },
      hidden: true,
    });
  },
);

const unavailable = { place: '10.0.0.7:5432/memories', unavailable: true };
test.each<[SalienceErrorCode, Record<string, unknown>, number, string | undefined]>([
  ['store_failed', unavailable, 503, '5'],
  ['timed_out', unavailable, 503, '5'],
  ['store_busy', {}, 503, '5'],
  ['too_many_spaces', {}, 503, '5'],
  ['store_failed', {}, 500, undefined],
  ['store_read_only', {}, 503, undefined],
  ['closed', {}, 503, undefined],
  // Sent again, they may be written twice.
  ['store_failed', { ...unavailable, written: true }, 500, undefined],
  ['timed_out', { ...unavailable, written: true }, 500, undefined],
  ['store_failed', { inDoubt: true }, 500, undefined],
  ['store_busy', { inDoubt: true }, 503, undefined],
])('%s with %j is %i, and to be tried again after: %s', (code, details, status, seconds) => {
  const error = new SalienceError(code, 'PostgreSQL at 10.0.0.7:5432/memories: canary', { details });
  expect(problemOf(error).problem.status).toBe(status);
  expect(headersOf(error)['retry-after']).toBe(seconds);
  if (code !== 'closed') expect(JSON.stringify(problemOf(error).problem)).not.toMatch(/canary|10\.0/);
});
