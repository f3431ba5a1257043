import { expect, test, vi } from 'vitest';
import { FAILED, reportFailure } from './failure.ts';

function reported(error: unknown): string {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    expect(reportFailure(error, false)).toBe(FAILED);
    return written.mock.calls.map(([text]) => String(text)).join('');
  } finally {
    written.mockRestore();
  }
}

test.each([
  ['EMFILE', 'ulimit -n'],
  ['EACCES', 'permissions'],
  ['EROFS', 'can be written'],
  ['ENOSPC', 'free some space'],
])('%s is told with what to do, not as a fault of the program', (code, advice) => {
  const text = reported(Object.assign(new Error(`${code}: open '/place'`), { code, syscall: 'open' }));
  expect(text).toContain("open '/place'");
  expect(text).toContain(advice);
  expect(text).not.toContain('a fault in salience');
});

test('reports an unexpected error as a fault of the program', () => {
  expect(reported(new TypeError('x is not a function'))).toContain('a fault in salience');
  expect(reported(Object.assign(new Error('spawn'), { code: 'ENOENT', syscall: 'spawn' }))).toContain(
    'a fault',
  );
});
