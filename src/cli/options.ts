import { type Command, InvalidArgumentError, Option } from 'commander';

/** The options of every command. */
export interface CommonOptions {
  readonly path?: string | undefined;
  readonly space: string;
  readonly embedder: string;
  readonly baseUrl?: string | undefined;
  readonly model?: string | undefined;
  readonly modelUrl?: string | undefined;
  readonly now?: string | undefined;
  readonly json?: boolean | undefined;
  readonly color: boolean;
}

export function addCommonOptions(program: Command): void {
  program
    .addOption(
      optionOrVariable(
        'SALIENCE_PATH',
        '--path <dir>',
        'directory of the store (default: ./.salience if it exists, else ~/.salience)',
      ).argParser(parseDirectory),
    )
    .addOption(optionOrVariable('SALIENCE_SPACE', '--space <name>', 'the space to use').default('default'))
    .addOption(
      optionOrVariable(
        'SALIENCE_EMBEDDER',
        '--embedder <name>',
        'builtin, use-lite, none, or openai:MODEL[:DIMENSIONS]; the key of the last comes from SALIENCE_EMBEDDER_KEY or OPENAI_API_KEY',
      ).default('builtin'),
    )
    .addOption(
      optionOrVariable('SALIENCE_EMBEDDER_URL', '--base-url <url>', 'URL of the server for openai:MODEL'),
    )
    .addOption(
      optionOrVariable(
        'SALIENCE_MODEL',
        '--model <name>',
        'language model that judges (default: none); its key is read from SALIENCE_MODEL_KEY or OPENAI_API_KEY',
      ),
    )
    .addOption(
      optionOrVariable(
        'SALIENCE_MODEL_URL',
        '--model-url <url>',
        'URL of its server (default: that of OpenAI)',
      ),
    )
    .option('--now <time>', 'the time at which the command runs, as ISO 8601 (default: the system clock)')
    .option('--json', 'print JSON')
    .option('--no-color', 'print without colours, as NO_COLOR does');
}

/**
 * Refuses `--space` for a command that selects its spaces in another way. Ignoring it could use another space than
 * intended. The environment variable is only a default and stays allowed.
 */
export function refuseSpace(
  command: Command,
  { misused }: { readonly misused: (message: string) => never },
  instead: string,
): void {
  if (command.getOptionValueSourceWithGlobals('space') !== 'cli') return;
  misused(`option '--space <name>' cannot be used here: ${instead}`);
}

/** Refuses `--mem-type` without `--dialect mem`: only the tools of that dialect have named types. */
export function refuseMemType({
  options: { dialect, memType },
  misused,
}: {
  readonly options: { readonly dialect: string; readonly memType?: readonly string[] | undefined };
  readonly misused: (message: string) => never;
}): void {
  if (memType === undefined || dialect === 'mem') return;
  misused(
    "option '--mem-type <type>' is for the tools of another dialect: add --dialect mem, or leave it out",
  );
}

/** Creates an option that an environment variable can set too. An empty variable is ignored. */
function optionOrVariable(variable: string, flags: string, about: string): Option {
  const option = new Option(flags, about);
  return process.env[variable] === '' ? option : option.env(variable);
}

/** Refuses an empty path, such as from `--path "$STORE"` with `STORE` unset. It must not select another store. */
function parseDirectory(value: string): string {
  if (value.trim() !== '') return value;
  throw new InvalidArgumentError('It is empty: name a directory, or leave the option out.');
}

export function parseWholeNumber(value: string): number {
  const number = Number(value);
  if (/^[+-]?\d+$/.test(value) && Number.isSafeInteger(number)) return number;
  throw new InvalidArgumentError('It must be a whole number.');
}

export function parsePositive(value: string): number {
  const number = parseWholeNumber(value);
  if (number > 0) return number;
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

export function parsePort(value: string): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number <= 65_535) return number;
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}

export function parseNumber(value: string): number {
  const number = Number(value);
  if (value.trim() !== '' && Number.isFinite(number)) return number;
  throw new InvalidArgumentError('It must be a number.');
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}

export type NamedValues = Readonly<Record<string, string | number | boolean>>;

/** Collects `name=value` pairs, each value read by {@link readValue}. */
export const collectPairs = collectorOf(readValue);

/** Like {@link collectPairs}, for parameters of a formula: every text that can be a number is one. */
export const collectParameters = collectorOf((text) => (isNumeric(text) ? Number(text) : readValue(text)));

function collectorOf(read: (text: string) => NamedValues[string]) {
  return (value: string, previous: NamedValues | undefined): NamedValues => {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
    if (name === undefined || text === undefined) throw new InvalidArgumentError('Write name=value.');
    // Built from entries, so that __proto__ is a name like any other.
    return Object.fromEntries([...Object.entries(previous ?? {}), [name, read(text)]]);
  };
}

/** Splits a list at its commas. */
export function parseList(value: string): readonly string[] {
  const parts = value.split(',').map((part) => part.trim());
  if (parts.every((part) => part !== '')) return parts;
  throw new InvalidArgumentError('Write names with commas between.');
}

export function parsePositives(value: string): readonly number[] {
  return parseList(value).map(parsePositive);
}

/**
 * Reads `true`, `false` and numbers as such. Everything else is text, and so is everything in double quotes. A number
 * must look the same when it is printed, so that 01234, 1.10 and long ids stay text.
 */
export function readValue(text: string): string | number | boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (/^".*"$/s.test(text)) return text.slice(1, -1);
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text ? number : text;
}

/** Whether a text is a decimal number, in any notation. */
export function isNumeric(text: string): boolean {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text));
}
