import type { Command } from 'commander';
import { action } from '../context.ts';
import { openToRead } from '../open.ts';
import { formatFields } from '../table.ts';
import { formatBytes, formatCount } from '../units.ts';

export const examples = ['salience stats', 'salience stats --json'] as const;

export function configure(command: Command): void {
  command.action(
    action<object, []>(async (context) => {
      await using memory = await openToRead(context);
      const info = await memory.stats();
      if (context.options.json) return context.printJson(info);
      const counts = (by: Readonly<Record<string, number>>) =>
        Object.entries(by)
          .sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1))
          .map(([name, count]) => `${name} ${formatCount(count)}`)
          .join(', ') || undefined;
      await context.print(
        formatFields([
          ['space', info.name],
          ['memories', formatCount(info.memories)],
          ['by type', counts(info.byType)],
          ['by scope', counts(info.byScope)],
          ['by tier', counts(info.byTier)],
          ['links', formatCount(info.links)],
          ['open conflicts', formatCount(info.pendingPairs)],
          ['vectors', formatCount(info.vectors)],
          ['model', info.embedding && `${info.embedding.model}, ${info.embedding.dimensions} dimensions`],
          ['terms', formatCount(info.terms)],
          ['analyzer', info.analyzer],
          ['fading', info.settings.fading.mode],
          ['events', formatCount(info.events)],
          ['size', formatBytes(info.bytes)],
          ['file', info.path],
        ]),
      );
    }),
  );
}
