import { fieldsOf } from './fields.ts';

/** Finds the conversations of an export: a list, an object that holds one, or one conversation that has `field`. */
export function conversationsOf(
  document: unknown,
  field: string,
): { readonly list: readonly unknown[]; readonly at: string } | undefined {
  if (Array.isArray(document)) return { list: document, at: '' };
  const { conversations, ...rest } = fieldsOf(document);
  if (Array.isArray(conversations)) return { list: conversations, at: 'conversations' };
  return field in rest ? { list: [document], at: '' } : undefined;
}

/**
 * Returns the time for a following message that has none: that of this message, or else `before`. The start of the
 * conversation would put it before the message it answers. An invalid time is not passed on; its own message reports
 * it.
 */
export function timeReached(said: string | undefined, before: string | undefined): string | undefined {
  return said === undefined || Number.isNaN(Date.parse(said)) ? before : said;
}
