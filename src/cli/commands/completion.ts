import { Argument, type Command } from 'commander';
import { MEMORY_TYPES } from '../../domain/memory.ts';
import { BUILTIN_PROFILE_NAMES } from '../../scoring/profiles/index.ts';
import { COMPLETIONS, type Shell, type Suggestions, wordsOf } from '../completion.ts';
import { action } from '../context.ts';
import { createProgram } from '../program.ts';

/** Suggested values of options and arguments. Others are allowed too. Spaces are read from the store. */
const SUGGESTIONS: Suggestions = {
  '--strategy': BUILTIN_PROFILE_NAMES,
  'profiles show': BUILTIN_PROFILE_NAMES,
  '--type': MEMORY_TYPES,
  '--not-type': MEMORY_TYPES,
  '--embedder': ['builtin', 'use-lite', 'none', 'openai:'],
};

export const examples = ['salience completion bash', 'salience completion fish'] as const;

export function configure(command: Command): void {
  command
    .addArgument(new Argument('<shell>', 'for which shell').choices(Object.keys(COMPLETIONS)))
    .addHelpText(
      'after',
      `
bash: add this line to ~/.bashrc:       source <(salience completion bash)
zsh:  add it to ~/.zshrc, after compinit: source <(salience completion zsh)
fish: salience completion fish > ~/.config/fish/completions/salience.fish`,
    )
    .action(
      action<object, [Shell]>(async (context, shell) => {
        const script = COMPLETIONS[shell](wordsOf(await createProgram([], true), SUGGESTIONS));
        if (context.options.json) return context.printJson({ shell, script });
        await context.print(script.trimEnd());
      }),
    );
}
