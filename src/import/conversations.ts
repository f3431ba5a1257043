import { fieldsOf } from './fields.ts';

/** The conversations of an export: a list, an object that holds one, or one conversation with this field. */
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
 * When a message without a time was said: as late as the one before it. At the beginning of the conversation it would
 * stand before what it answers. A time that is none is not handed on: it is reported where it stands.
 */
export function timeReached(said: string | undefined, before: string | undefined): string | undefined {
  return said === undefined || Number.isNaN(Date.parse(said)) ? before : said;
}
