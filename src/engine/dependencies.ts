import type { RandomBytes } from '../context/render.ts';
import type { TokenCounter } from '../context/tokens.ts';
import { flag, invalidArgument, oneOf, text, texts, wholeNumber } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import type { TextLimits } from '../domain/field-checks.ts';
import { FIELD_FILTERS, FIELDS, type Field } from '../domain/fields.ts';
import { parseMetadataFilter } from '../domain/metadata-condition.ts';
import { parseScope, parseScopeOrKind, visibleScopes } from '../domain/scope.ts';
import { type Clock, type Instant, parseInstant } from '../domain/time.ts';
import type { NewNonce } from '../language/fence.ts';
import type { Embedder } from '../providers/embedder.ts';
import type { LanguageModel } from '../providers/language-model.ts';
import type { Reranker } from '../providers/reranker.ts';
import type { Profile } from '../scoring/profile.ts';
import type { FieldCondition, MemoryFilter, SpaceStore } from '../store/store.ts';
import type { Analyzer } from '../text/analyze.ts';
import type { DateReader } from '../text/dates/dates.ts';
import type { Watch } from './looking/watch.ts';
import type { ReinforcementRates } from './recall/reinforce.ts';
import type { FieldFilterOptions, FilterOptions, OperationOptions } from './types.ts';

/** What every verb works with: one space and the tools to read and write it. */
export interface Dependencies {
  readonly space: SpaceStore;
  readonly embedder: Embedder | undefined;
  readonly analyzer: Analyzer;
  /** Whether the caller has named the language of the analyzer. Otherwise it was that of the space at opening. */
  readonly languageNamed: boolean;
  /** Finds the dates that a query names. */
  readonly dateReader: DateReader | undefined;
  readonly clock: Clock;
  readonly newId: (now: Instant) => string;
  readonly limits: TextLimits;
  /** Judges what rules cannot. Every use has a fallback without it. */
  readonly languageModel: LanguageModel | undefined;
  /** Makes the nonces that fence foreign text in prompts. */
  readonly newNonce: NewNonce;
  /** Orders direct hits, if a recall asks for it. */
  readonly reranker: Reranker | undefined;
  /** The cosine above which a new statement may contradict a known one. Default is the embedder's. */
  readonly conflictThreshold: number | undefined;
  /** Returns the token counter for contexts. Created on first use. */
  readonly tokenCounter: () => Promise<TokenCounter>;
  readonly randomBytes: RandomBytes;
  /** Notices what other processes write. */
  readonly watch: Watch;
  readonly reinforcement: ReinforcementRates;
  /** Whether writing is forbidden. Recalls then write no effects. */
  readonly readOnly: boolean;
  /** All profiles by the name of their strategy, including custom ones. */
  readonly profiles: ReadonlyMap<string, () => Profile>;
}

/** Returns the time of an operation: `now` of the caller, else the engine's clock. */
export function momentOf(engine: Dependencies, options: OperationOptions | undefined): Instant {
  return options?.now === undefined ? engine.clock() : parseInstant(options.now, 'now');
}

/** Reads the filter in a caller's options. Throws `invalid_scope`, `invalid_argument`. */
export function filterOf(options: FilterOptions): MemoryFilter {
  const { scope, inScope, types, typesExclude, tags, metadata } = options;
  if (types && typesExclude) throw invalidArgument('typesExclude', 'give types or typesExclude, not both');
  return {
    scopes: scope === undefined ? undefined : visibleScopes(parseScope(scope)),
    inScope: inScope === undefined ? undefined : parseScopeOrKind(inScope),
    types: types === undefined ? undefined : texts(types, 'types', 100, 64),
    typesExclude: typesExclude === undefined ? undefined : texts(typesExclude, 'typesExclude', 100, 64),
    tags: tags === undefined ? undefined : texts(tags, 'tags', 64, 128),
    metadata: metadata === undefined ? undefined : parseMetadataFilter(metadata),
  };
}

/** Reads the conditions on fields in a caller's options. Throws `invalid_argument`, `invalid_time`. */
export function fieldConditionsOf(options: FieldFilterOptions): readonly FieldCondition[] {
  return Object.entries(FIELD_FILTERS).flatMap(([name, filter]) => {
    const said: unknown = options[name as keyof FieldFilterOptions];
    return said === undefined ? [] : [{ ...filter, value: filterValue(said, name, FIELDS[filter.field]) }];
  });
}

function filterValue(said: unknown, name: string, { kind, choices = [], maxCharacters = Infinity }: Field) {
  if (kind === 'instant') return parseInstant(said as string | Date, name);
  if (kind === 'flag') return flag(said, name);
  return kind === 'choice' ? oneOf(said, name, choices) : text(said, name, { maxCharacters });
}

export function limitOf(value: number | undefined, otherwise: number, most: number): number {
  return value === undefined ? otherwise : wholeNumber(value, 'limit', 1, most);
}

export function notFound(id: string, space: string): SalienceError {
  return new SalienceError(
    'not_found',
    `memory ${describe(id)} does not exist in space ${JSON.stringify(space)}`,
    {
      details: { id, space },
    },
  );
}

/** Makes the error for missing ids among several. `outcome` says what happened to the call. */
export function notFoundAmong(
  missing: readonly [string, ...string[]],
  asked: number,
  space: string,
  outcome: string,
): SalienceError {
  const names = missing.slice(0, 10).map((id) => JSON.stringify(id));
  const rest = missing.length > names.length ? `, and ${missing.length - names.length} more` : '';
  return new SalienceError(
    'not_found',
    asked === 1
      ? `memory ${names[0]} does not exist in space ${JSON.stringify(space)}`
      : `memories ${names.join(', ')}${rest} do not exist in space ${JSON.stringify(space)}; ${outcome}`,
    { details: { id: missing[0], ids: missing.slice(0, 100), space } },
  );
}
