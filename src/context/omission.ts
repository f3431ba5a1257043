/** Why a memory is not in a context. */
export type OmissionReason =
  | { readonly reason: 'below-minimum-score'; readonly score: number; readonly minScore: number }
  /** `of`: the id of a memory in the context that contains all of its text, word for word. */
  | { readonly reason: 'duplicate'; readonly of: string }
  /** `tokensLeft`: the most tokens that were available to it. */
  | { readonly reason: 'does-not-fit'; readonly tokens: number; readonly tokensLeft: number }
  /** It would only fit in place of others with a higher total score. */
  | { readonly reason: 'worse-value'; readonly score: number; readonly tokens: number }
  /** Not tried, because this many better ones in a row did not fit. */
  | { readonly reason: 'stopped'; readonly misses: number }
  | { readonly reason: 'too-many'; readonly maxItems: number }
  | { readonly reason: 'no-section'; readonly type: string };

/** A memory that is not in a context, and why. */
export type Omission = { readonly id: string } & OmissionReason;

/** Returns the reason as a sentence. Ids and types are quoted as they are stored. */
export function explainOmission(omission: Omission): string {
  switch (omission.reason) {
    case 'below-minimum-score':
      return omission.score === 0
        ? 'Its score is 0: it is not a hit.'
        : `Its score ${show(omission.score)} is below the minimum of ${show(omission.minScore)}.`;
    case 'duplicate':
      return `All that it says is in ${omission.of}, word for word.`;
    case 'does-not-fit':
      return `It takes ${omission.tokens} tokens; at most ${omission.tokensLeft} were left for it.`;
    case 'worse-value':
      return `Its score ${show(omission.score)} for ${omission.tokens} tokens is worth less than what took its place.`;
    case 'stopped':
      return `It was not looked at: ${omission.misses} better ones in a row did not fit.`;
    case 'too-many':
      return `The most memories allowed, ${omission.maxItems}, are there already.`;
    case 'no-section':
      return `No section of this context takes the type ${JSON.stringify(omission.type)}.`;
  }
}

function show(value: number): string {
  return String(Number(value.toPrecision(3)));
}
