import { Command } from 'commander';
import { expect, it } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { inOptionNames } from './option-names.ts';

const command = new Command('recall')
  .option('--min-score <number>')
  .option('--in-scope <scope>')
  .option('--record-recalls <days>');

function said(message: string, details: Readonly<Record<string, unknown>> = {}): string {
  return (inOptionNames(new SalienceError('invalid_argument', message, { details }), command) as Error)
    .message;
}

it.each([
  [
    'inScope: a scope is needed, together with minScore',
    '--in-scope: a scope is needed, together with --min-score',
  ],
  ['recordRecalls.days: 400 is too many', '--record-recalls: 400 is too many'],
  [
    'endSession ends what startSession began',
    '"salience session end" ends what "salience session start" began',
  ],
  [
    'a name that no option has, such as maxLength, stays',
    'a name that no option has, such as maxLength, stays',
  ],
])('arguments are options, and verbs commands: %s', (message, expected) => {
  expect(said(message)).toBe(expected);
});

it('does not change text in quotes', () => {
  const message = 'memory "minScore, inScope and \\"startSession\\"" is unknown';
  expect(said(message)).toBe(message);
});

it('keeps the code, the details and the cause', () => {
  const error = new SalienceError('invalid_argument', 'minScore: too high', {
    details: { field: 'minScore' },
  });
  expect(inOptionNames(error, command)).toMatchObject({
    code: error.code,
    details: error.details,
    cause: error,
  });
  const other = new TypeError('minScore');
  expect(inOptionNames(other, command)).toBe(other);
});
