import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCommandName } from '../../src/cli/command-name.ts';
import { COMMAND_GROUPS } from '../../src/cli/command-table.ts';
import { createProgram } from '../../src/cli/program.ts';
import { openMemory, type RememberInput, SalienceError } from '../../src/index.ts';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
beforeAll(async () => {
  work = createWorkplace();
  work.file('notes/coffee.md', '# Coffee\n\nDark roast on Mondays.\n');
  const life = { days: 120, memories: [{ day: 0, id: 'roast', content: 'Prefers dark roast' }] };
  work.file('life.json', JSON.stringify(life));
  work.file('chat.jsonl', '{"role":"user","content":"I like dark roast"}\n');
  work.file('memories.jsonl', '{"content":"Deploys happen on Thursdays"}\n');
  const said = { author: { role: 'user' }, content: { content_type: 'text', parts: ['Dark roast, please'] } };
  const conversation = { id: 'c', current_node: 'm', mapping: { m: { message: said, parent: null } } };
  work.file('conversations.json', JSON.stringify([conversation]));
  const fact = { id: 'f', memory: 'Ann drinks tea', user_id: 'ann', created_at: '2025-01-01T00:00:00Z' };
  work.file('mem0.json', JSON.stringify({ results: [fact] }));
  const another = { ...fact, id: 'g', memory: 'Bob drives a bus', user_id: 'bob' };
  work.file('team.json', JSON.stringify({ results: [fact, another] }));
  const fresh = { name: 'fresh', description: 'Words, and above all recency.', extends: 'balanced' };
  work.file('fresh.json', JSON.stringify(fresh));
  const dataset = [
    { kind: 'memory', space: 's', id: 'm1', content: 'Ann drinks tea', createdAt: '2026-01-01' },
    { kind: 'memory', space: 's', id: 'm2', content: 'Bob drives a bus', createdAt: '2026-01-02' },
    {
      kind: 'query',
      space: 's',
      id: 'q',
      query: 'who drinks tea?',
      now: '2026-02-01',
      type: 'who',
      relevant: ['m1'],
    },
  ];
  const shown = { kind: 'recall', at: '2026-02-01T00:00:00Z', strategy: 'bm25', query: 'who drinks tea?' };
  const uses = { kind: 'use', at: '2026-02-01T00:01:00Z', ids: ['beans'] };
  const hits = [{ id: 'grinder' }, { id: 'beans' }];
  work.file('recalls.jsonl', `${JSON.stringify({ ...shown, hits })}\n${JSON.stringify(uses)}\n`);
  work.file('questions.jsonl', dataset.map((each) => JSON.stringify(each)).join('\n'));
  await work.shell(
    'git init --quiet && git -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m first',
  );
});
afterAll(() => work[Symbol.dispose]());

const commands = COMMAND_GROUPS.flatMap((group) => group.commands);

