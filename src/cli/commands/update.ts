import { type Command, Option } from 'commander';
import type { MemoryChanges } from '../../index.ts';
import { action } from '../context.ts';
import { open } from '../open.ts';
import { collect, collectPairs, type NamedValues, parseNumber, parseShare } from '../options.ts';
import { contentOf } from '../stdin.ts';
import { plainLine } from '../terminal-text.ts';

const CLEARABLE = [
  'title',
  'valid-from',
  'valid-until',
  'expires-at',
  'topic',
  'author',
  'role',
  'source-ref',
] as const;

interface Options {
  readonly title?: string | undefined;
  readonly type?: string | undefined;
  readonly tag?: readonly string[] | undefined;
  readonly scope?: string | undefined;
  readonly importance?: number | undefined;
  readonly confidence?: number | undefined;
  readonly weight?: number | undefined;
  readonly metadata?: NamedValues | undefined;
  readonly validFrom?: string | undefined;
  readonly validUntil?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly ttl?: string | undefined;
  readonly topic?: string | undefined;
  readonly author?: string | undefined;
  readonly role?: string | undefined;
  readonly sourceRef?: string | undefined;
  readonly clear?: readonly (typeof CLEARABLE)[number][] | undefined;
}

export const examples = [
  'salience update roast "Prefers dark roast, and never decaf"',
  'salience update roast --importance 0.8 --tag coffee --tag taste',
] as const;

export function configure(command: Command): void {
  command
    .argument('<id>')
    .argument('[content]', 'the new content; "-" reads it from stdin (default: unchanged)')
    .option('--title <title>', 'the new title')
    .option('--type <type>', 'the new type')
    .option('--tag <tag>', 'the new tags, all of them; may be given several times', collect)
    .option('--scope <scope>', 'the new scope')
    .option('--importance <number>', '0 to 1', parseShare)
    .option('--confidence <number>', '0 to 1', parseShare)
    .option('--weight <number>', '0.1 to 1', parseNumber)
    .option(
      '--metadata <name=value>',
      'the new metadata, all of it; may be given several times',
      collectPairs,
    )
    .option('--valid-from <time>', 'hidden before')
    .option('--valid-until <time>', 'hidden after')
    .option('--expires-at <time>', 'hidden after, as no longer of use')
    .option('--ttl <duration>', 'how long it lives from now: 7d, 24h, P1M, or until a time')
    .option('--topic <key>', 'what it is about')
    .option('--author <name>', 'who said it')
    .option('--role <role>', 'user, assistant, system, tool, or another word')
    .option('--source-ref <text>', 'a pointer to where it comes from')
    .addOption(new Option('--clear <field...>', 'take a field away').choices(CLEARABLE))
    .action(
      action<Options, [string, string | undefined]>(async (context, id, argument) => {
        const { options } = context;
        const cleared = (field: (typeof CLEARABLE)[number], value: string | undefined) =>
          options.clear?.includes(field) ? null : value;
        const changes: MemoryChanges = {
          content: argument === undefined ? undefined : await contentOf(argument, context),
          title: cleared('title', options.title),
          type: options.type,
          tags: options.tag,
          scope: options.scope,
          importance: options.importance,
          confidence: options.confidence,
          weight: options.weight,
          metadata: options.metadata,
          validFrom: cleared('valid-from', options.validFrom),
          validUntil: cleared('valid-until', options.validUntil),
          expiresAt: cleared('expires-at', options.expiresAt),
          ttl: options.ttl,
          topicKey: cleared('topic', options.topic),
          author: cleared('author', options.author),
          role: cleared('role', options.role),
          sourceRef: cleared('source-ref', options.sourceRef),
        };
        if (Object.values(changes).every((value) => value === undefined)) {
          context.misused('nothing to change: give new content, or an option that changes something');
        }
        await using memory = await open(context);
        const updated = await memory.update(id, changes, { signal: context.signal });
        if (options.json) return context.printJson(updated);
        await context.print(`updated ${plainLine(updated.id)}, revision ${updated.revisionCount}`);
      }),
    );
}
