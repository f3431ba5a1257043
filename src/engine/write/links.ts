import { invalidArgument, number, oneOf, texts } from '../../domain/check.ts';
import { LINK_KINDS, type LinkKind } from '../../domain/memory.ts';
import { formatInstant } from '../../domain/time.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import { presentWeight } from '../recall/expand.ts';
import type { OperationOptions } from '../types.ts';

/** An association of one memory with another. */
export interface MemoryLink {
  /** The memory at the other end. */
  readonly id: string;
  readonly kind: LinkKind;
  /** The weight now, after decay, 0–1. */
  readonly weight: number;
  /** The weight when the link was last strengthened. */
  readonly storedWeight: number;
  readonly at: string;
}

export interface LinkOptions extends OperationOptions {
  /** How strongly, 0.01–1. Default is 0.8. */
  readonly weight?: number | undefined;
}

export interface UnlinkOptions extends OperationOptions {
  /** Only links of these kinds. Default is all that are stored. */
  readonly kinds?: readonly LinkKind[] | undefined;
}

/** Returns the links of a memory, strongest first. Throws `not_found`. */
export async function linksOf(
  engine: Dependencies,
  id: string,
  options: OperationOptions = {},
): Promise<readonly MemoryLink[]> {
  await mustExist(engine, [id]);
  const now = momentOf(engine, options);
  const links = (await engine.space.links([id])).map((link) => ({
    id: link.ids[0] === id ? link.ids[1] : link.ids[0],
    kind: link.kind,
    weight: presentWeight(link, now),
    storedWeight: link.weight,
    at: formatInstant(link.at),
  }));
  return links.sort((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1));
}

/** Links two memories. The link lasts until it is removed. Throws `not_found`. */
export async function link(
  engine: Dependencies,
  a: string,
  b: string,
  options: LinkOptions = {},
): Promise<void> {
  if (a === b) throw invalidArgument('ids', 'a memory cannot be linked with itself');
  const weight = options.weight === undefined ? 0.8 : number(options.weight, 'weight', 0.01, 1);
  const at = momentOf(engine, options);
  await mustExist(engine, [a, b]);
  const ids: readonly [string, string] = a < b ? [a, b] : [b, a];
  await engine.space.write({ verb: 'link', at }, async () => ({
    changes: [{ kind: 'link', link: { ids, kind: 'stated', weight, at } }],
    result: undefined,
  }));
}

/** Removes the links between two memories: those of the given kinds, by default all that are stored. Throws `not_found`. */
export async function unlink(
  engine: Dependencies,
  a: string,
  b: string,
  options: UnlinkOptions = {},
): Promise<void> {
  const kinds =
    options.kinds &&
    texts(options.kinds, 'kinds', LINK_KINDS.length, 20).map((kind) => oneOf(kind, 'kinds', LINK_KINDS));
  await mustExist(engine, [a, b]);
  const ids: readonly [string, string] = a < b ? [a, b] : [b, a];
  await engine.space.write({ verb: 'unlink', at: momentOf(engine, options) }, async () => ({
    changes: [{ kind: 'unlink', ids, ...(kinds ? { kinds } : {}) }],
    result: undefined,
  }));
}

async function mustExist(engine: Dependencies, ids: readonly string[]): Promise<void> {
  const found = await engine.space.get(ids);
  const missing = ids.find((_, at) => found[at] === undefined);
  if (missing !== undefined) throw notFound(missing, engine.space.name);
}
