import {
  type Columns,
  compileAll,
  createRooms,
  emptyBlock,
  type Facts,
  type KeptColumn,
} from '../scoring/compile.ts';
import { gather } from '../scoring/gather.ts';
import type { Node } from '../scoring/operators/index.ts';
import type { BeliefColumns } from './belief-columns.ts';
import { type FixedParts, fixedParts, type Leveled } from './ceilings.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { IndexSearch } from './search.ts';

/**
 * Blocks that all searches share, one after another. Most rows are dropped by their upper bound, so the lower one is
 * computed only for the rest, gathered in `chosen`. No search awaits anything while it uses them.
 */
export const blocks = { all: emptyBlock(0), chosen: emptyBlock(0) };

/** A formula compiled for the rows of one index, and reused for one query after another. */
export interface Ready {
  readonly all: ReturnType<typeof compileAll>;
  readonly both: ReturnType<typeof compileAll>;
  /** What skipped rows are bounded by: the score, and the floor's formula. */
  readonly score: Bounded;
  readonly floor: Bounded | undefined;
  /** The part of the score that has levels, by the session classes it was chosen for. */
  readonly levels: Map<string, Leveled | undefined>;
  /** The columns and facts of this search, which record what is asked of them. */
  readonly columns: Columns;
  readonly facts: Facts;
}

/** A formula, and what is known of it before any query. */
export interface Bounded {
  readonly node: Node;
  readonly fixed: FixedParts;
  /** By the part that has levels, then by class and level: the highest score by step of similarity. */
  readonly ceilings: Map<Node | undefined, Map<string, Float64Array>>;
}

interface Entry {
  readonly ready: Omit<Ready, 'columns' | 'facts'>;
  readonly root: Node;
  readonly floor: Node | undefined;
  readonly version: number;
  readonly belief: BeliefColumns;
  readonly hasKept: boolean;
  readonly asked: Asked;
}

/** What compiling asked, and the answers. The compiled formula is valid wherever the answers are the same. */
interface Asked {
  readonly facts: Map<Parameters<Facts['known']>[0], boolean | undefined>;
  readonly kept: Map<Node, KeptColumn | undefined>;
}

/** How many formulas are kept for each index. */
const MOST_READY = 4;

const entriesOf = new WeakMap<ResidentIndex, Entry[]>();

/**
 * Compiles the formulas of a search or reuses compiled ones. Most recalls of a space use the same formula, and little
 * else changes.
 */
export function readyFor(
  index: ResidentIndex,
  { profile: { root, floor }, belief }: Pick<IndexSearch, 'profile' | 'belief'>,
  columns: Columns,
  facts: Facts,
): Ready {
  const known = entriesOf.get(index) ?? [];
  const found = known.find(
    (each) =>
      each.root === root &&
      each.floor === floor?.node &&
      each.version === index.version &&
      each.belief === belief &&
      each.hasKept === (columns.kept !== undefined) &&
      holdsStill(each.asked, columns, facts),
  );
  const asked = found?.asked ?? { facts: new Map(), kept: new Map() };
  const noted = { columns: noteKept(columns, asked), facts: noteFacts(facts, asked) };
  if (found) return { columns: noted.columns, facts: noted.facts, ...found.ready };
  const roots = (floor ? [root, floor.node] : [root]).map(gather);
  const [score, floored] = roots.map(
    (node): Bounded => ({ node, fixed: fixedParts(node, noted.columns), ceilings: new Map() }),
  );
  const lent = lend(noted.facts);
  const ready = {
    score: score!,
    floor: floored,
    all: compileAll(roots, noted.columns, {
      facts: { ...lent.facts, block: blocks.all },
      wanted: 'high',
      rooms: roomsFor('all'),
    }),
    both: compileAll(roots, noted.columns, {
      facts: { ...lent.facts, block: blocks.chosen },
      rooms: roomsFor('chosen'),
    }),
    levels: new Map(),
  };
  lent.end();
  const { version } = index;
  const hasKept = columns.kept !== undefined;
  const entry: Entry = { ready, root, floor: floor?.node, version, belief, hasKept, asked };
  const others = known.filter((each) => each.version === version);
  entriesOf.set(index, [entry, ...others].slice(0, MOST_READY));
  return { columns: noted.columns, facts: noted.facts, ...ready };
}

const rooms = { all: createRooms(), chosen: createRooms() };

/** Returns the arrays that compiled formulas share. Their content is not needed once a search is over. */
export function roomsFor(name: keyof typeof rooms) {
  rooms[name].reset();
  return rooms[name];
}

function holdsStill(asked: Asked, columns: Columns, facts: Facts): boolean {
  for (const [name, answer] of asked.facts) if (facts.known(name) !== answer) return false;
  for (const [node, column] of asked.kept) if (columns.kept?.(node) !== column) return false;
  return true;
}

/**
 * Gives a formula access to facts until `end`. A kept formula must not hold on to its query, which has scores of a
 * fifth of all rows.
 */
function lend(given: Facts): { readonly facts: Facts; end(): void } {
  let facts: Facts | undefined = given;
  return {
    facts: { known: (name) => facts?.known(name) },
    end() {
      facts = undefined;
    },
  };
}

function noteFacts({ known }: Facts, asked: Asked): Facts {
  return {
    known(name) {
      const answer = known(name);
      asked.facts.set(name, answer);
      return answer;
    },
  };
}

function noteKept(columns: Columns, asked: Asked): Columns {
  const { kept } = columns;
  if (!kept) return columns;
  return {
    ...columns,
    kept(node) {
      const column = kept(node);
      asked.kept.set(node, column);
      return column;
    },
  };
}
