import type { Command, Option } from 'commander';

/** An option of the program that its commands do not have. */
const VERSION = '--version';

/** What can be typed at one place of a command line. */
export interface Words {
  /** The commands that lead here, such as `['token', 'create']`; none for the program itself. */
  readonly path: readonly string[];
  readonly commands: readonly Word[];
  readonly options: readonly OptionWord[];
  /** Values of the first argument, if it has a few or suggestions. */
  readonly choices: readonly string[];
  /** Whether an argument is a file or a folder. */
  readonly files: boolean;
  /** Whether an argument is a space of the store. */
  readonly spaces: boolean;
}

export interface Word {
  readonly name: string;
  readonly about: string;
}

export interface OptionWord extends Word {
  /** With its dash; absent if there is none. */
  readonly short?: string | undefined;
  readonly takesValue: boolean;
  /** Allowed values, or suggestions. */
  readonly choices: readonly string[];
  /** Whether its value is a file or a folder. */
  readonly files: boolean;
}

/** Common values of options and arguments, by the name of the option or command. Other values are allowed too. */
export type Suggestions = Readonly<Record<string, readonly string[]>>;

/**
 * Returns the words of a program and of all its commands. The program comes first, and its options are valid
 * everywhere.
 */
export function wordsOf(
  program: Command,
  suggestions: Suggestions = {},
  path: readonly string[] = [],
): readonly Words[] {
  const visible = program.commands.filter((command) => command.name() !== 'help');
  const own: Words = {
    path,
    commands: visible.map((command) => ({ name: command.name(), about: command.description() })),
    options: [
      ...program.options.filter(({ hidden }) => !hidden).map((option) => optionWord(option, suggestions)),
      HELP,
    ],
    choices: program.registeredArguments[0]?.argChoices ?? suggestions[path.join(' ')] ?? [],
    files: program.registeredArguments.some((argument) => FILES.has(argument.name())),
    spaces: program.registeredArguments.some((argument) => argument.name() === 'space'),
  };
  return [own, ...visible.flatMap((command) => wordsOf(command, suggestions, [...path, command.name()]))];
}

/** Names of values in the help that stand for files or folders. */
const FILES: ReadonlySet<string> = new Set(['file', 'files', 'dir', 'paths', 'store', 'script']);

const HELP: OptionWord = {
  name: '--help',
  short: '-h',
  about: 'display help for command',
  takesValue: false,
  choices: [],
  files: false,
};

function optionWord(option: Option, suggestions: Suggestions): OptionWord {
  const name = option.long ?? option.flags;
  return {
    name,
    short: option.short,
    about: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? suggestions[name] ?? [],
    files: FILES.has(/[<[]([a-z]+)/.exec(option.flags)?.[1] ?? ''),
  };
}

/** Creates a completion script for a shell. */
export const COMPLETIONS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
export type Shell = keyof typeof COMPLETIONS;

/** The place of a command in the scripts for bash and zsh, such as `/token/create`. */
const placeOf = ({ path }: Words) => path.map((name) => `/${name}`).join('');

function optionsEverywhere(program: Words | undefined): readonly OptionWord[] {
  return (program?.options ?? []).filter(({ name }) => name !== VERSION);
}

/** Returns the options that take a value. */
function optionsWithValue(all: readonly Words[]): readonly string[] {
  const names = all.flatMap(({ options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ name, short }) => (short ? [name, short] : [name])),
  );
  return [...new Set(names)];
}

const placesOf = (all: readonly Words[]) => all.filter(({ path }) => path.length > 0).map(placeOf);

/** Returns the lines of a `case` over `PLACE OPTION`, for options with fixed values or a file as value. */
function valueCases(all: readonly Words[], line: (values: string) => string, file: string): string {
  return all
    .flatMap((words) =>
      words.options
        .filter(({ choices, files }) => choices.length > 0 || files)
        .map(({ name, choices }) => {
          const place = words.path.length === 0 ? '*' : quoted(placeOf(words));
          return `    ${place}" ${name}") ${choices.length > 0 ? line(choices.map(quoted).join(' ')) : file} ;;`;
        }),
    )
    .join('\n');
}

