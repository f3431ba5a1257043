import type { Command, Option } from 'commander';

/** What may stand at one place of a command line. */
export interface Words {
  /** The commands that lead here, such as `['token', 'create']`; none for the program itself. */
  readonly path: readonly string[];
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
  /** What the first argument may be, where it is one of a few. */
  readonly choices: readonly string[];
}

export interface Word {
  readonly name: string;
  readonly about: string;
}

export interface OptionWord extends Word {
  /** With the dash; absent for none. */
  readonly short?: string | undefined;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** The words of a program and of all its commands; those of the program itself come first and hold everywhere. */
export function wordsOf(program: Command, path: readonly string[] = []): readonly Words[] {
  const visible = program.commands.filter((command) => command.name() !== 'help');
  const own: Words = {
    path,
    commands: visible.map((command) => ({ name: command.name(), about: command.description() })),
    options: [...program.options.filter(({ hidden }) => !hidden).map(optionWord), HELP],
    choices: program.registeredArguments[0]?.argChoices ?? [],
  };
  return [own, ...visible.flatMap((command) => wordsOf(command, [...path, command.name()]))];
}

const HELP: OptionWord = {
  name: '--help',
  short: '-h',
  about: 'display help for command',
  takesValue: false,
  choices: [],
};

function optionWord(option: Option): OptionWord {
  return {
    name: option.long ?? option.flags,
    short: option.short,
    about: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  };
}

/** Writes a completion script for a shell. */
export const COMPLETIONS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
export type Shell = keyof typeof COMPLETIONS;

/** `/token/create`: how the scripts for bash and zsh know where they are. */
const placeOf = ({ path }: Words) => path.map((name) => `/${name}`).join('');

/** A pattern for `case`, of the options that are followed by a value. */
function valuePattern(all: readonly Words[]): string {
  const names = all.flatMap(({ options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ name, short }) => (short ? [name, short] : [name])),
  );
  return [...new Set(names)].join('|');
}

/** Lines of a `case` over `PLACE OPTION` for the options that take one of a few values. */
function valueCases(all: readonly Words[], line: (values: string) => string): string {
  return all
    .flatMap((words) =>
      words.options
        .filter(({ choices }) => choices.length > 0)
        .map(({ name, choices }) => {
          const place = words.path.length === 0 ? '*' : quoted(placeOf(words));
          return `    ${place}" ${name}") ${line(choices.map(quoted).join(' '))} ;;`;
        }),
    )
    .join('\n');
}

/** Follows the commands that stand before the cursor, in `where`, over options and their values. */
function walk(all: readonly Words[], before: string): string {
  const places = all.filter(({ path }) => path.length > 0).map((words) => quoted(placeOf(words)));
  return `  for word in ${before}; do
    if [[ -n $skip ]]; then skip=; continue; fi
    case "$word" in
      ${valuePattern(all)}) skip=1 ;;
      -*) ;;
      *) case "$where/$word" in ${places.join('|')}) where="$where/$word" ;; esac ;;
    esac
  done`;
}

function bashScript(all: readonly Words[]): string {
  const [program] = all;
  const everywhere = (program?.options ?? []).map(({ name }) => name);
  const cases = all.map((words) => {
    const given = [
      ...words.commands.map(({ name }) => name),
      ...words.choices,
      ...new Set([...words.options.map(({ name }) => name), ...everywhere]),
    ];
    return `    ${quoted(placeOf(words))}) words=${quoted(given.join(' '))} ;;`;
  });
  return `# salience completion bash
_salience() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" where= skip= word words=
${walk(all, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  case "$where $previous" in
${valueCases(all, (values) => `words=${quoted(values.replaceAll("'", ''))}`)}
  esac
  if [[ -z $words && -n $skip ]]; then COMPREPLY=(); return; fi
  if [[ -z $words ]]; then case "$where" in
${cases.join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _salience salience
`;
}

function zshScript(all: readonly Words[]): string {
  const [program] = all;
  const entry = ({ name, about }: Word) => quoted(`${name}:${oneLine(about)}`);
  const cases = all.map((words) => {
    const names = new Set(words.options.map(({ name }) => name));
    const options = [
      ...words.options,
      ...(words === program ? [] : (program?.options ?? []).filter(({ name }) => !names.has(name))),
    ];
    const first = [
      ...words.commands.map(entry),
      ...words.choices.map((choice) => entry({ name: choice, about: '' })),
    ];
    return `    ${quoted(placeOf(words))})
      entries=(${first.join(' ')})
      options=(${options.map(entry).join(' ')}) ;;`;
  });
  return `#compdef salience
# salience completion zsh
_salience() {
  local where= skip= word
  local -a entries options
${walk(all, `"\${(@)words[2,CURRENT-1]}"`)}
  case "$where \${words[CURRENT-1]}" in
${valueCases(all, (values) => `compadd -- ${values}; return`)}
  esac
  if [[ -n $skip ]]; then _files; return; fi
  case "$where" in
${cases.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then _describe -o option options; return; fi
  if (( \${#entries} )); then _describe command entries; else _files; fi
}
compdef _salience salience
`;
}

function fishScript(all: readonly Words[]): string {
  const lines = all.flatMap((words) => {
    const [program] = all;
    const seen = words.path.map((name) => `__fish_seen_subcommand_from ${name}`);
    const below = words.commands.map(({ name }) => name).join(' ');
    const first = [...seen, ...(below ? [`not __fish_seen_subcommand_from ${below}`] : [])].join('; and ');
    const here = (condition: string) => (condition ? ` -n ${quoted(condition)}` : '');
    const about = (text: string) => ` -d ${quoted(oneLine(text))}`;
    const options =
      words === program ? words.options : words.options.filter(({ name }) => name !== HELP.name);
    return [
      ...words.commands.map(
        ({ name, about: text }) => `complete -c salience -f${here(first)} -a ${name}${about(text)}`,
      ),
      ...words.choices.map((choice) => `complete -c salience -f${here(first)} -a ${quoted(choice)}`),
      ...options.map(({ name, short, about: text, takesValue, choices }) => {
        const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : '';
        const letter = short ? ` -s ${short.slice(1)}` : '';
        return `complete -c salience${here(seen.join('; and '))} -l ${name.slice(2)}${letter}${value}${about(text)}`;
      }),
    ];
  });
  return `# salience completion fish\n${lines.join('\n')}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** As one word, for each of the shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}
