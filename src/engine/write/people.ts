import type { MemoryRecord } from '../../domain/memory.ts';
import { foldedName, namesOfEntity } from '../../domain/relation.ts';
import { visibleScopes } from '../../domain/scope.ts';
import type { SpaceReader } from '../../store/store.ts';
import { isNameOfPerson } from '../../text/names.ts';
import type { RememberInput } from '../types.ts';

/** An entity to remember for an author that the space does not know yet. */
export interface NewPerson {
  /** Identifies the author by scope and name. */
  readonly key: string;
  readonly input: RememberInput;
}

/**
 * Finds the authors of these statements that need an entity of their own. An author counts only if the role is `user`,
 * as that of an assistant is not, and the author looks like the name of a person. Skipped are names that a visible
 * entity or one of the statements has, and those whose entity was invalidated or forgotten
 * (docs/decisions/0094-people-from-authors.md).
 */
export async function newPeople(
  reader: SpaceReader,
  records: readonly MemoryRecord[],
): Promise<readonly NewPerson[]> {
  const written = records.flatMap((record) => {
    const { author, role = 'user', scope, createdAt } = record;
    if (author === undefined || role !== 'user' || record.type === 'entity') return [];
    return isNameOfPerson(author) ? [{ author, scope, createdAt }] : [];
  });
  if (written.length === 0 || (await reader.settings()).people === 'off') return [];
  const named = await reader.find(
    'names',
    written.map(({ author }) => author),
  );
  const known = [...named, ...records].filter(
    ({ type, kind }) => type === 'entity' && (kind === undefined || kind === 'person'),
  );
  const people = new Map<string, { name: string; scope: string; createdAt: number }>();
  for (const { author, scope, createdAt } of written) {
    const name = foldedName(author);
    const seen = new Set(visibleScopes(scope));
    if (known.some((entity) => seen.has(entity.scope) && namesOfEntity(entity).includes(name))) continue;
    const key = JSON.stringify([scope, name]);
    const person = people.get(key);
    people.set(key, {
      name: person?.name ?? author,
      scope,
      createdAt: Math.min(createdAt, person?.createdAt ?? createdAt),
    });
  }
  const inputs = [...people].map(([key, { name, scope, createdAt }]): NewPerson => {
    const input = { type: 'entity', kind: 'person', title: name, content: name, scope };
    return { key, input: { ...input, createdAt: new Date(createdAt) } };
  });
  const tombstones = await reader.tombstones(
    inputs.map(({ input }) => ({ scope: input.scope as string, type: 'entity', content: input.content })),
  );
  return inputs.filter((_, at) => tombstones[at] === undefined);
}
