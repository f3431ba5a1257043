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
