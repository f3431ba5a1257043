/** Normalises a content, so that equal words are equal statements: NFC, trimmed, inner white space as one space. */
export function normalisedContent(content: string): string {
  // Most contents are normalised already, and this check takes a fraction of the time.
  if (/^[!-~]+(?: [!-~]+)*$/.test(content)) return content;
  return content.normalize('NFC').replace(/\s+/gu, ' ').trim();
}

/** Whether a text has no visible characters: only white space and zero-width marks and joiners. */
export function isInvisible(text: string): boolean {
  return /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u.test(text);
}

/**
 * Describes how alike two different statements are worded. At most 99 %: "100 %" would suggest that they mean the same,
 * but the cosine of "lives in Oslo" and "lives in Bergen" is almost 1.
 */
export function alike(similarity: number, model?: string): string {
  const percent = Math.min(99, Math.round(similarity * 100));
  return `wording ${percent} % alike (cosine${model === undefined ? '' : ` of the embedder ${model}`})`;
}
