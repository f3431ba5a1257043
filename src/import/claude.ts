import { memoriesOf } from './claude-memories.ts';
import { conversationsOf, timeReached } from './conversations.ts';
import { type DocumentFormat, partsOfList } from './document-format.ts';
import { type Fields, fieldsOf, idOf, isFields, listOf, textOf, timeOf } from './fields.ts';
import { foreignStatements, type ImportItem, type SourceOptions, unusable } from './item.ts';

const roles: ReadonlyMap<unknown, string> = new Map([
  ['human', 'user'],
  ['assistant', 'assistant'],
]);

/**
 * The `conversations.json` of Claude's data export: conversations with `chat_messages`, each with a `sender`. Anthropic
 * does not document the format; this follows descriptions of real exports, for example github.com/Sinity/polylogue,
 * docs/providers/claude-ai.md. The export does not say which branch of an edited conversation is the current one, so
 * all messages are read.
 */
export const claude: DocumentFormat = {
  holds:
    'the conversations.json of Claude, a list of conversations with "chat_messages", or its memories.json, with "conversations_memory"',
  recognises: (document) =>
    memoriesOf(document) !== undefined ||
    (conversationsOf(document, 'chat_messages')?.list ?? []).some(
      (each) => 'chat_messages' in fieldsOf(each),
    ),
  partsOf(document) {
    const memories = memoriesOf(document);
    if (memories) return memories;
    const conversations = conversationsOf(document, 'chat_messages');
    return conversations && partsOfList(conversations.list, conversations.at, readConversation, accountOf);
  },
};

function accountOf(conversation: unknown): string | undefined {
  return textOf(fieldsOf(fieldsOf(conversation)['account'])['uuid']);
}

function* readConversation(value: unknown, where: string, options: SourceOptions): Iterable<ImportItem> {
  const conversation = fieldsOf(value);
  const messages = conversation['chat_messages'];
  if (!Array.isArray(messages)) {
    yield unusable(where, 'is not a conversation with a list of chat_messages');
    return;
  }
  let reached = timeOf(conversation['created_at']);
  for (const [index, message] of messages.entries()) {
    const createdAt = timeOf(fieldsOf(message)['created_at']) ?? reached;
    yield* readMessage(message, createdAt, conversation, `${where}.chat_messages[${index}]`, options);
    reached = timeReached(createdAt, reached);
  }
  if (textOf(conversation['summary']) !== undefined) {
    yield { kind: 'left-out', what: 'summaries of conversations' };
  }
}

function readMessage(
  value: unknown,
  createdAt: string | undefined,
  conversation: Fields,
  where: string,
  options: SourceOptions,
): readonly ImportItem[] {
  if (!isFields(value)) return [unusable(where, 'is not an object')];
  const role = roles.get(value['sender']);
  if (role === undefined) return [unusable(where, 'has a sender that is neither human nor assistant')];
  const content = contentOf(value);
  if (content === undefined) return [unusable(where, 'has neither a text nor a list of content')];
  const lost = leftOutOf(value);
  if (content === '') return lost;
  const [session, id] = [idOf(conversation['uuid']), idOf(value['uuid'])];
  const statements = foreignStatements(
    {
      system: 'claude',
      where,
      key: id === undefined ? ['text', session, createdAt, content] : [id],
      reference: session && id && `${session}/${id}`,
      type: 'event',
      title: textOf(conversation['name']),
      content,
      tags: [role],
      role,
      sessionId: session,
      createdAt,
      updatedAt: timeOf(value['updated_at']),
    },
    options,
  );
  return [...statements, ...lost];
}

function leftOutOf({ content, attachments, files }: Fields): readonly ImportItem[] {
  const blocks = listOf(content).filter((block) => fieldsOf(block)['type'] !== 'text');
  return [
    ...blocks.map((): ImportItem => ({ kind: 'left-out', what: 'thoughts and tools' })),
    ...[...listOf(attachments), ...listOf(files)].map(
      (): ImportItem => ({ kind: 'left-out', what: 'attachments' }),
    ),
  ];
}

/**
 * Returns the words of a message. Newer exports mention tool blocks in `text`; only their `content` has the bare words.
 */
function contentOf({ content, text }: Fields): string | undefined {
  const blocks = listOf(content).map(fieldsOf);
  const words = blocks
    .flatMap((block) => (block['type'] === 'text' ? (textOf(block['text']) ?? []) : []))
    .join('\n\n')
    .trim();
  if (words !== '' || blocks.some((block) => block['type'] !== 'text')) return words;
  if (typeof text === 'string') return text.trim();
  return blocks.length > 0 ? '' : undefined;
}
