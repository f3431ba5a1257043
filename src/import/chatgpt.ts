import { conversationsOf, timeReached } from './conversations.ts';
import { type DocumentFormat, partsOfList } from './document-format.ts';
import { type Fields, fieldsOf, idOf, isFields, listOf, textOf, timeOf } from './fields.ts';
import { foreignStatements, type ImportItem, type SourceOptions, unusable } from './item.ts';

/** What is no text of the conversation: code run, thoughts, pages read, instructions. */
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
 * The `conversations.json` of ChatGPT's data export: each conversation a tree of messages in `mapping`, of which the
 * branch that ends at `current_node` is the one last seen. It is not documented by OpenAI; this follows
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
    }
  }
}

/** The node that ends the branch; without a `current_node` the only node without children, if there is only one. */
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
  // Pictures are attachments too.
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

/** One mark in an answer: its kind, then what it holds, between characters for private use. */
const MARK = / ?\uE200([^\uE200-\uE202]*)\uE202?([^\uE200\uE201]*)\uE201/g;

/**
 * An answer as a reader saw it: names and links as words, without the references to pages and pictures that only ChatGPT can
 * resolve. Which marks there are is in github.com/pionxzh/chatgpt-exporter, issue 259.
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

/** Whose words they are; `undefined` for what no person wrote, or read as an answer. */
function roleOf(message: Fields): 'user' | 'assistant' | undefined {
  const { is_visually_hidden_from_conversation: hidden, is_user_system_message: instructions } = fieldsOf(
    message['metadata'],
  );
  if (hidden === true || instructions === true || (message['recipient'] ?? 'all') !== 'all') return undefined;
  const role = fieldsOf(message['author'])['role'];
  return role === 'user' || role === 'assistant' ? role : undefined;
}

/** Conversations begin with messages in which there is nothing. */
function isBlank(message: Fields): boolean {
  const { parts, content_type: _, ...others } = fieldsOf(message['content']);
  return listOf(parts).every((part) => part === '') && Object.keys(others).length === 0;
}

/** A part is a text, words that were spoken, or a picture or sound, which is left out. */
function textOfPart(part: unknown): readonly string[] {
  const { content_type: kind, text } = fieldsOf(part);
  const words = textOf(typeof part === 'string' ? part : kind === 'audio_transcription' ? text : undefined);
  return words === undefined ? [] : [words];
}
