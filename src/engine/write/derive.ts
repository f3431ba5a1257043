import { throwIfAborted } from '../../domain/errors.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { mapInSlices, type Slices, startLongSlices } from '../../domain/slices.ts';
import type { Embedder } from '../../providers/embedder.ts';
import type { IndexedText } from '../../store/store.ts';
import { type Analyzer, termCounts } from '../../text/analyze.ts';
import type { Dependencies } from '../dependencies.ts';
import { searchableText } from './record.ts';

/** Texts in one call of the embedder. */
const BATCH = 256;

/** What is indexed of a stub: its text is not searched. */
export const NOTHING_INDEXED: IndexedText = { terms: new Map(), vector: undefined };

/** Derives term counts and vectors from the texts of memories, in order. Throws what the embedder throws. */
export async function deriveTexts(
  memories: readonly MemoryRecord[],
  tools: { readonly analyzer: Analyzer; readonly embedder: Pick<Embedder, 'embed'> | undefined },
  options: {
    readonly signal?: AbortSignal | undefined;
    readonly progress?: ((done: number, total: number) => void) | undefined;
    readonly slices?: Slices | undefined;
  } = {},
): Promise<readonly IndexedText[]> {
  const { analyzer, embedder } = tools;
  const { slices = startLongSlices() } = options;
  const derived: IndexedText[] = [];
  for (let start = 0; start < memories.length; start += BATCH) {
    throwIfAborted(options.signal);
    const batch = memories.slice(start, start + BATCH);
    const searched = batch.filter(({ tier }) => tier !== 'stub');
    const vectors =
      embedder && searched.length > 0
        ? await embedder.embed(searched.map(embeddedText), { signal: options.signal })
        : [];
    let at = 0;
    const deriveNext = (memory: MemoryRecord): IndexedText =>
      memory.tier === 'stub'
        ? NOTHING_INDEXED
        : { terms: termCounts(analyzer.analyze(searchableText(memory))), vector: vectors[at++] };
    derived.push(...(await mapInSlices(batch, deriveNext, slices)));
    options.progress?.(derived.length, memories.length);
  }
  return derived;
}

/**
 * Returns the term counts and vectors of stored memories, in order. Stored vectors are reused; only those that are
 * missing, or come from another model, are computed.
 */
export async function knownTexts(
  {
    space,
    analyzer,
    embedder,
  }: Pick<Dependencies, 'space' | 'analyzer'> & {
    readonly embedder: Pick<Embedder, 'model' | 'embed'> | undefined;
  },
  memories: readonly MemoryRecord[],
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly IndexedText[]> {
  const { embedding } = await space.derivation();
  const same = embedder !== undefined && embedding?.model === embedder.model;
  const stored = same
    ? await space.snapshot((snapshot) => snapshot.vectors(memories.map(({ id }) => id)))
    : [];
  const missing = memories.filter((_, at) => !stored[at]);
  const derived = (await deriveTexts(missing, { analyzer, embedder }, options)).values();
  const textOf = (memory: MemoryRecord, at: number): IndexedText => {
    const vector = stored[at];
    if (!vector) return derived.next().value as IndexedText;
    return { terms: termCounts(analyzer.analyze(searchableText(memory))), vector };
  };
  return mapInSlices(memories, textOf, startLongSlices());
}

/** Whether two versions of a memory have the same derived data. */
export function sameText(a: MemoryRecord, b: MemoryRecord): boolean {
  const sameTier = (a.tier === 'stub') === (b.tier === 'stub');
  return sameTier && searchableText(a) === searchableText(b) && embeddedText(a) === embeddedText(b);
}

/** Returns the text that is embedded: title and content. Tags are matched by words only. */
export function embeddedText(memory: MemoryRecord): string {
  return memory.title === undefined ? memory.content : `${memory.title}\n${memory.content}`;
}
