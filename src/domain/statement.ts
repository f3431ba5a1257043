/** A content as it is compared with others, so that the same words are the same statement: NFC, trimmed, inner white space as one space. */
export function normalisedContent(content: string): string {
  // Most contents are so already: this is told in a fraction of the time.
  if (/^[!-~]+(?: [!-~]+)*$/.test(content)) return content;
  return content.normalize('NFC').replace(/\s+/gu, ' ').trim();
}

/** Whether there is nothing to see in a text: white space, and marks and joiners without width. */
export function isInvisible(text: string): boolean {
  return /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u.test(text);
}

/**
 * How alike two different statements are in their wording, for people: never "100 %", which sounds as if they said the
 * same. Of "lives in Oslo" and "lives in Bergen" the cosine is next to 1.
 */
export function alike(similarity: number, model?: string): string {
  const percent = Math.min(99, Math.round(similarity * 100));
  return `wording ${percent} % alike (cosine${model === undefined ? '' : ` of the embedder ${model}`})`;
}
