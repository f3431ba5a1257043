import { expectTypeOf, test } from 'vitest';
import type { ExplanationDetail, Expression, Node } from './index.ts';
import type { Operator } from './operator.ts';
import type { sum } from './weighted.ts';

test('formulas, nodes and details are derived from the list of operators', () => {
  expectTypeOf<Expression>().not.toBeAny();
  expectTypeOf<Extract<Expression, { op: 'capped' }>>().toHaveProperty('cap');
  expectTypeOf<Extract<Node, { op: 'clamp' }>['min']>().toEqualTypeOf<number>();
  expectTypeOf<ExplanationDetail['weights']>().toEqualTypeOf<readonly number[] | undefined>();
  expectTypeOf<{ op: 'unlisted'; of: readonly Expression[] }>().not.toExtend<Expression>();
});

test('an operator that lacks a part does not compile', () => {
  type Sum = typeof sum;
  expectTypeOf<Sum>().toExtend<Operator<Parameters<Sum['resolve']>[0], ReturnType<Sum['resolve']>, object>>();
  type Lacking<Part extends keyof Sum> = Omit<Sum, Part>;
  expectTypeOf<Lacking<'formula'>>().not.toExtend<Sum>();
  expectTypeOf<Lacking<'children'>>().not.toExtend<Sum>();
  expectTypeOf<Lacking<'combine'>>().not.toExtend<Sum>();
  expectTypeOf<Lacking<'takes'>>().not.toExtend<Sum>();
  expectTypeOf<Lacking<'interval'>>().not.toExtend<Sum>();
  expectTypeOf<Lacking<'compile'>>().not.toExtend<Sum>();
  expectTypeOf<Lacking<'line'>>().not.toExtend<Sum>();
  expectTypeOf<Omit<Sum['keys'], 'terms'>>().not.toExtend<Sum['keys']>();
});
