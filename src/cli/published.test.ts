import { expect, it } from 'vitest';
import { npxArguments } from './published.ts';

it('names no npm package before there is one', () => {
  expect(npxArguments('1.2.3')).toBeUndefined();
});

it('names one exact version, so that no later one is run', () => {
  expect(npxArguments('1.2.3', '@someone/salience')).toEqual(['-y', '@someone/salience@1.2.3']);
});
