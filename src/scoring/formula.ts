import { SalienceError } from '../domain/errors.ts';
import { unknown } from '../domain/options.ts';
import { writtenCondition } from './condition.ts';
import { type Expression, notationOf, OPERATOR_NAMES } from './operators/index.ts';
import type { FormulaText } from './operators/operator.ts';
import { onlyProfile, type ParameterDefinition, type Profile } from './profile.ts';
import { shortNumber, visible } from './show.ts';

/**
 * Writes a profile as people write formulas: the score, then one line for each part, each condition, and each parameter
 * with its default and range. A name alone is a signal, a part or a parameter. Throws `invalid_argument` for a value
 * that is not a profile.
 *
 * @example
 * ```ts
 * console.log(formulaText(builtinProfile('hybrid')));
 * ```
 */
export function formulaText(profile: Profile): string {
  onlyProfile(profile);
  const parts = Object.entries(profile.parts).map(([name, part]) =>
    part === null || typeof part !== 'object' || part.op !== 'signal' || part.name !== name
      ? `  ${visible(name)} = ${text.of(part)}`
      : `  ${visible(name)} = the signal ${text.of(part)}`,
  );
  const conditions = profile.require.map((condition) => `  ${writtenCondition(condition)}`);
  const parameters = Object.entries(profile.parameters).map(
    ([name, parameter]) => `  ${visible(name)} = ${parameterText(parameter)}`,
  );
  return [
    `score = ${text.of(profile.score)}`,
    ...section('parts', parts),
    ...section('only where', conditions),
    ...section('parameters', parameters),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines];
}

const text: FormulaText = {
  of(expression) {
    if (typeof expression === 'number') return shortNumber(expression);
    return writing(expression).formula(expression, text);
  },
  tight(expression) {
    const loose =
      typeof expression === 'number' ? expression < 0 : writing(expression).isLoose?.(expression) === true;
    return loose ? `(${text.of(expression)})` : text.of(expression);
  },
  condition: writtenCondition,
};

function writing({ op }: Exclude<Expression, number>) {
  const notation = notationOf(op);
  if (notation) return notation;
  throw new SalienceError('invalid_profile', unknown('operator', op, OPERATOR_NAMES));
}

function parameterText(parameter: ParameterDefinition): string {
  const about = parameter.description === undefined ? '' : `: ${visible(parameter.description)}`;
  switch (parameter.kind) {
    case 'flag':
      return `${parameter.default} (true or false)${about}`;
    case 'choice':
      return `${visible(parameter.default)} (${parameter.choices.map(visible).join(', ')})${about}`;
    case 'number':
      return `${shortNumber(parameter.default)}${rangeText(parameter)}${about}`;
  }
}

function rangeText({
  min,
  max,
}: {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}): string {
  if (min !== undefined && max !== undefined) return ` (${shortNumber(min)} to ${shortNumber(max)})`;
  if (min !== undefined) return ` (at least ${shortNumber(min)})`;
  return max === undefined ? '' : ` (at most ${shortNumber(max)})`;
}
