import type { ZodType } from 'zod';
import { wholeNumber } from '../domain/check.ts';
import { clip } from '../domain/clip.ts';
import { isInvisible } from '../domain/statement.ts';
import { type Instant, parseInstant } from '../domain/time.ts';
import type { LanguageModel, ModelUsage } from '../providers/language-model.ts';
import { askModel, cleanText, listOutput, readListAnswer } from './answer.ts';
import {
  askBatches,
  type Batch,
  type BatchFailure,
  type BatchOptions,
  checkBatchOptions,
  cutBatches,
} from './batches.ts';
import { type GraphItem, graphFields, type KnownName, readGraph } from './extracted-graph.ts';
import { type ExtractedMemory, provenance } from './extracted-memory.ts';
import { type EXTRACTED_TYPES, extractedTypes, extractionPrompt } from './extraction-prompt.ts';
import type { NewNonce } from './fence.ts';
import { judgeImportance } from './importance.ts';
import type { Turn } from './messages.ts';

/** How many messages before a batch are shown by default. */
const CONTEXT = 4;

/** Options of {@link extractMemories}. The default `batchSize` is 20 messages. */
export interface ExtractionOptions extends BatchOptions {
  readonly newNonce: NewNonce;
  /** Messages before a batch that are shown with it, 0–50. Default is 4. */
  readonly contextMessages?: number | undefined;
  /** Most tokens of one answer. Default is what the model allows. */
  readonly maxOutputTokens?: number | undefined;
  /**
   * If set, the same request also asks for the entities and relations of each fact. Returns known entities that a batch
   * may mean.
   */
  readonly graph?: ((batch: readonly Turn[]) => Promise<readonly KnownName[]>) | undefined;
}

/** Checks the options of a model request, even if there is no model. Throws `invalid_argument`. */
export function checkExtraction(options: Omit<ExtractionOptions, 'newNonce' | 'graph'>): void {
  checkBatchOptions(options);
  wholeNumber(options.contextMessages ?? CONTEXT, 'contextMessages', 0, 50);
  wholeNumber(options.maxOutputTokens ?? 1, 'maxOutputTokens', 1, 2 ** 31 - 1);
}

export interface Extraction {
  /** In the order of the batches that they come from. */
  readonly memories: readonly ExtractedMemory[];
  /** Batches without a result. Their positions are those of the messages in the conversation. */
  readonly failures: readonly BatchFailure[];
  /** How many memories were dropped because they could not be read, or because one message had too many. */
  readonly dropped: number;
  readonly usage: ModelUsage;
}

/**
 * The most characters of messages in one request: about 3,000 tokens of English, which small models still read
 * carefully.
 */
const MOST_CHARACTERS = 12_000;
/** If one message gives more facts than this, the model copies or invents. The rest is dropped. */
export const MOST_PER_MESSAGE = 20;
/** A longer text is not a single fact: the model has copied its input. */
const LONGEST_MEMORY = 4000;
const CONFIDENCE = { stated: 1, implied: 0.7, uncertain: 0.5 } as const;

interface Item {
  readonly content: string;
  readonly title: string | null;
  readonly type: keyof typeof EXTRACTED_TYPES;
  readonly tags: readonly string[];
  readonly importance: number;
  readonly confidence: keyof typeof CONFIDENCE;
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly sources: readonly number[];
  readonly entities?: GraphItem['entities'];
  readonly relations?: GraphItem['relations'];
}

/**
 * Extracts what is worth remembering from a conversation with a model, in batches of messages, some concurrently.
 *
 * A message can influence what is remembered, as intended, but nothing else: the memories have the fields and types of
 * {@link ExtractedMemory}, numbers within their ranges, and sources among the messages of their batch. A field that
 * cannot be read gets the most cautious value; a memory without content is dropped.
 *
 * Throws `aborted` and `invalid_argument`. Errors of a batch are in `failures`.
 */
