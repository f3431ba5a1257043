import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { blocksOfPage, pages } from '../docs/page-blocks.ts';
import { createWorkplace } from './cli.ts';
import { between, blocksOf, fencesOf, normalise } from './guide.ts';

/**
 * Runs the commands of the guides, in order, in one directory for each guide, and compares their output.
 * `UPDATE_GUIDES=1 ./run test test/cli/guide.test.ts` writes the current output into the guides.
 */
const stillClock = new URL('still-clock.mjs', import.meta.url).href;
const updating = process.env['UPDATE_GUIDES'] === '1';

const guides = pages
  .filter((page) => page.startsWith('docs/guides/'))
  .filter((page) => blocksOfPage(page).some(({ language }) => language === 'bash'))
  .map((page) => basename(page, '.md'));

it('finds the guides with terminal output', () => {
  expect(guides).toEqual(expect.arrayContaining(['belief', 'cli', 'graph', 'importing', 'living-memory']));
});

describe.each(guides)('the guide %s', (name) => {
  it('shows what its commands print', async () => {
    const path = fileURLToPath(new URL(`../../docs/guides/${name}.md`, import.meta.url));
    let guide = readFileSync(path, 'utf8');
    const blocks = blocksOf(guide);
    expect(blocks.length).toBeGreaterThan(2);
    using work = createWorkplace();
    const script = fileURLToPath(new URL('../../examples/simulate/coffee.json', import.meta.url));
    copyFileSync(script, join(work.directory, 'coffee.json'));
    // Scores fade with time, so the clock advances by one second for each command, however busy the machine is.
    let clock = Date.now();
    for (const { text, commands, output } of blocks) {
      const env = {
        SALIENCE_PATH: 'memory',
        STILL_CLOCK: String(clock),
        NODE_OPTIONS: `--import ${stillClock}`,
      };
      const tick = 'STILL_CLOCK=$((STILL_CLOCK + 1000))';
      const script = between(commands, tick);
      clock += (script.split(tick).length - 1) * 1000;
      const { stdout } = await work.shell(`exec 2>&1\n${script}`, { env });
      // Keeps the name of the local directory out of the guide.
      const printed = stdout.replaceAll(work.directory, '/home/ann');
      if (!updating) expect(normalise(printed), commands).toBe(normalise(output));
      guide = guide.replace(text, () => fencesOf(commands, printed));
    }
    if (updating) writeFileSync(path, guide);
  });
});
