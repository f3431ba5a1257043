import { expect, test } from 'vitest';
import { SalienceError, type SalienceErrorCode } from '../domain/errors.ts';
import { problemOf } from './problem.ts';

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
