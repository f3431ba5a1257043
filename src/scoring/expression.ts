import type { ClockName } from '../model/fields.ts';
import type { AttributeName, SignalName } from './signals.ts';

/**
 * A formula as data. A plain number may stand wherever a formula may. Every value is a finite float64.
 *
 * `docs/guides/profiles.md` shows each operator with an example.
 */
export type Expression =
  | number
  | { readonly op: 'constant'; readonly value: number }
  /** A parameter of the profile, a number. */
  | { readonly op: 'param'; readonly name: string }
  /** A number about the memory; `missing` is its value when unknown. */
  | { readonly op: 'signal'; readonly name: SignalName; readonly missing?: Scalar | undefined }
  /** A named part of the profile. */
  | { readonly op: 'ref'; readonly name: string }
  /** Σ weight·of, in the order of the terms. `total` is what the weights sum to, where it is not 1. */
  | { readonly op: 'sum'; readonly total?: number | undefined; readonly terms: readonly WeightedTerm[] }
  /** Σ weight·of ÷ Σ weight. */
  | { readonly op: 'mean'; readonly terms: readonly WeightedTerm[] }
  | { readonly op: 'product'; readonly of: readonly Expression[] }
  /** base^exponent = e^(exponent·log base), base ≥ 0; 0 to any power is 0. */
  | { readonly op: 'power'; readonly base: Expression; readonly exponent: Expression }
  | { readonly op: 'min'; readonly of: readonly Expression[] }
  | { readonly op: 'max'; readonly of: readonly Expression[] }
  /** Held within [min, max]. Default is [0, 1]. */
  | {
      readonly op: 'clamp';
      readonly of: Expression;
      readonly min?: Scalar | undefined;
      readonly max?: Scalar | undefined;
    }
  /** min(max(of, 0), cap) ÷ cap. */
  | { readonly op: 'capped'; readonly of: Expression; readonly cap: Scalar }
  | DecayExpression
  /** Days since a clock, or since the earliest or the latest of several; never negative. */
  | {
      readonly op: 'age';
      readonly of:
        | ClockName
        | { readonly earliest: readonly ClockName[] }
        | { readonly latest: readonly ClockName[] };
    }
  /** One formula for each value of an attribute. */
  | {
      readonly op: 'table';
      readonly by: AttributeName;
      readonly cases: { readonly [value: string]: Expression };
      readonly otherwise: Expression;
    }
  /** A choice by a condition. */
  | {
      readonly op: 'when';
      readonly if: Condition;
      readonly then: Expression;
      readonly else: Expression;
    };

/**
 * A value that fades with an age in days.
 *
 * Exponential: 2^(−age/halfLife), or the same curve by its `rate` λ (e^(−λ·age)) or its `scale` (e^(−age/scale)).
 * Power: (1 + age/scale)^(−exponent); it takes a `scale`.
 */
export type DecayExpression = {
  readonly op: 'decay';
  /** Default is `exponential`. */
  readonly curve?: 'exponential' | 'power' | undefined;
  readonly age: Expression;
  /** The value when the age is unknown. Without it an unknown age is an error. */
  readonly missing?: Scalar | undefined;
  /** Of the power curve. */
  readonly exponent?: Scalar | undefined;
} & ({ readonly halfLife: Expression } | { readonly rate: Expression } | { readonly scale: Expression });

/** A number that is known before any memory is looked at. */
export type Scalar = number | { readonly op: 'param'; readonly name: string };

export interface WeightedTerm {
  /** Default is 1. */
  readonly weight?: Scalar | undefined;
  readonly of: Expression;
}

export type Condition =
  | { readonly attribute: AttributeName; readonly is: string | readonly string[] }
  /** The value of a signal, its default included, lies within all the bounds given. */
  | {
      readonly signal: SignalName;
      readonly above?: Scalar | undefined;
      readonly atLeast?: Scalar | undefined;
      readonly below?: Scalar | undefined;
      readonly atMost?: Scalar | undefined;
    }
  /** The signal or clock has a value of its own. */
  | { readonly known: SignalName | ClockName }
  /** The clock is known, and its moment has come. */
  | { readonly passed: ClockName }
  | { readonly param: string; readonly is: string | boolean };
