import { channel, tracingChannel } from 'node:diagnostics_channel';
import { SalienceError } from '../domain/errors.ts';
import { redactPrivate } from '../domain/redaction.ts';
import { VERBS, type VerbEntry, type VerbName, verbEntry } from '../domain/verbs.ts';
import type { MemoryEngine } from './memory-engine.ts';
import type { Consolidated, JudgedSimilarity } from './upkeep/maintenance-types.ts';

/**
 * One call of a verb, as it is published on the tracing channel `salience:<verb>` of `node:diagnostics_channel`, such as
 * `tracing:salience:recall:asyncEnd`. It never holds the text of a memory or of a query.
 */
export interface MemoryOperation {
  readonly verb: string;
  readonly space: string;
  /** The id that the caller gave. */
  readonly id?: string | undefined;
  readonly scope?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Set once it has succeeded. */
  readonly result?: OperationResult | undefined;
  /**
   * Set once it has failed: the code of the error, or `internal` for an unexpected one. The message is left out because
   * it may quote a text.
   */
  readonly error?: { readonly code: string } | undefined;
}

export interface OperationResult {
  /**
   * The ids of the memories that were written, found, changed or forgotten; for a recall, best first. Empty for a dry
   * run.
   */
  readonly ids: readonly string[];
  /** The strategy of a recall. */
  readonly strategy?: string | undefined;
}

/**
 * The texts of an operation without private parts, published on the channel `salience:content`. Built only while there
 * is a subscriber.
 */
export interface OperationContent {
  /** The object that the tracing channel publishes for the same call. */
  readonly operation: MemoryOperation;
  readonly query?: string | undefined;
  readonly records: readonly ContentRecord[];
}

export interface ContentRecord {
  readonly id: string;
  readonly content: string;
  readonly score?: number | undefined;
}

/** A memory in an answer. Some answers, such as that of `remember`, contain only the id. */
type FoundRecord = Pick<ContentRecord, 'id'> & Partial<ContentRecord>;
type Run = (...given: readonly unknown[]) => Promise<unknown>;

const CONTENT = 'salience:content';

/** Wraps verbs so that every call is published. Without a subscriber this costs one check of a flag per call. */
export function withDiagnostics<Verbs extends { readonly space: string }>(verbs: Verbs): Verbs {
  const published = Object.entries(verbs).flatMap(([verb, run]) =>
    typeof run === 'function' && Object.hasOwn(VERBS, verb)
      ? [[verb, observed(verbs.space, verb, run as Run)]]
      : [],
  );
  return { ...verbs, ...Object.fromEntries(published) };
}

function observed(space: string, verb: string, run: Run): Run {
  const operations = tracingChannel<unknown, MemoryOperation>(`salience:${verb}`);
  const contents = channel(CONTENT);
  return async (...given) => {
    if (!operations.hasSubscribers) return run(...given);
    const operation: MemoryOperation = { verb, space, ...askedOf(verb, given) };
    let value: unknown;
    let failure: { readonly error: unknown } | undefined;
    // The channel publishes what this promise settles with, so it must not contain a text.
    const settling = async () => {
      try {
        value = await run(...given);
      } catch (error) {
        failure = { error };
        throw { code: SalienceError.isInstance(error) ? error.code : 'internal' };
      }
      if (contents.hasSubscribers) contents.publish(contentOf(operation, given, value));
      return resultOf(verb, value);
    };
    try {
      await operations.tracePromise(settling, operation);
    } catch (thrown) {
      throw failure ? failure.error : thrown;
    }
    return value;
  };
}

function askedOf(verb: string, given: readonly unknown[]): Partial<MemoryOperation> {
  const { takes = [], arguments: all = {} } = entryOf(verb);
  const at = takes.findIndex((name) => all[name]?.isId);
  const { scope, sessionId } = fieldsOf(optionsOf(given));
  return {
    ...(typeof given[at] === 'string' ? { id: given[at] } : {}),
    ...(typeof scope === 'string' ? { scope } : {}),
    ...(typeof sessionId === 'string' ? { sessionId } : {}),
  };
}

