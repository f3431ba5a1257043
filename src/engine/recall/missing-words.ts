import type { CountedWords, WordCounts } from '../../scoring/word-counts.ts';

/** The words of a query that a memory lacks, as written in the query, without stop words. */
export interface MissingWords {
  /** Words that are not in its own text. */
  readonly memory: readonly string[];
  /** Words that are not in the neighbouring turns either. Absent if the strategy does not use neighbours. */
  readonly neighbours?: readonly string[] | undefined;
  /**
   * Words that are not in any visible memory of its session either. Absent if the strategy does not use sessions, or
   * the memory has none.
   */
  readonly session?: readonly string[] | undefined;
}

/** Returns the words of the query that a memory, its neighbours and its session lack; `undefined` for a query without words. */
export function missingWords(words: CountedWords | undefined): MissingWords | undefined {
  const { lexical, contextLexical, sessionLexical } = words ?? {};
  if (!lexical) return undefined;
  const inSession = sessionLexical?.among === 'sessions' ? sessionLexical : undefined;
  return {
    memory: lacking(lexical),
    ...(contextLexical ? { neighbours: lacking(contextLexical) } : {}),
    ...(inSession ? { session: lacking(inSession) } : {}),
  };
}

/** Describes missing words as the end of a sentence about a memory. Empty if nothing is missing. */
export function missingText(missing: MissingWords | undefined): string {
  if (!missing || missing.memory.length === 0) return '';
  const { memory, neighbours, session } = missing;
  const wider = [
    ...(neighbours ? [found('the turns beside it have', memory, neighbours)] : []),
    ...(session ? [found('its session has', neighbours ?? memory, session)] : []),
  ].filter((each) => each !== '');
  return `; it lacks ${listed(memory)}${wider.length > 0 ? `, of which ${wider.join(', and ')}` : ''}`;
}

function found(who: string, before: readonly string[], after: readonly string[]): string {
  const still = new Set(after);
  const there = before.filter((word) => !still.has(word));
  return there.length === 0 ? '' : `${who} ${listed(there)}`;
}

function listed(words: readonly string[]): string {
  return words.map((word) => JSON.stringify(word)).join(', ');
}

/** Returns the missing words. A word with stand-ins is missing only if all of them are. */
function lacking({ terms, unknown }: WordCounts): readonly string[] {
  const there = new Set(
    terms.flatMap(({ term, insteadOf = term, frequency }) => (frequency > 0 ? [insteadOf] : [])),
  );
  const asked = [...terms.filter(({ insteadOf }) => insteadOf === undefined), ...unknown];
  return asked
    .filter(({ term }) => !there.has(term))
    .sort((a, b) => (a.term < b.term ? -1 : 1))
    .map(({ word }) => word);
}
