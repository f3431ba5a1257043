import type { CountedWords, WordCounts } from '../../scoring/word-counts.ts';

/** The words of a query that a memory lacks, as they were written; no stop words. */
export interface MissingWords {
  /** Not in its own text. */
  readonly memory: readonly string[];
  /** Nor in the turns beside it whose words count for it. Absent where the strategy looks at no other memory. */
  readonly neighbours?: readonly string[] | undefined;
  /** Nor in any visible memory of its session. Absent under the same condition, and for a memory without a session. */
  readonly session?: readonly string[] | undefined;
}

/** What of the query a memory lacks, from near to far; `undefined` for a query without words. */
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

/** As the end of a sentence about a memory; empty where nothing is missing. */
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

/** A word that others stand for is missing where all of them are. */
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
