import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromPathSegment, toPathSegment } from './path-segment.ts';

const ids = fc.oneof(
  fc.constantFrom('.', '..', '~.', '~..', '~~.', '...', '~', '~~', '%2e', '%2E%2e', 'a/../b', '\\..', '~a'),
  fc.string({ unit: fc.constantFrom('.', '~', '/', '%', 'a', '\\', ' ', 'é'), minLength: 1, maxLength: 6 }),
);

test('every id stays one segment of a URL, and comes back as it was', () => {
  fc.assert(
    fc.property(ids, (id) => {
      const { pathname } = new URL(`http://memory.test/v1/memories/${toPathSegment(id)}/links`);
      const segments = pathname.split('/');
      expect(segments).toHaveLength(5);
      expect(fromPathSegment(decodeURIComponent(segments[3] as string))).toBe(id);
    }),
  );
});

test('two ids are never the same segment', () => {
  fc.assert(
    fc.property(ids, ids, (a, b) => {
      expect(toPathSegment(a) === toPathSegment(b)).toBe(a === b);
    }),
  );
});
