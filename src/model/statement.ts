/** A content as it is compared with others, so that the same words are the same statement: NFC, trimmed, inner white space as one space. */
export function normalisedContent(content: string): string {
  return content.normalize('NFC').replace(/\s+/gu, ' ').trim();
}

/** Whether there is nothing to see in a text: white space, and marks and joiners without width. */
export function isInvisible(text: string): boolean {
  return /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u.test(text);
}
