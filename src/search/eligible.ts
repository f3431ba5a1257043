import { TRANSIENT_TYPES } from '../domain/memory.ts';
import { liesIn } from '../domain/scope.ts';
import type { Instant } from '../domain/time.ts';
import { valueAt } from '../scoring/compile.ts';
import { firstRows } from '../scoring/keep.ts';
import type { MemoryFilter } from '../store/store.ts';
import type { BeliefColumns } from './belief-columns.ts';
import type { ResidentIndex } from './resident-index.ts';

/**
 * How a recall sees a row: `OUTSIDE` if it is dead or does not match the filter, `FILTERED` if it matches but may not
 * be returned now, and `ELIGIBLE` if it may be.
 */
export type Standing = typeof OUTSIDE | typeof FILTERED | typeof ELIGIBLE;
export const OUTSIDE = 0;
export const FILTERED = 1;
export const ELIGIBLE = 2;

/** Finds the eligible rows, ascending, the standing of each row, and how many rows match the filter. */
export function eligibleRows(
  index: ResidentIndex,
  belief: BeliefColumns,
  filter: MemoryFilter,
  now: Instant,
  within?: ReadonlySet<number>,
): { readonly rows: Int32Array; readonly standing: Uint8Array; readonly filtered: number } {
  const { size } = index;
  const { standingOf, areAllEligible } = rules(index, belief, filter, now, within);
  const standing = new Uint8Array(size);
  // In a new process, looking at each row would take many times as long.
  if (areAllEligible) return { rows: firstRows(size), standing: standing.fill(ELIGIBLE), filtered: size };
  const rows = new Int32Array(size);
  let count = 0;
  let filtered = 0;
  for (let row = 0; row < size; row++) {
    const each = standingOf(row);
    standing[row] = each;
    if (each !== OUTSIDE) filtered++;
    if (each === ELIGIBLE) rows[count++] = row;
  }
  return { rows: rows.subarray(0, count), standing, filtered };
}

/**
 * Returns a function that gives the standing of a row. A row is eligible if it matches the filter, is hot and valid
 * now, and is not expired, invalidated, superseded, or consolidated into another memory. The conditions are those of
 * `exclusionOf`, over columns. `within` are the keys of the memories whose metadata matches.
 */
export function standings(...of: Parameters<typeof rules>): (row: number) => Standing {
  return rules(...of).standingOf;
}

/** Returns the same function, and whether all rows are certainly eligible. */
function rules(
  index: ResidentIndex,
  { superseded }: BeliefColumns,
  filter: MemoryFilter,
  now: Instant,
  within?: ReadonlySet<number>,
): { readonly standingOf: (row: number) => Standing; readonly areAllEligible: boolean } {
  const { alive, keys, columns } = index;
  const { consolidatedAt, expiresAt, invalidatedAt, validFrom, validUntil } = columns.clocks;
  const scopeCodes = columns.attributes.scope.codes;
  const typeCodes = columns.attributes.type.codes;
  const tierCodes = columns.attributes.tier.codes;
  const coreCodes = columns.attributes.core.codes;
  const scopeTexts = columns.attributes.scope.dictionary.texts;
  const { inScope } = filter;
  const outside = inScope === undefined ? undefined : scopeTexts.filter((scope) => !liesIn(scope, inScope));
  const scopeAllowed = allowed(scopeTexts, filter.scopes, outside);
  const typeAllowed = allowed(columns.attributes.type.dictionary.texts, filter.types, filter.typesExclude);
  const tiers = filter.deep || filter.cold ? ['hot', 'cold'] : ['hot'];
  const replacedToo = filter.deep === true;
  const { validAt = now } = filter;
  const tierAllowed = allowed(columns.attributes.tier.dictionary.texts, tiers, undefined);
  const maySurvive = allowed(
    columns.attributes.type.dictionary.texts,
    filter.includeExpired ? TRANSIENT_TYPES : [],
    undefined,
  );
  const isCore = allowed(columns.attributes.core.dictionary.texts, ['true'], undefined);
  const tagged = rowsWithTags(index, filter.tags);
  // In most spaces no memory has any of these clocks. Reading each for every row would be half of the work.
  const isTimeless = [consolidatedAt, expiresAt, invalidatedAt, validFrom, validUntil].every((clock) =>
    Number.isNaN(columns.shared.get(clock)),
  );
  const areAllEligible =
    isTimeless &&
    index.dead === 0 &&
    ![scopeAllowed, typeAllowed, tierAllowed].some((each) => each.includes(0)) &&
    tagged === undefined &&
    within === undefined &&
    (replacedToo || !superseded.includes(1));
  const standingOf = (row: number): Standing => {
    if (
      alive[row] === 0 ||
      scopeAllowed[scopeCodes[row]!] === 0 ||
      typeAllowed[typeCodes[row]!] === 0 ||
      tierAllowed[tierCodes[row]!] === 0 ||
      (tagged !== undefined && !tagged.has(row)) ||
      (within !== undefined && !within.has(keys[row]!))
    ) {
      return OUTSIDE;
    }
    if (superseded[row] === 1 && !replacedToo) return FILTERED;
    if (isTimeless) return ELIGIBLE;
    // A comparison with NaN, an unknown clock, is false.
    if (
      (valueAt(consolidatedAt, row) <= now && !replacedToo) ||
      valueAt(invalidatedAt, row) <= now ||
      valueAt(validFrom, row) > validAt ||
      (valueAt(validUntil, row) < validAt && maySurvive[typeCodes[row]!] === 0) ||
      (valueAt(expiresAt, row) <= validAt && isCore[coreCodes[row]!] === 0)
    ) {
      return FILTERED;
    }
    return ELIGIBLE;
  };
  return { standingOf, areAllEligible };
}

const coldCounts = new WeakMap<ResidentIndex, { readonly version: number; readonly count: number }>();

/** Counts the living memories that are cold. */
export function coldCount(index: ResidentIndex): number {
  const { codes, dictionary } = index.columns.attributes.tier;
  const cold = dictionary.codes.get('cold');
  if (cold === undefined) return 0;
  const { alive, size, version } = index;
  const known = coldCounts.get(index);
  if (known?.version === version) return known.count;
  let count = 0;
  for (let row = 0; row < size; row++) if (codes[row] === cold && alive[row] === 1) count++;
  coldCounts.set(index, { version, count });
  return count;
}

function allowed(
  texts: readonly string[],
  only: readonly string[] | undefined,
  except: readonly string[] | undefined,
): Uint8Array {
  const within = only && new Set(only);
  const without = new Set(except);
  return Uint8Array.from(texts, (text) => ((within?.has(text) ?? true) && !without.has(text) ? 1 : 0));
}

function rowsWithTags(
  index: ResidentIndex,
  tags: readonly string[] | undefined,
): ReadonlySet<number> | undefined {
  if (!tags || tags.length === 0) return undefined;
  const sets = tags.map((tag) => index.tags.get(tag) ?? new Set<number>());
  const [smallest, ...others] = sets.sort((a, b) => a.size - b.size);
  return new Set([...smallest!].filter((row) => others.every((set) => set.has(row))));
}
