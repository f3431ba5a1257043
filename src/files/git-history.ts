import { spawn } from 'node:child_process';
import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { formatInstant, parseInstant } from '../domain/time.ts';

export interface GitCommit {
  readonly hash: string;
  /** When it was authored: ISO 8601 in UTC. */
  readonly at: string;
  readonly author: string;
  /** The first paragraph of the message, in one line. */
  readonly subject: string;
  /** The rest of the message; empty when there is none. */
  readonly body: string;
  /** The changed paths, relative to the top of the repository; empty for a merge. */
  readonly files: readonly string[];
}

export interface GitHistoryOptions {
  readonly signal?: AbortSignal | undefined;
  /** The maximum number of commits. Default is all. */
  readonly max?: number | undefined;
}

/** Hash, author date, author, subject, body; led by an empty field, which no path can be. */
const FORMAT = '%x00%H%x00%aI%x00%aN%x00%s%x00%b';
const HEADER_FIELDS = 5;

/**
 * Reads the commits that lead to the checked-out one from `git log`, newest first. A repository without commits yields
 * none. Throws `not_found` if the program git is missing, `unreadable_file` if `directory` is not in a repository or git
 * refuses, `invalid_argument`, `aborted`.
 */
export async function* readGitHistory(
  directory: string,
  options: GitHistoryOptions = {},
): AsyncGenerator<GitCommit, void> {
  throwIfAborted(options.signal);
  const child = spawn('git', gitArguments(directory, options.max), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: gitEnvironment(),
    signal: options.signal,
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const ended = new Promise<Error | number | null>((resolve) => {
    // `on`, not `once`: an abort may be followed by another error, which also needs a listener.
    child.on('error', resolve);
    child.once('close', resolve);
  });
  try {
    for await (const commit of parseLog(child.stdout.setEncoding('utf8'))) {
      throwIfAborted(options.signal);
      yield commit;
    }
    const end = await ended;
    throwIfAborted(options.signal);
    if (end instanceof Error) throw startFailure(end);
    if (end !== 0 && !complaint.includes('does not have any commits yet')) {
      throw gitFailure(directory, complaint.trim() || `git ended with ${end}`);
    }
  } finally {
    child.kill();
  }
}

function gitArguments(directory: string, max: number | undefined): readonly string[] {
  if (max !== undefined && !(Number.isSafeInteger(max) && max >= 0)) {
    throw new SalienceError('invalid_argument', `max is ${max}; it must be a whole number of commits`, {
      details: { field: 'max' },
    });
  }
  return [
    '-C',
    directory,
    // Without this, the user's git configuration decides which paths of a commit are listed.
    '-c',
    'log.showRoot=true',
    '-c',
    'diff.relative=false',
    'log',
    '-z',
    '--name-only',
    '--no-color',
    '--no-show-signature',
    '--no-ext-diff',
    '--encoding=UTF-8',
    `--format=tformat:${FORMAT}`,
    ...(max === undefined ? [] : [`--max-count=${max}`]),
    // Without it, a file named HEAD would make the command ambiguous.
    '--',
  ];
}

function gitEnvironment(): NodeJS.ProcessEnv {
  // Git hooks set these variables, which would make git read another repository.
  const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, ...environment } = process.env;
  // Messages are matched, so they must not be translated.
  return { ...environment, LC_ALL: 'C' };
}

async function* parseLog(chunks: AsyncIterable<string>): AsyncGenerator<GitCommit, void> {
  let fields: string[] = [];
  for await (const field of splitAtNul(chunks)) {
    // Only the field that leads a commit is empty, except inside the header, where a text may be.
    if (field === '' && (fields.length === 0 || fields.length >= HEADER_FIELDS)) {
      if (fields.length > 0) yield toCommit(fields);
      fields = [];
    } else {
      fields.push(field);
    }
  }
  if (fields.length > 0) yield toCommit(fields);
}

async function* splitAtNul(chunks: AsyncIterable<string>): AsyncGenerator<string, void> {
  let pending = '';
  for await (const chunk of chunks) {
    const parts = (pending + chunk).split('\0');
    pending = parts.pop()!;
    yield* parts;
  }
  if (pending !== '') yield pending;
}

function toCommit(fields: readonly string[]): GitCommit {
  const [hash, at, author, subject, body, ...files] = fields as [string, string, string, string, string];
  return {
    hash,
    at: instantOr(at),
    author,
    subject,
    body: body.trim(),
    // git puts a line feed between the message and the first path.
    files: (files as readonly string[]).map((file, index) => (index === 0 ? file.replace(/^\n/, '') : file)),
  };
}

/** Returns an invalid time unchanged: histories contain zones such as +518:00, which must not stop the reading. */
function instantOr(text: string): string {
  try {
    return formatInstant(parseInstant(text));
  } catch {
    return text;
  }
}

function startFailure(cause: Error): SalienceError {
  return new SalienceError(
    'not_found',
    `the program git could not be started (${cause.message}); install git and see that it is on the PATH`,
    { cause },
  );
}

function gitFailure(directory: string, complaint: string): SalienceError {
  const remedy = complaint.includes('not a git repository')
    ? 'name a folder inside a git repository'
    : 'run `git log` there and fix what it reports';
  return new SalienceError('unreadable_file', `${directory}: no commit history (${complaint}); ${remedy}`, {
    details: { file: directory },
  });
}
