import { visible } from '../show.ts';
import { choice } from './choice.ts';
import type { Node } from './index.ts';
import type { Operator } from './operator.ts';

/** A named part of the profile. */
export interface RefExpression {
  readonly op: 'ref';
  readonly name: string;
}

export interface RefNode {
  readonly op: 'ref';
  readonly path: string;
  readonly name: string;
  readonly of: Node;
}

export const ref: Operator<RefExpression, RefNode, { readonly name: string }> = {
  name: 'ref',
  keys: { name: 'other' },
  resolve: ({ name }, path, resolver) => ({ op: 'ref', name, of: resolver.part(name, path), path }),
  formula: ({ name }) => visible(name),
  ...choice<RefNode>({
    children: ({ of }) => [of],
    choose: ({ of }) => of,
    chooseKnown: ({ of }) => of,
  }),
  detail: ({ name }) => ({ name }),
  compile: ({ of }, compilation) => compilation.of(of),
  line: ({ inputs }) => ({ words: 'ref', branches: inputs.map((tree) => ({ tree })) }),
  label: ({ detail }) => detail.name,
  lead: ({ detail }, quote) => `${quote(detail.name ?? '?')} =`,
};
