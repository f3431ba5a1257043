import { expect, test } from 'vitest';
import { loadPeer } from './peer.ts';

const missing = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}' imported from /app/x.js`), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
const load = (error: Error) =>
  loadPeer(() => Promise.reject(error), '@mastra/core', 'salience/mastra').catch((thrown) => thrown);

test('a package that is not installed is named, with the command that installs it', async () => {
  const cause = missing('@mastra/core');
  expect(await load(cause)).toMatchObject({
    code: 'unsupported',
    message:
      'salience/mastra needs the package @mastra/core, which is not installed: npm install @mastra/core',
    details: { package: '@mastra/core' },
    cause,
  });
});

test('what is missing inside of it, and every other fault, is left as it is', async () => {
  for (const cause of [missing('something-else'), new TypeError('bug')])
    expect(await load(cause)).toBe(cause);
});

test('what is there is given', async () => {
  expect(await loadPeer(async () => ({ one: 1 }), 'x', 'salience/x')).toEqual({ one: 1 });
});