/**
 * Returns lines that complete an argument like the value of `--space`, where it is a space. `typed` is the word before
 * the cursor.
 */
function spacesAsArguments(all: readonly Words[], typed: string): string {
  const places = all
    .filter(({ spaces }) => spaces)
    .map(placeOf)
    .map(quoted);
  return `  if [[ -z $skip && ${typed} != -* ]]; then case "$where" in ${places.join('|')}) skip=--space ;; esac; fi`;
}

/**
 * Returns shell code that walks the words before the cursor, over options and their values. It leaves the commands in
 * `where`, an option whose value is being typed in `skip`, and the store whose spaces are offered in `store`. bash
 * splits `--path=there` into three words.
 */
function walk(all: readonly Words[], before: string): string {
  return `  for word in ${before}; do
    if [[ -n $skip ]]; then
      if [[ $word == '=' ]]; then continue; fi
      if [[ $skip == --path ]]; then store="$word"; fi
      skip=; continue
    fi
    case "$word" in
      ${optionsWithValue(all).join('|')}) skip="$word" ;;
      --path=*) store="\${word#--path=}" ;;
      -*) ;;
      *) case "$where/$word" in ${placesOf(all).map(quoted).join('|')}) where="$where/$word" ;; esac ;;
    esac
  done`;
}

function bashScript(all: readonly Words[]): string {
  const [program] = all;
  const everywhere = optionsEverywhere(program).map(({ name }) => name);
  const cases = all.map((words) => {
    const given = [
      ...words.commands.map(({ name }) => name),
      ...words.choices,
      ...new Set([...words.options.map(({ name }) => name), ...everywhere]),
    ];
    return `    ${quoted(placeOf(words))}) words=${quoted(given.join(' '))}${words.files ? ' files=1' : ''} ;;`;
  });
  return `# salience completion bash
# What a typed word means, in plain; the quote that is still open, in quote. Words are data: nothing is evaluated.
_salience_plain() {
  local typed="$1" at=0 each
  plain= quote=
  if [[ $typed == '~/'* ]]; then plain="$HOME" at=1; fi
  for ((; at < \${#typed}; at++)); do
    each="\${typed:at:1}"
    case "$quote$each" in
      \\' | \\") quote="$each" ;;
      "''" | '""') quote= ;;
      '\\' | '"\\') at=$((at + 1)); plain+="\${typed:at:1}" ;;
      *) plain+="$each" ;;
    esac
  done
}
# Where nothing is offered bash offers files, unless it is told not to. Old versions cannot be told.
_salience_no_files() { compopt +o default 2>/dev/null; }
_salience() {
  local current where= skip= word words= store= files= plain quote
  COMPREPLY=()
${walk(all, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  _salience_plain "$store"; store="$plain"
  _salience_plain "\${COMP_WORDS[COMP_CWORD]}"; current="$plain"
  if [[ -n $skip && $current == '=' ]]; then current=; fi
${spacesAsArguments(all, '$current')}
  case "$where $skip" in
${valueCases(all, (values) => `words=${quoted(values.replaceAll("'", ''))}`, 'return')}
    *" --space")
      # Names are data: compgen -W would expand them, and run what is in them.
      while IFS= read -r word; do
        if [[ $word != "$current"* ]]; then continue; fi
        if [[ -z $quote ]]; then printf -v words %q "$word"; COMPREPLY+=("$words"); continue; fi
        # Within a quote a name stands as it is: one that would end the quote, or be expanded in it, is not offered.
        if [[ $word != *[\\'\\"\\\\\\$\\\`!]* ]]; then COMPREPLY+=("$word"); fi
      done < <("\${COMP_WORDS[0]}" \${store:+--path "$store"} spaces 2>/dev/null)
      _salience_no_files; return ;;
  esac
  if [[ -z $words && -n $skip ]]; then _salience_no_files; return; fi
  if [[ -z $words ]]; then case "$where" in
${cases.join('\n')}
  esac; fi
  if [[ -z $files ]]; then _salience_no_files; elif [[ $current != -* ]]; then return; fi
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
      ...(words === program ? [] : optionsEverywhere(program).filter(({ name }) => !names.has(name))),
    ];
    const first = [
      ...words.commands.map(entry),
      ...words.choices.map((choice) => entry({ name: choice, about: '' })),
    ];
    return `    ${quoted(placeOf(words))})
      entries=(${first.join(' ')})
      options=(${options.map(entry).join(' ')})${words.files ? ' files=1' : ''} ;;`;
  });
  return `#compdef salience
