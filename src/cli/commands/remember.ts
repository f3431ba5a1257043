import { type Command, Option } from 'commander';
import type { RememberOptions } from '../../index.ts';
import { action } from '../context.ts';
import { open } from '../open.ts';
import { collect, collectPairs, type NamedValues, parseNumber, parseShare } from '../options.ts';
import { formatRemembered } from '../remembered-text.ts';
import { contentOf } from '../stdin.ts';

interface Options extends Omit<RememberOptions, 'tags' | 'metadata' | 'sessionId' | 'topicKey'> {
  readonly tag?: readonly string[] | undefined;
  readonly metadata?: NamedValues | undefined;
  readonly session?: string | undefined;
  readonly topic?: string | undefined;
}

export const examples = [
  'salience remember "Prefers dark roast" --type preference --tag coffee --id roast',
  'salience remember "Prefers medium roast" --topic coffee/roast --ttl 90d',
  'salience remember "Prefers light roast now" --supersedes roast',
  'echo "The staging key expires on 1 March" | salience remember --type fact --importance 0.9',
] as const;

export function configure(command: Command): void {
  command
    .argument('[content]', 'what to remember; "-" or nothing reads it from stdin')
    .option('--type <type>', 'for example fact, preference, decision, event (default: fact)')
    .option('--title <title>', 'a heading, searched like the content')
    .option('--tag <tag>', 'a tag; may be given several times', collect)
    .option('--scope <scope>', 'where it counts, for example project:match (default: global)')
    .option('--importance <number>', '0 to 1 (default: 0.5)', parseShare)
    .option('--confidence <number>', '0 to 1 (default: 0.8)', parseShare)
    .option('--weight <number>', '0.1 to 1 (default: 1)', parseNumber)
    .option('--id <id>', 'an id of your own (default: a UUIDv7)')
    .option('--metadata <name=value>', 'data of your own; may be given several times', collectPairs)
    .option('--session <id>', 'the session in which it was said')
    .option('--author <name>', 'who said it')
    .option('--role <role>', 'user, assistant, system, tool, or another word')
    .option('--source-ref <text>', 'a pointer to where it comes from')
    .addOption(
      new Option('--source <source>', 'how it came to be known (default: stated)').choices([
        'stated',
        'extracted',
        'imported',
        'inferred',
        'consolidated',
      ]),
    )
    .option('--created-at <time>', 'when it was first known (default: now)')
    .option('--topic <key>', 'what it is about: in its scope the next statement about it replaces it')
    .option('--supersedes <id>', 'a memory whose place it takes; may be given several times', collect)
    .option('--ttl <duration>', 'how long it lives: 7d, 24h, P1M, or until a time')
    .option('--valid-from <time>', 'hidden before')
    .option('--valid-until <time>', 'hidden after')
    .option('--expires-at <time>', 'hidden after, as no longer of use')
    .action(
      action<Options, [string | undefined]>(async (context, argument) => {
        const { options, signal } = context;
        const content = await contentOf(argument, context);
        await using memory = await open(context);
        const remembered = await memory.remember(content, {
          id: options.id,
          type: options.type,
          title: options.title,
          tags: options.tag,
          scope: options.scope,
          importance: options.importance,
          confidence: options.confidence,
          weight: options.weight,
          metadata: options.metadata,
          sessionId: options.session,
          source: options.source,
          author: options.author,
          role: options.role,
          sourceRef: options.sourceRef,
          topicKey: options.topic,
          supersedes: options.supersedes,
          createdAt: options.createdAt,
          validFrom: options.validFrom,
          validUntil: options.validUntil,
          expiresAt: options.expiresAt,
          ttl: options.ttl,
          signal,
        });
        if (options.json) return context.printJson(remembered);
        await context.print(formatRemembered(remembered));
      }),
    );
}
