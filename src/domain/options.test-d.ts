import { expectTypeOf, test } from 'vitest';
import { keysOf } from './options.ts';

interface Options {
  readonly first: string;
  readonly second?: number | undefined;
}

test('the names of a type are exactly its own', () => {
  expectTypeOf(keysOf<Options>()({ first: true, second: true })).toEqualTypeOf<
    readonly ('first' | 'second')[]
  >();
  // @ts-expect-error a name is missing
  keysOf<Options>()({ first: true });
  // @ts-expect-error a name is none of its own
  keysOf<Options>()({ first: true, second: true, third: true });
  const more = { second: true, third: true } as const;
  // @ts-expect-error not by a spread either
  keysOf<Options>()({ first: true, ...more });
});

test('of a union, those of all its members', () => {
  keysOf<{ readonly a: 1 } | { readonly b: 2 }>()({ a: true, b: true });
  // @ts-expect-error a name of one member is missing
  keysOf<{ readonly a: 1 } | { readonly b: 2 }>()({ a: true });
});
