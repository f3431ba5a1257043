import { FIELDS } from '../domain/fields.ts';
import { addTo } from '../domain/lists.ts';
import { foldedName, namesOfEntity, withAliases } from '../domain/relation.ts';
import { GLOBAL_SCOPE } from '../domain/scope.ts';
import type { Memory, MemoryEngine } from '../index.ts';

const PAGE = 1000;

/** An entity, or the input of one. */
export interface Named {
  readonly title?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly kind?: string | undefined;
  readonly scope?: string | undefined;
}

/** The entities of a space by their names, read once, so that an import needs no search for each of its entities. */
export interface Namesakes {
  /**
   * Returns the id of the one entity that has the title of `entity` as its title, else as an alias, with the same kind
   * or without one; `undefined` if there are several. This is the entity that `remember` would add to.
   */
  find(entity: Named): string | undefined;
  add(id: string, entity: Named): void;
}

export async function readNamesakes(
  memory: MemoryEngine,
  signal: AbortSignal | undefined,
): Promise<Namesakes> {
  const known = new Map<
    string,
    { readonly id: string; readonly isTitle: boolean; readonly kind?: string | undefined }[]
  >();
  const add = (id: string, { title, aliases, kind, scope = GLOBAL_SCOPE }: Named) => {
    for (const name of namesOf({ title, aliases })) {
      const isTitle = title !== undefined && foldedName(title) === name;
      addTo(known, keyOf(scope, name), { id, isTitle, kind });
    }
  };
  let cursor: string | undefined;
  do {
    const page: { readonly memories: readonly Memory[]; readonly nextCursor?: string | undefined } =
      await memory.list({ types: ['entity'], sort: 'inserted', limit: PAGE, count: false, cursor, signal });
    for (const each of page.memories) add(each.id, each);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return {
    add,
    find({ title = '', kind, scope = GLOBAL_SCOPE }) {
      const meant = (known.get(keyOf(scope, foldedName(title))) ?? []).filter(
        (each) => each.kind === undefined || kind === undefined || each.kind === kind,
      );
      const titled = idsOf(meant.filter(({ isTitle }) => isTitle));
      const all = idsOf(meant);
      return titled.length === 1 ? titled[0] : all.length === 1 ? all[0] : undefined;
    },
  };
}

/**
 * Returns the aliases of a known entity with the names of another that means the same; `undefined` if it has them
 * already.
 */
export function aliasesWith(known: Memory, { title, aliases = [] }: Named): readonly string[] | undefined {
  const names = [...(title === undefined ? [] : [title]), ...aliases];
  const all = withAliases({ title: known.title, aliases: known.aliases }, names)?.slice(
    0,
    FIELDS.aliases.maxItems,
  );
  return JSON.stringify(all) === JSON.stringify(known.aliases) ? undefined : all;
}

/** Returns keys of the names of an entity in its scope. Entities without a common key are not namesakes. */
export function nameKeysOf(entity: Named): readonly string[] {
  return namesOf(entity).map((name) => keyOf(entity.scope ?? GLOBAL_SCOPE, name));
}

function namesOf({ title, aliases }: Named): readonly string[] {
  return namesOfEntity({ type: 'entity', title, aliases });
}

function idsOf(found: readonly { readonly id: string }[]): readonly string[] {
  return [...new Set(found.map(({ id }) => id))];
}

function keyOf(scope: string, name: string): string {
  return JSON.stringify([scope, name]);
}
