import { invalidArgument } from '../domain/check.ts';
import { DYNAMICS } from '../domain/fields.ts';
import type { Dynamics, NewUsage, Usage, UseDecision } from './store.ts';

/** Throws `invalid_argument` if a use changes or links a memory that it does not name: followers of the log would miss it. */
export function checkUsed(usage: NewUsage, { memories, links }: UseDecision): void {
  const used = new Set(usage.used.map(({ id }) => id));
  const check = (field: keyof UseDecision, id: string) => {
    if (!used.has(id))
      throw invalidArgument(field, `${JSON.stringify(id)} is changed by a use that does not name it`);
  };
  for (const { id } of memories) check('memories', id);
  for (const { ids } of links) for (const id of ids) check('links', id);
}

/** Returns the fields of a memory that a use may change. */
export function dynamicsOf(memory: Dynamics): Dynamics {
  return Object.fromEntries(DYNAMICS.map((name) => [name, memory[name]])) as unknown as Dynamics;
}

/** Removes memories from a row of the usage log. If no other memory is left, also removes its query hash and session. */
export function usageWithout(usage: Usage, ids: ReadonlySet<string>): Usage {
  const { before } = usage;
  const used = usage.used.filter(({ id }) => !ids.has(id));
  const emptied = used.length === 0 && usage.used.length > 0;
  return {
    ...usage,
    used,
    ...(emptied && { queryHash: '', sessionId: undefined }),
    ...(before && {
      before: {
        memories: before.memories.filter(({ id }) => !ids.has(id)),
        links: before.links.filter(({ link }) => !link.ids.some((id) => ids.has(id))),
      },
    }),
  };
}
