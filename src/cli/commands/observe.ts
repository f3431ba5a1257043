import type { Command } from 'commander';
import type { ObservedGraph, ObserveResult } from '../../index.ts';
import { action } from '../context.ts';
import { readConversation } from '../conversation.ts';
import { PARTLY } from '../failure.ts';
import { open } from '../open.ts';
import { plural } from '../units.ts';
import { usageText } from '../usage-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = [
  'salience observe chat.jsonl',
  'salience observe - --scope project:match < chat.jsonl',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command.argument('<file>', 'messages as JSON Lines or a JSON list; - for stdin'), 'observe')
    .addHelpText(
      'after',
      '\nA message is {"role","content"}, and may have "at", "name" and "id". With --model one memory for each fact\nthat the model finds; without, each message is kept as an event, and rules judge how important it is.',
    )
    .action(
      action<object, [string]>(async (context, file) => {
        const { options, signal, warn } = context;
        const messages = await readConversation(file, signal);
        await using memory = await open(context);
        const observed = await memory.observe(messages, { ...argumentsOf('observe', options), signal });
        for (const { positions, message, kept } of observed.failures) {
          const what = kept === 'events' ? 'kept as events' : 'not kept';
          warn(
            `${plural(positions.length, 'message')} ${what}, from message ${(positions[0] ?? 0) + 1} on: ${message}`,
          );
        }
        await (options.json
          ? context.printJson(observed)
          : context.print(describe(observed, messages.length)));
        return observed.failures.length > 0 ? PARTLY : 0;
      }),
    );
}

function describe(observed: ObserveResult, messages: number): string {
  const { created, updated, deduplicated, merged, judgedBy, usage, graph } = observed;
  return [
    `${plural(messages, 'message')}: ${plural(created.length, 'new memory', 'new memories')}`,
    ...(updated.length > 0 ? [`${updated.length} updated`] : []),
    ...(deduplicated.length > 0 ? [`${deduplicated.length} already there`] : []),
    ...(merged > 0 ? [`${merged} merged`] : []),
    ...(graph ? [describeGraph(graph)] : []),
    `judged by ${judgedBy === 'model' ? `the model (${usageText(usage)})` : 'rules'}`,
  ].join(', ');
}

function describeGraph({ entities, relations, questions, leftOut }: ObservedGraph): string {
  const left = leftOut.length > 0 ? [`${leftOut.length} left out`] : [];
  const asked = questions > 0 ? [`${plural(questions, 'question')} in conflicts`] : [];
  return [
    plural(entities.length, 'entity', 'entities'),
    plural(relations.length, 'relation'),
    ...asked,
    ...left,
  ].join(', ');
}
