// Makes the pictures of the inspector in docs/guides from the demo, light and dark: node scripts/inspector-pictures.mjs
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../', import.meta.url));
/** What the pictures show: a name, the view, and what is done there first. */
const PICTURES = [
  [
    'recall',
    '#/recall?q=which+coffee+goes+into+the+espresso+blend',
    (page) => page.getByRole('button', { name: 'Why this score' }).first().click(),
  ],
  ['memory', '#/memories/label', async () => {}],
];

const browser = await chromium.launch({
  executablePath: process.env.SALIENCE_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  for (const colorScheme of ['light', 'dark']) {
    // A demo and a code of its own for each: a code works once.
    const demo = spawn(
      process.execPath,
      [`${root}dist/cli/main.cjs`, 'inspect', '--demo', '--no-open', '--json'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [line] = await once(createInterface(demo.stdout), 'line');
    const page = await browser.newPage({ colorScheme, viewport: { width: 1060, height: 640 } });
    await page.goto(JSON.parse(line).url);
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    for (const [name, hash, prepare] of PICTURES) {
      await page.evaluate((next) => {
        location.hash = next;
      }, hash);
      await page.waitForLoadState('networkidle');
      await prepare(page);
      await page.mouse.move(0, 0);
      await page.waitForFunction(() => !document.querySelector('.loading, [aria-busy="true"]'));
      await page.screenshot({ path: `${root}docs/guides/inspector-${name}-${colorScheme}.png` });
    }
    await page.close();
    demo.kill('SIGINT');
    await once(demo, 'close');
  }
} finally {
  await browser.close();
}
