import { conversationsOf, timeReached } from './conversations.ts';
import { type DocumentFormat, partsOfList } from './document-format.ts';
import { type Fields, fieldsOf, idOf, isFields, isThere, listOf, textOf, timeOf } from './fields.ts';
import { foreignStatements, type ImportItem, type SourceOptions, unusable } from './item.ts';

/**
 * Content types that are not part of the conversation's text: code that was run, thoughts, pages read, instructions.
 */
const leftOut: ReadonlySet<unknown> = new Set([
  'code',
  'execution_output',
  'thoughts',
  'reasoning_recap',
  'tether_quote',
  'tether_browsing_display',
  'sonic_webpage',
  'system_error',
  'user_editable_context',
  'model_editable_context',
]);

/**
 * The `conversations.json` of ChatGPT's data export. Each conversation is a tree of messages in `mapping`; the branch
 * that ends at `current_node` is the one last shown. OpenAI does not document the format; this follows
 * github.com/mohamed-chs/convoviz, docs/dev/chatgpt-spec.md, and github.com/mitkury/chatgpt-export-parser,
 * docs/chatgpt-data-export-format.md.
 */
export const chatgpt: DocumentFormat = {
  holds: 'the conversations.json of ChatGPT: a list of conversations with a "mapping"',
  recognises: (document) =>
    (conversationsOf(document, 'mapping')?.list ?? []).some((each) => isFields(fieldsOf(each)['mapping'])),
  partsOf(document) {
    const conversations = conversationsOf(document, 'mapping');
    return conversations && partsOfList(conversations.list, conversations.at, readConversation);
  },
};

function* readConversation(value: unknown, where: string, options: SourceOptions): Iterable<ImportItem> {
  const conversation = fieldsOf(value);
  const { mapping } = conversation;
  if (!isFields(mapping)) {
    yield unusable(where, 'is not a conversation with a mapping');
    return;
  }
  const leaf = leafOf(conversation, mapping);
  if (leaf === undefined) {
    if (Object.keys(mapping).length > 0) {
      yield unusable(
        where,
        'has no current_node in its mapping, so which of its branches counts is not known',
      );
    }
    return;
  }
  const { branch, problem } = branchTo(leaf, mapping);
  if (problem !== undefined) yield unusable(where, problem);
  const read = new Set(branch.map(([id]) => id));
  for (const [id, node] of Object.entries(mapping)) {
    const message = fieldsOf(fieldsOf(node)['message']);
    if (!read.has(id) && !isBlank(message)) {
      yield { kind: 'left-out', what: 'messages of other branches' };
    }
  }
  let reached = timeOf(conversation['create_time']);
  for (const [id, node] of branch) {
    const { message } = node;
    if (isFields(message)) {
      const createdAt = timeOf(message['create_time']) ?? reached;
      yield* readMessage(message, id, createdAt, conversation, `${where}.mapping.${id}`, options);
      reached = timeReached(createdAt, reached);
    } else if (isThere(message))
      yield unusable(`${where}.mapping.${id}`, 'has a message that is not an object');
  }
}

/**
 * Returns the last node of the current branch. Without `current_node` it is the only node without children, if there is
 * one.
 */
function leafOf({ current_node: current }: Fields, mapping: Fields): string | undefined {
  if (typeof current === 'string') return Object.hasOwn(mapping, current) ? current : undefined;
  const leaves = Object.keys(mapping).filter((id) => listOf(fieldsOf(mapping[id])['children']).length === 0);
  return leaves.length === 1 ? leaves[0] : undefined;
}

function branchTo(
  leaf: string,
  mapping: Fields,
): { readonly branch: readonly (readonly [string, Fields])[]; readonly problem?: string } {
  const branch = new Map<string, Fields>();
  for (let id: unknown = leaf; id !== null && id !== undefined; ) {
    if (typeof id !== 'string' || !Object.hasOwn(mapping, id) || branch.has(id)) {
      return {
        branch: [...branch].reverse(),
        problem: 'has a branch whose beginning is missing; only its end was read',
      };
    }
    const node = fieldsOf(mapping[id]);
    branch.set(id, node);
    id = node['parent'];
  }
  return { branch: [...branch].reverse() };
}

