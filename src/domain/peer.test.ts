import { expect, test } from 'vitest';
import { loadPeer } from './peer.ts';

const missing = (name: string, code = 'ERR_MODULE_NOT_FOUND') =>
  Object.assign(new Error(`Cannot find package '${name}' imported from /app/x.js`), { code });
const load = (error: Error) =>
  loadPeer(() => Promise.reject(error), ['@mastra/core', '@mastra/other'], 'salience/mastra').catch(
    (thrown) => thrown,
  );

test.each([
  ['@mastra/core', 'ERR_MODULE_NOT_FOUND'],
  ['@mastra/other', 'ERR_MODULE_NOT_FOUND'],
  ['@mastra/other', 'MODULE_NOT_FOUND'],
])('%s, which is not installed (%s), is named, with the command that installs all', async (name, code) => {
  const cause = missing(name, code);
  expect(await load(cause)).toMatchObject({
    code: 'unsupported',
    message: `salience/mastra needs the package ${name}, which is not installed: npm install @mastra/core @mastra/other`,
    details: { package: name },
    cause,
  });
});

test.each([
  ['ERR_DLOPEN_DISABLED', 'loading addons is disabled', '--allow-addons'],
  ['ERR_DLOPEN_FAILED', 'x.node: invalid ELF header', '(x.node: invalid ELF header); install it here anew'],
  [
    undefined,
    'No native build was found for platform=freebsd\n    loaded from: x',
    'platform=freebsd); install',
  ],
])(
  'native code that the system does not load (%s) is no fault, and it is said what to do',
  async (code, message, advice) => {
    const cause = Object.assign(new Error(message), { code });
    expect(await load(cause)).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(advice),
      cause,
    });
  },
);

test('what is missing inside of it, and every other fault, is left as it is', async () => {
  const others = [missing('something-else'), missing('@mastra/core', 'EACCES'), new TypeError('bug')];
  for (const cause of others) expect(await load(cause)).toBe(cause);
});

test('what is there is given', async () => {
  expect(await loadPeer(async () => ({ one: 1 }), ['x'], 'salience/x')).toEqual({ one: 1 });
});
