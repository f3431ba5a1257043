import { callback, flag, invalidArgument } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { throwIfAborted } from '../domain/errors.ts';
import { ownCopy } from '../domain/frozen.ts';
import { keysOf, onlyKeys, withInherited } from '../domain/options.ts';
import { parseInstant } from '../domain/time.ts';
import {
  optionNames,
  optionsAt,
  VERB_NAMES,
  type VerbEntry,
  type VerbName,
  verbEntry,
} from '../domain/verbs.ts';
import type { MemoryEngine } from './memory-engine.ts';
import type { Context, ContextOptions } from './recall/context.ts';
import type { Recall } from './recall/recall.ts';
import type { AsOf, OperationOptions, RecallOptions } from './types.ts';

/** Every method of the engine that the table of verbs describes. */
export type EngineVerb = Exclude<VerbName, 'forgetMany'>;

/** The verbs as implemented: every argument has its place, and an omitted query is `undefined`. */
export interface Verbs extends Pick<MemoryEngine, Exclude<EngineVerb, 'recall' | 'context'>> {
  recall<Strategy extends string>(
    query: string | undefined,
    options?: RecallOptions<Strategy>,
  ): Promise<Recall<Strategy>>;
  context<Strategy extends string>(
    query: string | undefined,
    options: ContextOptions<Strategy>,
  ): Promise<Context<Strategy>>;
}

/** The keys of {@link AsOf}. */
export const AS_OF = keysOf<AsOf>()({ known: true, valid: true });

/** Checks of options that the table of verbs does not describe, because they never leave the process. */
const LOCAL_CHECKS: Readonly<Record<string, (value: unknown, field: string) => unknown>> = {
  now: (value, field) => parseInstant(value as string, field),
  progress: callback,
  renew: flag,
};

type OnBehalf = (signal: AbortSignal | undefined, work: () => Promise<unknown>) => Promise<unknown>;
type Run = (...given: readonly unknown[]) => Promise<unknown>;

/**
 * Wraps verbs for callers. Each throws `invalid_argument` for unknown options and for switches that are neither true
 * nor false, does not begin if its signal is aborted, and accepts the options in place of an optional argument before
 * them. `onBehalf` passes the signal down to the store. It is a parameter because a client in a browser has no store
 * and no way to pass it on.
 */
export function withVerbChecks<Rest extends Omit<MemoryEngine, EngineVerb>>(
  memory: Verbs & Rest,
  onBehalf: OnBehalf = (_, work) => work(),
): MemoryEngine {
  const checked = VERB_NAMES.filter((name) => verbEntry(name).method === undefined).map((verb) => {
    const entry = verbEntry(verb);
    const at = optionsAt(entry);
    const names = optionNames(entry);
    // `forget` also takes lists and filters.
    const ids =
      verb === 'forget' ? [] : (entry.takes ?? []).map((name) => entry.arguments?.[name]?.isId === true);
    const run = memory[verb as EngineVerb] as Run;
    const checking: Run = async (...passed) => {
      const given = inPlace(
        entry,
        passed.map((each) => withInherited(each, names)),
      );
      for (const [place, isId] of ids.entries()) if (isId) checkId(given[place], entry.takes![place]!);
      const options = given[at];
      if (options !== undefined) {
        onlyKeys(options, names, verb);
        checkSwitches(verb, options as object);
      }
      const signal = (options as OperationOptions | undefined)?.signal;
      checkSignal(signal);
      throwIfAborted(signal);
      // Options are copied: callers may reuse their objects while this call still reads them.
      const kept = given.map((each) => (isOptions(each) ? ownCopy(each as object) : each));
      return onBehalf(signal, () => run(...kept));
    };
    return [verb, checking];
  });
  return { ...memory, ...Object.fromEntries(checked) };
}

/** Puts the arguments of a call in their places, if the optional argument before the options was left out. */
export function inPlace(entry: VerbEntry, given: readonly unknown[]): readonly unknown[] {
  const { takes, rest } = entry;
  const at = optionsAt(entry);
  const last = takes?.at(-1);
  const mayBeLeftOut = rest === undefined && last !== undefined && !entry.arguments?.[last]?.required;
  return mayBeLeftOut && given[at] === undefined && isOptions(given[at - 1])
    ? [...given.slice(0, at - 1), undefined, given[at - 1]]
    : given;
}

/**
 * Checks the switches and callbacks among the options of a verb. Throws `invalid_argument`: a value that is neither
 * true nor false could be read as either, and `dryRun: "true"` must not forget.
 */
export function checkSwitches(verb: VerbName, options: object): void {
  const given = verbEntry(verb).arguments;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (given?.[name]?.type === 'boolean') flag(value, name);
    LOCAL_CHECKS[name]?.(value, name);
  }
}

/** Returns the signal of a call whose arguments are not checked yet, if it has one. */
export function signalOf(entry: VerbEntry, given: readonly unknown[]): AbortSignal | undefined {
  const { signal } = Object(inPlace(entry, given)[optionsAt(entry)]) as { readonly signal?: unknown };
  return isSignal(signal) ? signal : undefined;
}

/** Whether a value can be used as a signal: runtimes and tests have classes of their own. */
function isSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener } = Object(value) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}

function checkSignal(signal: unknown): void {
  if (signal === undefined) return;
  if (isSignal(signal)) return;
  throw invalidArgument('signal', `expected the signal of an AbortController, not ${describe(signal)}`);
}

function checkId(value: unknown, field: string): void {
  if (typeof value === 'string') return;
  throw invalidArgument(field, `expected the id of a memory, not ${value === null ? 'null' : typeof value}`);
}

function isOptions(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