function entryOf(verb: string): VerbEntry {
  return verbEntry(verb as VerbName);
}

function optionsOf(given: readonly unknown[]): unknown {
  return given.findLast((each) => typeof each === 'object' && each !== null && !Array.isArray(each));
}

type Answer<Run> = Run extends (...given: never) => Promise<infer Value> ? Value : never;

/** Finds the ids in the answers of verbs that name the memories they changed by their ids alone. */
const changedIds: {
  readonly [Name in VerbName & keyof MemoryEngine]?: (
    answer: Answer<MemoryEngine[Name]>,
  ) => readonly string[];
} = {
  forget: ({ dryRun, forgotten }) => (dryRun ? [] : forgotten),
  maintain: ({ dryRun, cooled, archived, expired, consolidated, judged }) =>
    dryRun
      ? []
      : [...cooled, ...archived, ...expired, ...idsOfConsolidated(consolidated), ...newerOf(judged)],
  curate: ({ dryRun, pruned, deduplicated, consolidated, judged }) =>
    dryRun
      ? []
      : [
          ...pruned,
          ...deduplicated.map(({ kept }) => kept),
          ...idsOfConsolidated(consolidated),
          ...newerOf(judged),
        ],
  relate: ({ relation }) => relation.statements,
  unrelate: ({ statements }) => statements,
  mergeEntities: ({ entity, merged, statements }) => [entity.id, merged, ...statements],
  splitEntity: ({ entity, split, statements }) => [entity.id, split.id, ...statements],
  markUsed: (ids) => ids,
};

function idsOfConsolidated(consolidated: readonly Consolidated[]): readonly string[] {
  return consolidated.flatMap(({ id, from }) => (id === undefined ? from : [id, ...from]));
}

/** The newer memory of a judged pair is written whatever the verdict is. */
function newerOf(judged: readonly JudgedSimilarity[]): readonly string[] {
  return judged.map(({ newer }) => newer);
}

function resultOf(verb: string, value: unknown): OperationResult {
  const { strategy } = fieldsOf(fieldsOf(value)['trace']);
  const changed = changedIds[verb as keyof typeof changedIds] as
    | ((answer: unknown) => readonly string[])
    | undefined;
  return {
    ids: changed ? [...new Set(changed(value))] : recordsOf(value).map(({ id }) => id),
    ...(typeof strategy === 'string' ? { strategy } : {}),
  };
}

function contentOf(operation: MemoryOperation, given: readonly unknown[], value: unknown): OperationContent {
  const query =
    entryOf(operation.verb).takes?.[0] === 'query' ? given[0] : fieldsOf(optionsOf(given))['query'];
  const said = [given[0]].flat();
  const records = recordsOf(value).flatMap(({ id, content, score }, at): readonly ContentRecord[] => {
    const text = content ?? (operation.verb.startsWith('remember') ? statementOf(said[at]) : undefined);
    return text === undefined ? [] : [{ id, content: text, ...(score === undefined ? {} : { score }) }];
  });
  return { operation, ...(typeof query === 'string' ? { query: redactPrivate(query) } : {}), records };
}

function statementOf(said: unknown): string | undefined {
  const content = typeof said === 'string' ? said : fieldsOf(said)['content'];
  return typeof content === 'string' ? redactPrivate(content) : undefined;
}

/** Finds the memories in an answer of any of the engine's shapes. */
function recordsOf(value: unknown): readonly FoundRecord[] {
  if (Array.isArray(value)) return value.flatMap(recordsOf);
  const { id, content, hits, memories, memory, items, score, created, updated } = fieldsOf(value);
  // `observe` returns the ids of what it wrote.
  if (Array.isArray(created) && Array.isArray(updated)) return [...created, ...updated].map((id) => ({ id }));
  if (memory !== undefined) {
    const value = fieldsOf(score)['value'];
    return recordsOf(memory).map((each) => (typeof value === 'number' ? { ...each, score: value } : each));
  }
  const several = hits ?? memories ?? items;
  if (several !== undefined) return recordsOf(several);
  return typeof id === 'string' ? [{ id, ...(typeof content === 'string' ? { content } : {}) }] : [];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
