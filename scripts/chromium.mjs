import { existsSync } from 'node:fs';

/** Debian's Chromium without windows. It loads a page in half the time. */
export const PREFERRED = { path: '/usr/bin/chromium-headless-shell', package: 'chromium-headless-shell' };

/** The browser of the tests: that of SALIENCE_CHROMIUM, or the one of Debian's that is installed. */
export function browserOfTests() {
  const isThere = existsSync(PREFERRED.path) || !existsSync('/usr/bin/chromium');
  return process.env.SALIENCE_CHROMIUM ?? (isThere ? PREFERRED.path : '/usr/bin/chromium');
}
