import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quantise } from './quantise.ts';
import { rotate } from './rotate.ts';

const rotated = (vector: Float32Array) => {
  const turned = new Float64Array(vector.length);
  rotate(vector, turned);
  return turned;
};

const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((sum, each, at) => sum + each * b[at]!, 0);

test('dot products of vectors of any length stay as they are', () => {
  const vectors = fc
    .integer({ min: 1, max: 400 })
    .chain((length) =>
      fc.tuple(
        ...[0, 1].map(() =>
          fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: length, maxLength: length }),
        ),
      ),
    );
  fc.assert(
    fc.property(vectors, ([a, b]) => {
      const [one, other] = [Float32Array.from(a!), Float32Array.from(b!)];
      expect(dot(rotated(one), rotated(other))).toBeCloseTo(dot(one, other), 9);
    }),
  );
});

test.each([64, 96, 256, 300, 384, 768, 1536])(
  'of %d components, one that is most of the vector is spread over the others: the codes leave a third out, or less',
  (length) => {
    for (const large of [0, 1, length >> 1, length - 1]) {
      const vector = Float32Array.from({ length }, (_, at) => (at === large ? 20 : Math.sin(at * at)));
      const norm = Math.hypot(...vector);
      const unit = vector.map((each) => each / norm);
      const scale = Math.max(...unit.map(Math.abs)) / 127;
      const plain = Math.hypot(...unit.map((each) => each - scale * Math.round(each / scale)));
      expect(quantise(unit).residual).toBeLessThan(plain / 3);
    }
  },
);