function readMessage(
  message: Fields,
  id: string,
  createdAt: string | undefined,
  conversation: Fields,
  where: string,
  options: SourceOptions,
): readonly ImportItem[] {
  const role = roleOf(message);
  const { content_type: kind, parts } = fieldsOf(message['content']);
  if (role === undefined || leftOut.has(kind)) {
    return isBlank(message)
      ? []
      : [{ kind: 'left-out', what: 'messages of tools, instructions and thoughts' }];
  }
  if ((kind !== 'text' && kind !== 'multimodal_text') || !Array.isArray(parts)) {
    return [unusable(where, 'has a content of a kind that is not known')];
  }
  const shown = parts.filter(
    (part) => part !== null && typeof part !== 'string' && textOfPart(part).length === 0,
  );
  // Pictures are listed as attachments as well.
  const files = listOf(fieldsOf(message['metadata'])['attachments']).slice(shown.length);
  const lost = [
    ...shown.map((): ImportItem => ({ kind: 'left-out', what: 'pictures and sounds' })),
    ...files.map((): ImportItem => ({ kind: 'left-out', what: 'attachments' })),
  ];
  const text = parts.flatMap(textOfPart).join('\n\n');
  const content = (role === 'assistant' ? withoutMarks(text) : text).trim();
  if (content === '') return lost;
  const session = idOf(conversation['conversation_id']) ?? idOf(conversation['id']);
  const statements = foreignStatements(
    {
      system: 'chatgpt',
      where,
      key: [session, id],
      reference: session === undefined ? id : `${session}/${id}`,
      type: 'event',
      title: textOf(conversation['title']),
      content,
      tags: [role],
      role,
      author: textOf(fieldsOf(message['author'])['name']),
      sessionId: session,
      createdAt,
      updatedAt: timeOf(message['update_time']),
    },
    options,
  );
  return [...statements, ...lost];
}

/** A mark in an answer: its kind and its payload, delimited by private use characters. */
const MARK = / ?\uE200([^\uE200-\uE202]*)\uE202?([^\uE200\uE201]*)\uE201/g;

/**
 * Returns an answer as a reader saw it: names and links as words, without references to pages and pictures that only
 * ChatGPT can resolve. The marks are described in github.com/pionxzh/chatgpt-exporter, issue 259.
 */
function withoutMarks(text: string): string {
  return text.replace(MARK, (mark: string, kind: string, held: string) => {
    const words = wordsOfMark(kind, held);
    return words !== '' && mark.startsWith(' ') ? ` ${words}` : words;
  });
}

function wordsOfMark(kind: string, held: string): string {
  if (kind === 'url') {
    const [label = '', address = ''] = held.split('\uE202');
    return /^https?:/.test(address) ? `${label} (${address})` : label;
  }
  if (kind !== 'entity') return '';
  try {
    const [, name] = listOf(JSON.parse(held));
    return textOf(name) ?? '';
  } catch {
    return held;
  }
}

/**
 * Returns the role of the author; `undefined` for messages that no person wrote and that were not shown as an answer.
 */
function roleOf(message: Fields): 'user' | 'assistant' | undefined {
  const { is_visually_hidden_from_conversation: hidden, is_user_system_message: instructions } = fieldsOf(
    message['metadata'],
  );
  if (hidden === true || instructions === true || (message['recipient'] ?? 'all') !== 'all') return undefined;
  const role = fieldsOf(message['author'])['role'];
  return role === 'user' || role === 'assistant' ? role : undefined;
}

/** Whether a message is empty, as the first ones of a conversation are. */
function isBlank(message: Fields): boolean {
  const { parts, content_type: _, ...others } = fieldsOf(message['content']);
  return listOf(parts).every((part) => part === '') && Object.keys(others).length === 0;
}

/** Returns the text of a part: a string or a transcription. Pictures and sounds have none. */
function textOfPart(part: unknown): readonly string[] {
  const { content_type: kind, text } = fieldsOf(part);
  const words = textOf(typeof part === 'string' ? part : kind === 'audio_transcription' ? text : undefined);
  return words === undefined ? [] : [words];
}
