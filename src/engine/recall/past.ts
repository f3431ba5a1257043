import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { onlyKeys } from '../../domain/options.ts';
import { formatInstant, parseInstant } from '../../domain/time.ts';
import type { MemoryFilter, PastSpace } from '../../store/store.ts';
import { type Dependencies, momentOf } from '../dependencies.ts';
import type { AsOf, OperationOptions } from '../types.ts';
import { AS_OF } from '../verb-options.ts';
import { deriveTexts } from '../write/derive.ts';
import { pastOf } from './kept-pasts.ts';

/**
 * Runs a task as of `asOf.known`: with the space as it was known then, that moment as its time, and read-only. Without
 * `known` it runs in the present. Throws `invalid_argument` for a moment before the first write.
 */
export async function asKnown<
  Options extends OperationOptions & { readonly asOf?: AsOf | undefined },
  Result,
>(
  engine: Dependencies,
  options: Options,
  task: (engine: Dependencies, options: Options, past: PastSpace | undefined) => Promise<Result>,
): Promise<Result> {
  const { asOf } = options;
  if (asOf === undefined) return task(engine, options, undefined);
  onlyKeys(asOf, AS_OF, 'asOf');
  if (asOf.valid !== undefined) parseInstant(asOf.valid, 'asOf.valid');
  if (asOf.known === undefined) return task(engine, options, undefined);
  const known = parseInstant(asOf.known, 'asOf.known');
  const past = await pastOf(engine.space, known, () =>
    engine.space.asKnown(known, (memories) => deriveTexts(memories, engine, { signal: options.signal })),
  );
  throwIfAborted(options.signal);
  const now = options.now === undefined ? new Date(known) : new Date(momentOf(engine, options));
  return task({ ...engine, space: past, readOnly: true }, { ...options, now }, past);
}

/** Reads `asOf.valid` for a filter. */
export function validAtOf({ asOf }: { readonly asOf?: AsOf | undefined }): MemoryFilter['validAt'] {
  return asOf?.valid === undefined ? undefined : parseInstant(asOf.valid, 'asOf.valid');
}

/** Makes the error for a memory that was known then and has been forgotten since. */
export function redactedError(id: string, known: string | Date): SalienceError {
  return new SalienceError(
    'redacted',
    `memory ${JSON.stringify(id)} was known at ${formatInstant(parseInstant(known))}, and has been forgotten since; its text cannot be restored`,
    { details: { id } },
  );
}
