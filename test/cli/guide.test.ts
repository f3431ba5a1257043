import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { blocksOfPage, pages } from '../docs/page-blocks.ts';
import { createWorkplace, type Workplace, wordsOf } from './cli.ts';
import { blocksOf, commandsOf, fencesOf, normalise } from './guide.ts';

/**
 * Runs the commands of the guides, in order, in one directory for each guide, and compares their output.
 * `UPDATE_GUIDES=1 ./run test test/cli/guide.test.ts` writes the current output into the guides.
 */
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
      const timed = commandsOf(commands).map((command) => {
        clock += 1000;
        return { command, clock };
      });
      const printed = await print(work, timed);
      // Keeps the name of the local directory out of the guide.
      const shown = printed.replaceAll(work.directory, '/home/ann');
      if (!updating) expect(normalise(shown), commands).toBe(normalise(output));
      guide = guide.replace(text, () => fencesOf(commands, shown));
    }
    if (updating) writeFileSync(path, guide);
  });
});

interface Timed {
  readonly command: string;
  readonly clock: number;
}

/** What the commands of a block print: in one shell, unless there is nothing for a shell to do. */
async function print(work: Workplace, timed: readonly Timed[]): Promise<string> {
  const env = { SALIENCE_PATH: 'memory' };
  if (timed.every(({ command }) => wordsOf(command))) {
    let printed = '';
    for (const { command, clock } of timed)
      printed += (await work.shell(`${command} 2>&1`, { env, clock })).stdout;
    return printed;
  }
  const lines = timed.map(({ command, clock }) => `STILL_CLOCK=${clock}\n${command}`);
  const { stdout } = await work.shell(`exec 2>&1\n${lines.join('\n')}`, { env, clock: timed[0]?.clock });
  return stdout;
}
