import { invalidArgument, oneOf } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { throwIfAborted, thrownBy } from '../domain/errors.ts';
import { pauseIfDue } from '../domain/slices.ts';
import { type ContextBudget, contextTokens } from './budget.ts';
import { type ContextCandidate, compareCandidates, type PackCandidate } from './candidate.ts';
import type { Omission } from './omission.ts';
import { type Packed, type PackOptions, pack } from './pack.ts';
import {
  CONTEXT_FORMATS,
  type ContextFormat,
  type ContextMessage,
  makeNonce,
  type RandomBytes,
  type Rendered,
  renderMemories,
  renderMemory,
} from './render.ts';
import { chooseSections, type Section, type SectionName, sectionOf } from './sections.ts';
import type { TokenCounter } from './tokens.ts';

const SHARE_CHOICES = ['guaranteed', 'none'] as const;

export interface ContextOptions extends Omit<PackOptions, 'maxTokens' | 'shares'> {
  /** Default is `text`, which takes the fewest tokens. */
  readonly format?: ContextFormat | undefined;
  /** Which sections to use, in which order. A memory without a section is left out. Default is all. */
  readonly sections?: readonly (SectionName | Section)[] | undefined;
  /** `'none'`: sections only order the memories, and the whole budget is shared. Default is `guaranteed`. */
  readonly shares?: 'guaranteed' | 'none' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Dependencies on the outside world. */
export interface ContextTools {
  readonly countTokens: TokenCounter;
  readonly randomBytes: RandomBytes;
}

export interface ContextItem {
  readonly id: string;
  /** Its number in the text, from 1. */
  readonly number: number;
  readonly section: string;
  readonly score: number;
  readonly tokens: number;
}

export interface BuiltContext {
  /** The text for the model; empty if no memory is included. */
  readonly text: string;
  /** The same as chat messages, if the format is `messages`; an empty list if no memory is included. */
  readonly messages: readonly ContextMessage[] | undefined;
  /** In the order of the text: by section, then best first. */
  readonly items: readonly ContextItem[];
  readonly omitted: readonly Omission[];
  /** The tokens of the whole text, or of all messages: counted, not summed from parts. At most `maxTokens`. */
  readonly tokens: number;
  readonly maxTokens: number;
  readonly totalScore: number;
  /** See {@link Packed.totalValue}. */
  readonly totalValue: number;
  /** See {@link Packed.lossBound}. */
  readonly lossBound: number | undefined;
}

type Placed = PackCandidate & { readonly section: string };

/** The overhead of each message in a chat format (OpenAI: three tokens and the role). */
const TOKENS_PER_MESSAGE = 4;

/**
 * Builds a context from scored memories: assigns sections, packs, renders, and counts the result.
 *
 * The finished text is counted as a whole. If it has more tokens than its parts, the budget of the parts is lowered by
 * the difference, and they are packed again.
 *
 * Throws `aborted`, and `invalid_argument`, also if the counter fails.
 */
export async function buildContext(
  candidates: readonly ContextCandidate[],
  options: ContextOptions & ContextBudget,
  { countTokens: counter, randomBytes }: ContextTools,
): Promise<BuiltContext> {
  const countTokens = checkedCounter(counter);
  const maxTokens = contextTokens(options);
  const format = oneOf(options.format ?? 'text', 'format', CONTEXT_FORMATS);
  const sections = chooseSections(options.sections);
  const nonce = makeNonce(randomBytes);
  const places = candidates.map((candidate) => ({ candidate, section: sectionOf(candidate, sections) }));
  const placeless = places.filter(({ section }) => section === undefined).map(({ candidate }) => candidate);
  const placed = places.flatMap(({ candidate, section }) => (section ? [{ candidate, section }] : []));
  const frame = renderMemories([], format, nonce);
  // The work before this may already have blocked others for too long, and so may the work after it.
  await pauseIfDue();
  const [frameTokens, ...tokens] = await countTokens([
    frame.preface + frame.data,
    ...placed.map(({ candidate }) => renderMemory(candidate, 1, format, nonce)),
  ]);
  const ready = placed.map(
    ({ candidate, section }, at): Placed => ({ section: section.name, tokens: tokens[at]!, ...candidate }),
  );
  if (options.shares !== undefined) oneOf(options.shares, 'shares', SHARE_CHOICES);
  const shares =
    options.shares === 'none'
      ? undefined
      : Object.fromEntries(sections.map(({ name, share }) => [name, share]));
  const order = sections.map(({ name }) => name);
  const messageTokens = format === 'messages' ? 2 * TOKENS_PER_MESSAGE : 0;

  let room = maxTokens - messageTokens - (frameTokens ?? 0);
  for (;;) {
    await pauseIfDue();
    throwIfAborted(options.signal);
    const packed = pack(ready, { ...options, maxTokens: Math.max(0, room), shares });
    const included = [...packed.included].sort(
      (a, b) => order.indexOf(a.section) - order.indexOf(b.section) || compareCandidates(a, b),
    );
    if (included.length === 0 || room < 0) return built([], emptied(packed), undefined, 0);
    const rendered = renderMemories(included, format, nonce);
    const counted = await countTokens(
      format === 'messages' ? [rendered.preface, rendered.data] : [rendered.preface + rendered.data],
    );
    const total = counted.reduce((sum, each) => sum + each, messageTokens);
    if (total <= maxTokens) return built(included, packed, rendered, total);
    room = packed.tokens - (total - maxTokens);
  }

  /** Removes even memories of zero tokens, because not even the frame fits. */
  function emptied(packed: Packed<Placed>): Packed<Placed> {
    const lost = packed.included.map(
      ({ id, tokens }): Omission => ({ id, reason: 'does-not-fit', tokens, tokensLeft: 0 }),
    );
    return { ...packed, included: [], omitted: [...lost, ...packed.omitted], totalScore: 0, totalValue: 0 };
  }

  function built(
    included: readonly Placed[],
    packed: Packed<Placed>,
    rendered: Rendered | undefined,
    tokens: number,
  ): BuiltContext {
    const { preface, data } = rendered ?? { preface: '', data: '' };
    const messages: readonly ContextMessage[] =
      rendered === undefined
        ? []
        : [
            { role: 'system', content: preface },
            { role: 'user', content: data },
          ];
    return {
      text: preface + data,
      messages: format === 'messages' ? messages : undefined,
      items: included.map(({ id, section, score, tokens }, at) => ({
        id,
        number: at + 1,
        section,
        score,
        tokens,
      })),
      omitted: [
        ...packed.omitted,
        ...placeless.map(({ id, type }): Omission => ({ id, reason: 'no-section', type })),
      ],
      tokens,
      maxTokens,
      totalScore: packed.totalScore,
      totalValue: packed.totalValue,
      lossBound: packed.lossBound,
    };
  }
}

/**
 * Wraps a counter to check that it returns one count for each text. Throws `invalid_argument` that names it, also if it
 * throws.
 */
function checkedCounter(counter: TokenCounter): TokenCounter {
  return async (texts) => {
    let counts: unknown;
    try {
      counts = await counter(texts);
    } catch (cause) {
      throw thrownBy('tokenCounter', cause);
    }
    const fail = (found: string) =>
      invalidArgument(
        'tokenCounter',
        `it returned ${found}; return a list with a whole number of at least 0 for each text`,
      );
    if (!Array.isArray(counts)) throw fail(describe(counts));
    if (counts.length !== texts.length) throw fail(`${counts.length} counts for ${texts.length} texts`);
    const wrong = counts.findIndex((count) => !Number.isSafeInteger(count) || count < 0);
    if (wrong >= 0) throw fail(`the count ${describe(counts[wrong])}`);
    return counts;
  };
}