# salience completion zsh
_salience() {
  local where= skip= word store= files=
  local -a entries options
${walk(all, `"\${(@)words[2,CURRENT-1]}"`)}
  # As it was typed: with quotes, backslashes, and ~.
  if [[ $store == '~/'* ]]; then store="$HOME/\${(Q)store[3,-1]}"; else store="\${(Q)store}"; fi
${spacesAsArguments(all, '$PREFIX')}
  case "$where $skip" in
${valueCases(all, (values) => `compadd -- ${values}; return`, '_files; return')}
    *" --space") compadd -- \${(f)"$("\${words[1]}" \${store:+--path} $store spaces 2>/dev/null)"}; return ;;
  esac
  if [[ -n $skip ]]; then return; fi
  case "$where" in
${cases.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then _describe -o option options; return; fi
  if (( \${#entries} )); then _describe command entries; elif [[ -n $files ]]; then _files; fi
}
compdef _salience salience
`;
}

function fishScript(all: readonly Words[]): string {
  const [program] = all;
  const lines = all.flatMap((words) => {
    const at = `__salience_at ${quoted(placeOf(words))}`;
    const about = (text: string) => ` -d ${quoted(oneLine(text))}`;
    const options =
      words === program ? words.options : words.options.filter(({ name }) => name !== HELP.name);
    return [
      ...words.commands.map(
        ({ name, about: text }) => `complete -c salience -f -n ${quotedTwice(at)} -a ${name}${about(text)}`,
      ),
      ...words.choices.map((choice) => `complete -c salience -f -n ${quotedTwice(at)} -a ${quoted(choice)}`),
      ...(words.spaces
        ? [`complete -c salience -f -n ${quotedTwice(at)} -a '(__salience_spaces)' -d 'a space'`]
        : []),
      ...(words.files ? [`complete -c salience -F -n ${quotedTwice(at)}`] : []),
      ...options.map(({ name, short, about: text, ...option }) => {
        const value = fishValue(name, option);
        const letter = short ? ` -s ${short.slice(1)}` : '';
        const here = words === program && name !== VERSION ? '' : ` -n ${quotedTwice(at)}`;
        return `complete -c salience${here} -l ${name.slice(2)}${letter}${value}${about(text)}`;
      }),
    ];
  });
  return `# salience completion fish
function __salience_walk
  set -g __salience_where
  set -g __salience_store
  set -l skip
  for word in (commandline -opc)[2..-1]
    if test -n "$skip"
      test "$skip" = --path; and set __salience_store --path $word
      set skip
      continue
    end
    switch $word
      case ${optionsWithValue(all).join(' ')}
        set skip $word
      case '--path=*'
        set __salience_store $word
      case '-*'
      case '*'
        contains -- "$__salience_where/$word" ${placesOf(all).join(' ')}
        and set __salience_where "$__salience_where/$word"
    end
  end
end
function __salience_at
  __salience_walk
  test "$__salience_where" = "$argv[1]"
end
function __salience_spaces
  __salience_walk
  set -l program (commandline -opc)[1]
  $program $__salience_store spaces 2>/dev/null
end
complete -c salience -f
${lines.join('\n')}
`;
}

function fishValue(
  name: string,
  { takesValue, choices, files }: Pick<OptionWord, 'takesValue' | 'choices' | 'files'>,
): string {
  if (name === '--space') return " -x -a '(__salience_spaces)'";
  if (choices.length > 0) return ` -x -a ${quoted(choices.join(' '))}`;
  if (files) return ' -r -F';
  return takesValue ? ' -x' : '';
}

/** Quotes a word inside a fish condition. */
function quotedTwice(text: string): string {
  return `"${text}"`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Quotes a text as one word in each of the shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}
