import type { ClockName } from '../model/fields.ts';
import type { AttributeName, SignalName } from './signals.ts';

/**
 * A formula with its names and parameters resolved: what evaluation, explanation, bounds and compilation walk.
 * `path` is the place in the profile that it came from.
 */
export type Node = { readonly path: string } & (
  | { readonly op: 'constant'; readonly value: number; readonly parameter: string | undefined }
  | { readonly op: 'signal'; readonly name: SignalName; readonly missing: number }
  | { readonly op: 'age'; readonly pick: 'earliest' | 'latest'; readonly clocks: readonly ClockName[] }
  | { readonly op: 'ref'; readonly name: string; readonly of: Node }
  | {
      readonly op: 'sum';
      readonly weights: readonly number[];
      readonly of: readonly Node[];
      /** What its author says that the weights sum to. */
      readonly total: number | undefined;
    }
  | { readonly op: 'mean'; readonly weights: readonly number[]; readonly of: readonly Node[] }
  | { readonly op: 'product' | 'min' | 'max'; readonly of: readonly Node[] }
  | { readonly op: 'power'; readonly base: Node; readonly exponent: Node }
  | { readonly op: 'clamp'; readonly min: number; readonly max: number; readonly of: Node }
  | { readonly op: 'capped'; readonly cap: number; readonly of: Node }
  | DecayNode
  | {
      readonly op: 'table';
      readonly by: AttributeName;
      readonly cases: ReadonlyMap<string, Node>;
      readonly otherwise: Node;
    }
  | { readonly op: 'when'; readonly condition: BoundCondition; readonly then: Node; readonly else: Node }
);

export interface DecayNode {
  readonly op: 'decay';
  readonly curve: 'exponential' | 'power';
  /** What `pace` is given as. */
  readonly per: 'halfLife' | 'rate' | 'scale';
  readonly age: Node;
  readonly pace: Node;
  readonly exponent: number;
  readonly missing: number | undefined;
}

export type BoundCondition =
  | { readonly test: 'attribute'; readonly attribute: AttributeName; readonly values: readonly string[] }
  | {
      readonly test: 'signal';
      readonly signal: SignalName;
      readonly missing: number;
      readonly bounds: Bounds;
    }
  | { readonly test: 'known'; readonly name: SignalName | ClockName }
  | { readonly test: 'passed'; readonly clock: ClockName }
  /** Decided by the parameters alone. */
  | { readonly test: 'fixed'; readonly holds: boolean; readonly text: string };

export interface Bounds {
  readonly above: number | undefined;
  readonly atLeast: number | undefined;
  readonly below: number | undefined;
  readonly atMost: number | undefined;
}

export function withinBounds(value: number, bounds: Bounds): boolean {
  return (
    (bounds.above === undefined || value > bounds.above) &&
    (bounds.atLeast === undefined || value >= bounds.atLeast) &&
    (bounds.below === undefined || value < bounds.below) &&
    (bounds.atMost === undefined || value <= bounds.atMost)
  );
}
