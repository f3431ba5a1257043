import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));
const host = fileURLToPath(new URL('host.mjs', import.meta.url));
const stillClock = new URL('still-clock.mjs', import.meta.url).href;

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Typed as soon as stdout shows the question. */
  readonly answer?: { readonly to: string; readonly with: string } | undefined;
  /** Written to stdin, which stays open; Ctrl-C follows. More than a pipe holds, so that the command has begun to read. */
  readonly interruptedAfter?: string | undefined;
  readonly uid?: number | undefined;
  /** The time of the program, which stands still. */
  readonly clock?: number | undefined;
  /** Runs the program as a user does, where the process is what is tested. */
  readonly process?: boolean | undefined;
}

/** A directory with the built command line interface at work in it, as a user has it. */
export interface Workplace extends Disposable {
  readonly directory: string;
  file(name: string, content: string): string;
  /** Runs `salience` with these arguments. */
  salience(args: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** The same with `--json`; throws unless it ends with 0. */
  json(args: readonly string[], options?: RunOptions): Promise<Record<string, unknown>>;
  /** Runs a line of shell in which `salience` is a command. */
  shell(line: string, options?: RunOptions): Promise<Outcome>;
}

export function createWorkplace(): Workplace {
  if (!existsSync(main)) {
    throw new Error(`${main} is missing: these tests run the built program; build it with ./run setup`);
  }
  const root = mkdtempSync(join(tmpdir(), 'salience-cli-'));
  const directory = join(root, 'work');
  const bin = join(root, 'bin');
  for (const each of [directory, bin, join(root, 'home')]) mkdirSync(each);
  writeFileSync(join(bin, 'salience'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(join(bin, 'salience'), 0o755);
  const environment = (extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => {
    const inherited = Object.entries(process.env).filter(
      ([name]) =>
        !/^(SALIENCE_|OPENAI_|GIT_|NODE_OPTIONS|NODE_DISABLE_COMPILE_CACHE|FORCE_COLOR|NO_COLOR|VITEST)/.test(
          name,
        ),
    );
    return {
      ...Object.fromEntries(inherited),
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: join(root, 'home'),
      // One for the whole run: hundreds of commands would be compiled in each place anew.
      XDG_CACHE_HOME: join(tmpdir(), 'caches'),
      SALIENCE_PATH: join(directory, 'memory'),
      ...extra,
    };
  };
  const run = (command: string, args: readonly string[], { clock, ...options }: RunOptions = {}) => {
    const still =
      clock === undefined ? {} : { STILL_CLOCK: String(clock), NODE_OPTIONS: `--import ${stillClock}` };
    const env = environment({ ...still, ...options.env });
    return runProcess(command, args, { ...options, env, directory });
  };
  const salience: Workplace['salience'] = (args, options = {}) =>
    needsProcess(args, options)
      ? run(process.execPath, [main, ...args], options)
      : runInHost({ args, env: environment(options.env), directory, clock: options.clock, merges: false });
  return {
    directory,
    file(name, content) {
      const path = join(directory, name);
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    salience,
    async json(args, options) {
      const { code, stdout, stderr } = await salience([...args, '--json'], options);
      if (code !== 0) throw new Error(`salience ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as Record<string, unknown>;
    },
    shell: (line, options = {}) => {
      const words = wordsOf(line);
      if (!words) return run('bash', ['-c', line], options);
      const merges = line.endsWith(MERGING);
      if (!merges || needsProcess(words, options)) return salience(words, options);
      return runInHost({
        args: words,
        env: environment(options.env),
        directory,
        clock: options.clock,
        merges,
      });
    },
    [Symbol.dispose]() {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Ends a line whose errors are printed with the rest, in order. */
const MERGING = ' 2>&1';

/** The arguments of a line that is one command alone, in which nothing else is left for a shell to do. */
export function wordsOf(line: string): readonly string[] | undefined {
  const word = /[\w./:@%+=,-]+|'[^']*'|"[^"$`\\!]*"/.source;
  const whole = line.replace(/ *\\\n */g, ' ');
  const [, words] = new RegExp(`^salience((?: (?:${word}))*)(?:${MERGING})?$`).exec(whole) ?? [];
  return words?.match(new RegExp(word, 'g'))?.map((each) => each.replace(/^(['"])(.*)\1$/, '$2'));
}

/** Servers end by a signal alone, and all but this is about the process. */
const SERVERS: ReadonlySet<string> = new Set(['inspect', 'mcp', 'serve']);

function needsProcess(args: readonly string[], { env = {}, clock: _, ...others }: RunOptions): boolean {
  return (
    process.env['SALIENCE_TEST_PROCESSES'] === 'each' ||
    Object.values(others).some((each) => each !== undefined) ||
    Object.keys(env).some((name) => name.startsWith('NODE_')) ||
    args.some((each) => SERVERS.has(each))
  );
}

/** Processes that wait for a command. */
const idle: ChildProcess[] = [];

async function runInHost(command: {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly directory: string;
  readonly clock: number | undefined;
  readonly merges: boolean;
}): Promise<Outcome> {
  const child = idle.pop() ?? fork(host, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.ref();
  child.channel?.ref();
  child.send(command);
  const ended = new AbortController();
  try {
    const [outcome] = await Promise.race([
      once(child, 'message', ended),
      once(child, 'exit', ended).then(([code, signal]) => {
        throw new Error(`salience ${command.args.join(' ')} ended its process: ${code ?? signal}`);
      }),
    ]);
    idle.push(child);
    return outcome as Outcome;
  } finally {
    ended.abort();
    child.unref();
    child.channel?.unref();
  }
}

function runProcess(
  command: string,
  args: readonly string[],
  options: RunOptions & { readonly directory: string; readonly env: NodeJS.ProcessEnv },
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.directory,
      env: options.env,
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (options.answer && stdout.includes(options.answer.to)) child.stdin.end(options.answer.with);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.on('error', () => {});
    if (options.interruptedAfter) child.stdin.write(options.interruptedAfter, () => child.kill('SIGINT'));
    else if (!options.answer) child.stdin.end(options.input ?? '');
  });
}
