import { Argument, type Command } from 'commander';
import { COMPLETIONS, type Shell, wordsOf } from '../completion.ts';
import { action } from '../context.ts';
import { createProgram } from '../program.ts';

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
        const script = COMPLETIONS[shell](wordsOf(await createProgram([], true)));
        if (context.options.json) return context.printJson({ shell, script });
        await context.print(script.trimEnd());
      }),
    );
}
