import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A script of `test/processes`, running against the build, line by line. */
export interface RunningScript {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it printed, in order; ends with the process. */
  readonly lines: AsyncIterableIterator<string>;
  /** Resolves when it has ended, with what it wrote on stderr. */
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly errors: string;
  }>;
}

const root = new URL('../../', import.meta.url);

/** Starts a script of `test/processes`. Fails with a hint when the build that it runs against is missing. */
export function startScript(name: string, ...arguments_: readonly string[]): RunningScript {
  if (!existsSync(new URL('build/stores/sqlite/index.js', root))) {
    throw new Error(
      'build is missing: child processes run the build. Run `./run setup`, or `npm run build`, first',
    );
  }
  const child = spawn(process.execPath, [
    fileURLToPath(new URL(`test/processes/${name}`, root)),
    ...arguments_,
  ]);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<{ code: number | null; signal: string | null; errors: string }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, errors }));
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines, ended };
}
