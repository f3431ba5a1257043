import type { Command } from 'commander';
import { VERBS } from '../../domain/verbs.ts';
import type { StartedSession } from '../../index.ts';
import { action, type Context } from '../context.ts';
import { formatMemories } from '../memory-text.ts';
import { open, openExisting } from '../open.ts';
import { formatRemembered } from '../remembered-text.ts';
import { contentOf } from '../stdin.ts';
import { plainBlock } from '../terminal-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = [
  'salience session start --scope project:match',
  'salience session summary "Chose the beans"',
  'salience session end "Chose the beans, and set the grinder to 12"',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command.command('start').description(VERBS.startSession.summary), 'startSession').action(
    action<object, []>(async (context) => {
      const { options, signal } = context;
      await using memory = await open(context);
      const started = await memory.startSession({ ...argumentsOf('startSession', options), signal });
      if (!options.json) return context.print(formatStarted(started, context));
      const memories = started.memories.map(({ explain: _, ...hit }) => hit);
      await context.printJson({ ...started, memories });
    }),
  );
  addVerbOptions(
    command
      .command('summary')
      .description(VERBS.saveSummary.summary)
      .argument('[text]', 'a summary of the session; "-" or nothing reads it from stdin'),
    'saveSummary',
  ).action(
    action<object, [string | undefined]>(async (context, argument) => {
      const { options, signal } = context;
      const text = await contentOf(argument, context);
      await using memory = await open(context);
      const saved = await memory.saveSummary(text, { ...argumentsOf('saveSummary', options), signal });
      await (options.json ? context.printJson(saved) : context.print(formatRemembered(saved)));
    }),
  );
  command
    .command('end')
    .description(VERBS.endSession.summary)
    .argument('[text]', 'a summary of the session; "-" or nothing reads it from stdin')
    .action(
      action<object, [string | undefined]>(async (context, argument) => {
        const text = await contentOf(argument, context);
        await using memory = await openExisting(context);
        const { sessionId, ...saved } = await memory.endSession(text, { signal: context.signal });
        if (context.options.json) return context.printJson({ sessionId, ...saved });
        await context.print(`ended session ${sessionId}\n${formatRemembered(saved)}`);
      }),
    );
  command.addHelpText(
    'after',
    '\nOnly one session is open at a time. After a day without activity, the next start closes it with an automatic summary.',
  );
}

function formatStarted(
  { sessionId, isNew, summaries, memories }: StartedSession,
  context: Pick<Context, 'now' | 'columns'>,
): string {
  return [
    `${isNew ? 'started' : 'going on with'} session ${sessionId}`,
    ...(summaries.length === 0 ? [] : ['', 'what earlier sessions came to:']),
    ...summaries.map(({ content }) => plainBlock(content)),
    ...(memories.length === 0 ? [] : ['', 'what matters most:']),
    ...(memories.length === 0
      ? []
      : [
          formatMemories(
            memories.map(({ memory }) => memory),
            context,
          ),
        ]),
  ].join('\n');
}
