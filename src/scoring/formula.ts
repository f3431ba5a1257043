import type { Condition, Expression, Scalar, WeightedTerm } from './expression.ts';
import type { ParameterDefinition, Profile } from './profile.ts';
import { shortNumber, visible } from './show.ts';

/**
 * A profile as people write formulas: the score, then one line for each part, for each condition and for each
 * parameter with its default and range. Names that stand alone are signals, parts or parameters.
 *
 * @example
 * ```ts
 * console.log(formulaText(builtinProfile('hybrid')));
 * ```
 */
export function formulaText(profile: Profile): string {
  const parts = Object.entries(profile.parts).map(([name, part]) =>
    part === null || typeof part !== 'object' || part.op !== 'signal' || part.name !== name
      ? `  ${visible(name)} = ${expressionText(part)}`
      : `  ${visible(name)} = the signal ${signalText(part)}`,
  );
  const conditions = profile.require.map((condition) => `  ${conditionOf(condition)}`);
  const parameters = Object.entries(profile.parameters).map(
    ([name, parameter]) => `  ${visible(name)} = ${parameterText(parameter)}`,
  );
  return [
    `score = ${expressionText(profile.score)}`,
    ...section('parts', parts),
    ...section('only where', conditions),
    ...section('parameters', parameters),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines];
}

function expressionText(expression: Expression): string {
  if (typeof expression === 'number') return shortNumber(expression);
  switch (expression.op) {
    case 'constant':
      return shortNumber(expression.value);
    case 'param':
    case 'ref':
      return visible(expression.name);
    case 'signal':
      return signalText(expression);
    case 'sum':
      return expression.terms.map(termText).join('');
    case 'mean':
      return `mean(${expression.terms.map((term) => factorText(term)).join(', ')})`;
    case 'product':
      return expression.of.map(tight).join(' × ');
    case 'power':
      return `${tight(expression.base)}^${tight(expression.exponent)}`;
    case 'min':
    case 'max':
      return `${expression.op}(${expression.of.map(expressionText).join(', ')})`;
    case 'clamp':
      return `clamp(${expressionText(expression.of)}, ${scalarText(expression.min ?? 0)} to ${scalarText(expression.max ?? 1)})`;
    case 'capped':
      return `capped(${expressionText(expression.of)}, at ${scalarText(expression.cap)})`;
    case 'decay':
      return decayText(expression);
    case 'age':
      return `age(${ageText(expression.of)})`;
    case 'table': {
      const cases = Object.entries(expression.cases).map(
        ([value, of]) => `${visible(value)}: ${expressionText(of)}`,
      );
      return `table(${[`by ${expression.by}`, ...cases, `otherwise: ${expressionText(expression.otherwise)}`].join(', ')})`;
    }
    case 'when':
      return `(if ${conditionOf(expression.if)} then ${expressionText(expression.then)} else ${expressionText(expression.else)})`;
  }
}

/** The same, in brackets where an operator beside it would tear it apart. */
function tight(expression: Expression): string {
  const text = expressionText(expression);
  if (typeof expression === 'number') return expression < 0 ? `(${text})` : text;
  const loose =
    expression.op === 'product' ||
    expression.op === 'power' ||
    expression.op === 'sum' ||
    (expression.op === 'signal' && expression.missing !== undefined) ||
    (expression.op === 'constant' && expression.value < 0);
  return loose ? `(${text})` : text;
}

function termText(term: WeightedTerm, index: number): string {
  const negative = typeof term.weight === 'number' && term.weight < 0;
  const positive = negative ? { ...term, weight: -(term.weight as number) } : term;
  const sign = index === 0 ? (negative ? '−' : '') : negative ? ' − ' : ' + ';
  return `${sign}${factorText(positive)}`;
}

function factorText({ weight = 1, of }: WeightedTerm): string {
  if (weight === 1) return tight(of);
  if (of === 1) return scalarText(weight);
  return `${scalarText(weight)}·${tight(of)}`;
}

function signalText(signal: Extract<Expression, { op: 'signal' }>): string {
  return signal.missing === undefined
    ? visible(signal.name)
    : `${visible(signal.name)} or ${scalarText(signal.missing)}`;
}

function decayText(decay: Extract<Expression, { op: 'decay' }>): string {
  const pace =
    'halfLife' in decay
      ? `half-life ${expressionText(decay.halfLife)} d`
      : 'rate' in decay
        ? `rate ${expressionText(decay.rate)} a day`
        : `scale ${expressionText(decay.scale)} d`;
  const power = decay.curve === 'power' ? [`power ${scalarText(decay.exponent ?? 1)}`] : [];
  const missing = decay.missing === undefined ? [] : [`unknown ${scalarText(decay.missing)}`];
  return `decay(${[expressionText(decay.age), pace, ...power, ...missing].join(', ')})`;
}

function ageText(of: Extract<Expression, { op: 'age' }>['of']): string {
  if (typeof of === 'string') return of;
  return 'latest' in of ? `latest of ${of.latest.join(', ')}` : `earliest of ${of.earliest.join(', ')}`;
}

function conditionOf(condition: Condition): string {
  if ('attribute' in condition) {
    const values = typeof condition.is === 'string' ? [condition.is] : condition.is;
    return `${condition.attribute} is ${values.map(visible).join(' or ')}`;
  }
  if ('passed' in condition) return `${condition.passed} has passed`;
  if ('known' in condition) return `${condition.known} is known`;
  if ('param' in condition) return `${visible(condition.param)} is ${visible(String(condition.is))}`;
  const limits = (
    [
      ['>', condition.above],
      ['≥', condition.atLeast],
      ['<', condition.below],
      ['≤', condition.atMost],
    ] as const
  ).flatMap(([sign, limit]) =>
    limit === undefined ? [] : [`${condition.signal} ${sign} ${scalarText(limit)}`],
  );
  return limits.join(' and ');
}

function scalarText(value: Scalar): string {
  return typeof value === 'number' ? shortNumber(value) : visible(value.name);
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
