import { expect, it } from 'vitest';
import { npxArguments } from './published.ts';

it('names no package of npm before there is one', () => {
  expect(npxArguments('1.2.3')).toBeUndefined();
});

it('names one version, so that no later one is run unseen', () => {
  expect(npxArguments('1.2.3', '@someone/salience')).toEqual(['-y', '@someone/salience@1.2.3']);
});
