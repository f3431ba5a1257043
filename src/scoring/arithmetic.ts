/**
 * The arithmetic of every score. Besides + − × ÷ and square roots, only `exp` and `log` are used: they give the same
 * bits on every supported runtime, `Math.pow` does not.
 */

/** 2^(−age/halfLife): 1 at age 0, 0.5 at one half-life. Both in the same unit. */
export function exponentialDecay(age: number, halfLife: number): number {
  return Math.exp(-(age / halfLife) * Math.LN2);
}

/** The half-life of the curve e^(−rate·age). */
export function halfLifeOfRate(rate: number): number {
  return Math.LN2 / rate;
}

/** (1 + age/scale)^(−exponent): a decay with a long tail. */
export function powerDecay(age: number, scale: number, exponent: number): number {
  return Math.exp(-exponent * Math.log(1 + age / scale));
}

/** base^exponent for base ≥ 0; 0 to any power is 0. */
export function power(base: number, exponent: number): number {
  return base === 0 ? 0 : Math.exp(exponent * Math.log(base));
}

/** min(max(n, 0), cap)/cap: linear up to a cap. */
export function cappedLinear(n: number, cap: number): number {
  return Math.min(Math.max(n, 0), cap) / cap;
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