export async function extractMemories(
  model: LanguageModel,
  turns: readonly Turn[],
  options: ExtractionOptions,
): Promise<Extraction> {
  checkExtraction(options);
  const context = options.contextMessages ?? CONTEXT;
  const batches = cutBatches(
    turns,
    options.batchSize ?? 20,
    ({ content }) => content.length,
    MOST_CHARACTERS,
  );
  const schema = await listOutput('memories', await itemType(options.graph !== undefined));
  const { results, failures, usage } = await askBatches(batches, options, async (batch, signal) => {
    const before = context === 0 ? [] : turns.slice(Math.max(0, batch.start - context), batch.start);
    const known = await options.graph?.(batch.items);
    const request = {
      ...extractionPrompt(batch.items, before, options.newNonce(), known),
      schema,
      maxOutputTokens: options.maxOutputTokens,
      signal,
    };
    const { value, ...spent } = await askModel(model, request, readListAnswer);
    const memories = withinMessages(value.items.flatMap((item) => readMemory(item, batch)));
    return {
      result: { memories, dropped: value.dropped + value.items.length - memories.length },
      usage: spent,
    };
  });
  return {
    memories: results.flatMap(({ memories }) => memories),
    failures: failures.map(({ positions, error }) => ({
      positions: positions.map((index) => turns[index]!.position),
      error,
    })),
    dropped: results.reduce((sum, { dropped }) => sum + dropped, 0),
    usage,
  };
}

/** Keeps the first memories of each source message. Memories without a source count as one message. */
function withinMessages(memories: readonly ExtractedMemory[]): readonly ExtractedMemory[] {
  const counts = new Map<number | undefined, number>();
  return memories.filter(({ sources: [source] }) => {
    const count = (counts.get(source) ?? 0) + 1;
    counts.set(source, count);
    return count <= MOST_PER_MESSAGE;
  });
}

async function itemType(withGraph: boolean): Promise<ZodType<Item>> {
  const { z } = await import('zod');
  const types = extractedTypes(withGraph);
  const confidences = Object.keys(CONFIDENCE) as (keyof typeof CONFIDENCE)[];
  const fact = z.object({
    content: z.string(),
    title: z.string().nullable().catch(null),
    type: z.enum(types).catch('fact'),
    tags: z.array(z.string()).catch([]),
    importance: z.number().min(0).max(1).catch(Number.NaN),
    confidence: z.enum(confidences).catch('uncertain'),
    validFrom: z.string().nullable().catch(null),
    validUntil: z.string().nullable().catch(null),
    sources: z.array(z.number()).catch([]),
  });
  return withGraph ? fact.extend(await graphFields()) : fact;
}

function readMemory(item: Item, { items }: Batch<Turn>): readonly ExtractedMemory[] {
  const content = cleanText(item.content);
  if (isInvisible(content) || content.length > LONGEST_MEMORY) return [];
  const sources = [...new Set(item.sources)].sort((a, b) => a - b).flatMap((n) => items[n - 1] ?? []);
  const stated = CONFIDENCE[item.confidence];
  const judged = Number.isFinite(item.importance);
  const validFrom = readTime(item.validFrom);
  const validUntil = readTime(item.validUntil);
  return [
    {
      content,
      type: item.type,
      title: clip(cleanText(item.title ?? ''), 200) || undefined,
      tags: readTags(item.tags),
      importance: judged ? item.importance : judgeImportance(content, { type: item.type }).importance,
      importanceSource: judged ? 'model' : 'rules',
      // No message that the model was shown supports it.
      confidence: sources.length === 0 ? CONFIDENCE.uncertain : stated,
      validFrom,
      // An end before the beginning would hide the memory permanently.
      validUntil:
        validUntil !== undefined && validUntil <= (validFrom ?? validUntil - 1) ? undefined : validUntil,
      ...provenance(sources, items.at(-1)!.at),
      ...graphOf(item, (n) => sources.find((turn) => turn === items[n - 1])),
    },
  ];
}

function graphOf(
  { entities, relations }: Item,
  sourceOf: (n: number) => Turn | undefined,
): Pick<ExtractedMemory, 'graph'> {
  return entities && relations ? { graph: readGraph({ entities, relations }, sourceOf) } : {};
}

function readTags(tags: readonly string[]): readonly string[] {
  const clean = tags
    .map((tag) => cleanText(tag).toLowerCase())
    .filter((tag) => tag !== '' && tag.length <= 50);
  return [...new Set(clean)].slice(0, 8);
}

function readTime(value: string | null): Instant | undefined {
  try {
    return value === null ? undefined : parseInstant(value);
  } catch {
    return undefined;
  }
}