describe('help', () => {
  it('lists every command and the exit codes', async () => {
    const { code, stdout } = await work.salience(['--help']);
    expect(code).toBe(0);
    for (const { name, summary } of commands) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
      expect(stdout).toContain(summary.slice(0, 30));
    }
    const headings = stdout.match(/^\S.*:$/gm) ?? [];
    expect(headings.slice(0, 2)).toEqual(['Everyday commands:', 'Look at memories:']);
    expect(headings.slice(-2)).toEqual(['Other commands:', 'Options:']);
    expect(stdout).toMatch(/Exit codes: 0 done; 1 failed.+2 wrong usage.+3 partly done.+130 interrupted/s);
    expect((await work.salience(['help', 'recall'])).stdout).toContain('Usage: salience recall');
    expect((await work.salience(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    ['help', 'recal'],
    ['recal', '--help'],
    ['recal', '-h'],
  ])('says that a command is unknown, and which one may be meant: %s %s', async (...asked) => {
    const { code, stdout, stderr } = await work.salience(asked);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe("error: unknown command 'recal'\n(Did you mean recall?) (usage)\n");
  });

  it.each([
    ['search', '\n(Did you mean recall?)'],
    ['add', '\n(Did you mean remember?)'],
    ['delete', '\n(Did you mean forget?)'],
    ['constructor', ''],
  ])('knows what other memories call a command: %s', async (name, meant) => {
    const { code, stderr } = await work.salience([name, 'coffee']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error: unknown command '${name}'${meant} (usage)\n`,
    });
  });

  it.each([
    ['recall', '--top-k', '--limit'],
    ['recall', '--threshold', '--min-relevance'],
    ['recall', '-k', '--limit'],
    ['remember', '--user-id', '--space'],
    ['remember', '--run_id', '--session'],
    ['remember', '--labels', '--tag'],
    ['import', '--user-id', '--user'],
    ['list', '--top-k', '--limit'],
    ['recall', '--metadata', '--where'],
    ['recall', '--types-exclude', '--not-type'],
    ['recall', '--limmit', '--limit'],
    ['session start', '--user-id', '--space'],
  ])('knows what other memories call an option: %s %s', async (command, name, meant) => {
    const { code, stderr } = await work.salience([...command.split(' '), 'coffee', name, '3']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error: unknown option '${name}'\n(Did you mean ${meant}?) (usage)\n`,
    });
  });

  it.each([
    ['session', 'help', 'nope'],
    ['help', 'session', 'nope'],
    ['session', 'nope', '--help'],
  ])('says that a command below another is unknown: %s %s %s', async (...asked) => {
    expect(await work.salience(asked)).toEqual({
      code: 2,
      stdout: '',
      stderr: "error: unknown command 'nope' (usage)\n",
    });
    expect((await work.salience(['session', 'help', 'start'])).stdout).toContain(
      'Usage: salience session start',
    );
  });

  it.each([['salience'], ['salience', 'session'], ['salience', 'token']])(
    'says in JSON that a command is missing: %s %s',
    async (...words) => {
      const { code, stdout, stderr } = await work.salience([...words.slice(1), '--json']);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(JSON.parse(stderr)).toEqual({
        error: {
          code: 'usage',
          message: `the command is missing; "${words.join(' ')} --help" lists what there is`,
          details: {},
        },
      });
    },
  );

  it('names no argument of the library', async () => {
    expect((await work.salience(['forget', '--help'])).stdout).not.toContain('inScope');
  });

  // In the order of the table, which is that of a life: what is remembered first is forgotten later. A server goes on, and
  // what tune finds on one question is refused. Two need a server of PostgreSQL.
  const apart = ['forget', 'serve', 'inspect', 'tune', 'migrate', 'erase'];
  it.each(commands.map(({ name }) => name).filter((name) => !apart.includes(name)))(
    'of %s has examples that run',
    async (name) => {
      const examples = await examplesOf(name);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        // It goes on until it is interrupted.
        if (example.endsWith('--follow') || example.includes('env:SALIENCE_STORE')) continue;
        // A memory that an example needs may have been undone or renamed by an earlier one.
        await remember('default', [
          { content: 'Prefers dark roast', type: 'preference', id: 'roast', tags: ['coffee'] },
          ...(example.includes('Barista') ? ['Anna', 'Barista'] : []).map((title) => ({
            ...{ content: `Makes the coffee: ${title}`, type: 'entity', title },
          })),
          ...(example.includes('grinder') ? [{ content: 'The grinder is set to 12', id: 'grinder' }] : []),
          // The others are not believed any more by then.
          ...(example.includes('recalls.jsonl') ? [{ content: 'Buys Ethiopian beans', id: 'beans' }] : []),
        ]);
        // What is to be resolved has to contradict each other, and to be the first that does.
        const env = name === 'resolve' ? { SALIENCE_SPACE: 'contradictions' } : {};
        if (name === 'resolve') {
          const ways = ['dark', 'light', 'medium'];
          await remember(
            'contradictions',
            ways.map((how) => ({ content: `Ann prefers ${how} roast coffee` })),
          );
        }
        if (name === 'replay') {
          await work.salience(['configure', '--record-recalls', '7', '--record-texts']);
          await work.salience(['recall', 'roast', '--strategy', 'bm25']);
        }
        const { code, stderr } = await work.shell(
          example.replace(/^salience remember (.*) --id roast$/, 'salience remember $1 --id another'),
          { env },
        );
        expect({ example, code, stderr }).toEqual({ example, code: 0, stderr: '' });
      }
    },
  );

  it('of forget has an example that runs', async () => {
    await remember('default', [{ content: 'Prefers dark roast', id: 'roast' }]);
    const [example] = await examplesOf('forget');
    expect(await work.shell(example as string)).toMatchObject({ code: 0, stderr: '' });
  });

  it('is in a process what it is here, and ends with 0', async () => {
    for (const args of [['--help'], ['recall', '--help'], ['help', 'why-not'], ['eval-set', '--help']]) {
      const { code, stdout, stderr } = await work.salience(args, { env: { COLUMNS: '80' } });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toBe(await helpOf(args));
    }
  });

  async function examplesOf(name: string): Promise<readonly string[]> {
    const [, examples = ''] = (await helpOf([name, '--help'])).split('\nExamples:\n');
    return examples.split('\n').flatMap((line) => /^ {2}\$ (.+)$/.exec(line)?.[1] ?? []);
  }
});

/** What asking for help prints, by the code that the program runs. */
async function helpOf(args: readonly string[]): Promise<string> {
  let printed = '';
  const program = await createProgram(args);
  for (const each of [program, ...program.commands]) {
    each.configureOutput({ writeOut: (text) => (printed += text), getOutHelpWidth: () => 80 });
  }
  const asked = await program.parseAsync([...args], { from: 'user' }).catch((error: unknown) => error);
  expect(asked).toMatchObject({ exitCode: 0 });
  return printed;
}

/** In this process: starting one for each would take longer than all the examples. */
async function remember(space: string, inputs: readonly RememberInput[]): Promise<void> {
  await using memory = await openMemory({ path: join(work.directory, 'memory'), space });
  for (const { content, ...options } of inputs) {
    await memory.remember(content, options).catch((error: unknown) => {
      // What an earlier example has made of it will do.
      if (!(SalienceError.isInstance(error) && error.code === 'already_exists')) throw error;
    });
  }
}

describe('the name of the command', () => {
  it('is found among options before it', () => {
    expect(findCommandName(['--space', 'recall', '--json', 'list', '--limit', '3'])).toBe('list');
    expect(findCommandName(['--space=x', 'get', 'list'])).toBe('get');
    expect(findCommandName(['help', 'eval'])).toBe('eval');
    expect(findCommandName(['--json', '--path', 'p'])).toBeUndefined();
  });
});
