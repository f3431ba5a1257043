import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createWorkplace } from './cli.ts';

/**
 * Runs the commands of the guides, in their order, in one directory for each guide, and compares what they print.
 * `UPDATE_GUIDES=1 ./run test test/cli/guide.test.ts` writes the present output into the guides.
 */
const stillClock = new URL('still-clock.mjs', import.meta.url).href;
const updating = process.env['UPDATE_GUIDES'] === '1';

interface Block {
  /** As it stands between the fences. */
  readonly text: string;
  readonly steps: readonly { readonly command: string; readonly output: string }[];
}

/** `console` fences: lines with `$ ` are commands, with `> ` their continuation, all others what they print. */
function blocksOf(guide: string): readonly Block[] {
  return [...guide.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text = '']) => {
    const steps = text
      .split(/^(?=\$ )/m)
      .filter((step) => step.startsWith('$ '))
      .map((step) => {
        const lines = step.split('\n');
        const last = lines.findIndex((line, index) => index > 0 && !line.startsWith('> '));
        const command = lines.slice(0, last).map((line) => line.slice(2));
        return { command: command.join('\n'), output: lines.slice(last).join('\n').trimEnd() };
      });
    return { text, steps };
  });
}

/** What differs from run to run. */
function normalise(output: string): string {
  return output
    .replace(/\d+(?:\.\d+)? ms/g, '0 ms')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d\.\d{3})?Z/g, 'TIME')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, 'UUID')
    .replace(/git:[0-9a-f]{40}/g, 'git:HASH')
    .replace(/^(node|sqlite|salience)( +)\S+$/gm, '$1$2VERSION')
    .replace(/\d+\.\d KiB/g, 'SIZE')
    .replace(
      /^((?:analyze|eligible|validity_filter|bm25_search|vector_search|score|rerank|expand|bridge|merge|hydrate|other|effects) .*?)[\d.]+$/gm,
      '$1',
    )
    .split('\n')
    .map((line) => line.trimEnd().replace(/ +/g, ' '))
    .join('\n')
    .trimEnd();
}

describe.each(['belief', 'cli', 'graph', 'importing', 'living-memory'])('the guide %s', (name) => {
  it('prints what it says', async () => {
    const path = fileURLToPath(new URL(`../../docs/guides/${name}.md`, import.meta.url));
    let guide = readFileSync(path, 'utf8');
    const blocks = blocksOf(guide);
    expect(blocks.length).toBeGreaterThan(2);
    using work = createWorkplace();
    const script = fileURLToPath(new URL('../../examples/simulate/coffee.json', import.meta.url));
    copyFileSync(script, join(work.directory, 'coffee.json'));
    // Scores fade as time passes: however busy the machine is, a second lies between two commands.
    let clock = Date.now();
    for (const { text, steps } of blocks) {
      let written = '';
      for (const { command, output } of steps) {
        clock += 1000;
        const env = {
          SALIENCE_PATH: 'memory',
          STILL_CLOCK: String(clock),
          NODE_OPTIONS: `--import ${stillClock}`,
        };
        const { stdout } = await work.shell(`exec 2>&1\n${command}`, { env });
        // Whose directory it was is nobody's business.
        const printed = stdout.replaceAll(work.directory, '/home/ann');
        if (!updating) expect(normalise(printed), command).toBe(normalise(output));
        written += `$ ${command.replaceAll('\n', '\n> ')}\n${printed.trimEnd()}${printed.trim() === '' ? '' : '\n'}`;
      }
      guide = guide.replace(text, () => written);
    }
    if (updating) writeFileSync(path, guide);
  });
});
