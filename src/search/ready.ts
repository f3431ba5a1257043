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
 * What all searches use, one after the other. Most rows fall by their upper bound: the lower one is worked out for the others
 * alone, side by side. No search waits for anything while it uses them.
 */
export const blocks = { all: emptyBlock(0), chosen: emptyBlock(0) };

/** A formula made ready to bound the rows of one index, for one query after the other. */
export interface Ready {
  readonly all: ReturnType<typeof compileAll>;
  readonly both: ReturnType<typeof compileAll>;
  /** What is passed over is bounded by: the whole formula, and the floor. */
  readonly score: Bounded;
  readonly floor: Bounded | undefined;
  /** Of which part of the score rows have levels, by the classes of sessions that decide it. */
  readonly levels: Map<string, Leveled | undefined>;
  /** As the search has them; what is asked of them is noted. */
  readonly columns: Columns;
  readonly facts: Facts;
}

/** A formula, and what is known of it beforehand. */
export interface Bounded {
  readonly node: Node;
  readonly fixed: FixedParts;
  /** By the part that has levels, then by class and level: how high rows can get, by steps of similarity. */
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

/** What was asked, and the answers: a formula is the same wherever they are. */
interface Asked {
  readonly facts: Map<Parameters<Facts['known']>[0], boolean | undefined>;
  readonly kept: Map<Node, KeptColumn | undefined>;
}

/** Formulas that are kept for each index. */
const MOST_READY = 4;

const entriesOf = new WeakMap<ResidentIndex, Entry[]>();

/** Makes the formulas of a search ready, or finds them so: most recalls of a space ask the same, and little else changes. */
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

/** Lanes of all formulas share their arrays: what is in them is of no use once a search is over. */
export function roomsFor(name: keyof typeof rooms) {
  rooms[name].reset();
  return rooms[name];
}

function holdsStill(asked: Asked, columns: Columns, facts: Facts): boolean {
  for (const [name, answer] of asked.facts) if (facts.known(name) !== answer) return false;
  for (const [node, column] of asked.kept) if (columns.kept?.(node) !== column) return false;
  return true;
}

/** A formula that stays ready must not hold on to the query that it was made for: that has scores of a fifth of all rows. */
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
