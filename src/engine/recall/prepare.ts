import { invalidArgument } from '../../domain/check.ts';
import { describe } from '../../domain/describe.ts';
import { messageOf, SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { LONGEST_QUERY, longQuery } from '../../domain/query.ts';
import { redactPrivate } from '../../domain/redaction.ts';
import { isInstant } from '../../domain/time.ts';
import { findTextProblem } from '../../domain/wellformed.ts';
import type { Embedder } from '../../providers/embedder.ts';
import { unlessAborted } from '../../providers/waiting.ts';
import type { ResolvedProfile } from '../../scoring/profile.ts';
import type { PreparedQuery } from '../../store/store.ts';
import type { Analyzer } from '../../text/analyze.ts';
import type { DateRange } from '../../text/dates/dates.ts';
import { asksForThePast } from '../../text/tense.ts';
import { writtenWords } from '../../text/written.ts';
import { querySignals, takesQuery } from './strategy.ts';
import type { Arm } from './trace.ts';

/** A query analysed for one strategy, and the searches that it can use. */
export interface Preparation {
  readonly query: PreparedQuery;
  readonly arms: readonly Arm[];
  /** Whether it asks about the past, and is best answered by what was said then. */
  readonly past: boolean;
}

export interface QueryTools {
  readonly analyzer: Analyzer;
  readonly embedder: Embedder | undefined;
  /** Finds the dates in a text; absent if there is no date reader. */
  readonly dates?: ((text: string) => Promise<readonly DateRange[]>) | undefined;
}

/**
 * Analyses a query: terms, vector, dates and tense. If the vector or the dates fail, an arm reports it and the recall
 * goes on without them. Private parts are searched by words but not shown to the embedder. Throws `blank_query`,
 * `invalid_text`, `invalid_argument`, `aborted`.
 */
export async function prepareQuery(
  text: string | undefined,
  resolved: ResolvedProfile,
  tools: QueryTools,
  signal: AbortSignal | undefined,
): Promise<Preparation> {
  const reads = querySignals(resolved);
  if (!takesQuery(resolved)) {
    if (text !== undefined && text !== '') {
      throw new SalienceError(
        'invalid_argument',
        `strategy ${resolved.name} takes no query: it ranks without one`,
        {
          details: { field: 'query' },
        },
      );
    }
    return { query: { terms: [] }, arms: [unused('lexical'), unused('vector')], past: false };
  }
  const query = checkQuery(
    text,
    `strategy ${resolved.name} needs a query: pass the text to search for, or use the strategy "ambient", which takes none`,
  );
  const terms = [...new Set(tools.analyzer.analyze(query))].sort();
  const vector = reads.similarity
    ? await embedQuery(query, tools.embedder, signal, reads.lexical)
    : { arm: unused('vector') };
  const dates = reads.date ? await readDates(query, tools, signal) : undefined;
  return {
    query: {
      terms,
      written: writtenWords(query, tools.analyzer),
      vector: vector.vector,
      model: tools.embedder?.model,
      analyzer: tools.analyzer.id,
      text: reads.author ? query : undefined,
      dates: dates?.ranges,
      substring: terms.length === 0 ? query.trim() : undefined,
    },
    arms: [
      reads.lexical ? { name: 'lexical', status: 'ran' } : unused('lexical'),
      vector.arm,
      ...(dates?.arm ?? []),
    ],
    past: asksForThePast(query),
  };
}

/** Checks a query and returns it. `blank` is the message if it is blank. */
export function checkQuery(text: unknown, blank: string): string {
  if (text !== undefined && typeof text !== 'string') {
    throw invalidArgument('query', `expected a string, not ${describe(text)}`);
  }
  if (text === undefined || text.trim() === '') throw new SalienceError('blank_query', blank);
  if (text.length > LONGEST_QUERY) throw invalidArgument('query', longQuery(text.length));
  if (findTextProblem(text) === 'invalid-utf16') {
    throw new SalienceError('invalid_text', 'query: the text has half of a surrogate pair', {
      details: { field: 'query' },
    });
  }
  return text;
}

async function embedQuery(
  query: string,
  embedder: Embedder | undefined,
  signal: AbortSignal | undefined,
  words: boolean,
): Promise<{ readonly vector?: Float32Array | undefined; readonly arm: Arm }> {
  if (!embedder) {
    const reason = `no embedder is configured${words ? ': words alone were searched' : ''}`;
    return { arm: { name: 'vector', status: 'off', reason } };
  }
  try {
    const [vector] = await embedder.embed([redactPrivate(query)], { signal, purpose: 'query' });
    return vector
      ? { vector, arm: { name: 'vector', status: 'ran' } }
      : { arm: { name: 'vector', status: 'blank', reason: `${embedder.model} knows no word of the query` } };
  } catch (cause) {
    throwIfAborted(signal);
    return { arm: { name: 'vector', status: 'failed', reason: messageOf(cause) } };
  }
}

async function readDates(
  query: string,
  { dates }: QueryTools,
  signal: AbortSignal | undefined,
): Promise<{ readonly ranges?: readonly DateRange[]; readonly arm?: readonly Arm[] }> {
  try {
    const ranges = checkedDates((dates && (await unlessAborted(() => dates(query), signal))) ?? []);
    return ranges.length === 0 ? {} : { ranges };
  } catch (cause) {
    throwIfAborted(signal);
    return { arm: [{ name: 'dates', status: 'failed', reason: messageOf(cause) }] };
  }
}

/** Checks the dates of a custom date reader, which may return anything. */
function checkedDates(given: unknown): readonly DateRange[] {
  const isRange = (each: Partial<DateRange> | null) =>
    typeof each?.text === 'string' && isInstant(each.start) && isInstant(each.end) && each.start < each.end;
  if (Array.isArray(given) && given.every(isRange)) return given;
  throw new SalienceError(
    'invalid_argument',
    `dateReader: returned ${describe(given)}; return a list of { text, start, end }, times in whole milliseconds since 1970, the start before the end`,
    { details: { field: 'dateReader' } },
  );
}

function unused(name: Arm['name']): Arm {
  return { name, status: 'not-used' };
}
