import { invalidArgument, text } from '../domain/check.ts';
import { onlyKeys } from '../domain/options.ts';
import { formatInstant, type Instant, parseInstant } from '../domain/time.ts';

/** One turn of a conversation. */
export interface ConversationMessage {
  /** The caller's id of the message, to find it again as the source of memories. */
  readonly id?: string | undefined;
  /** Who spoke: `user`, `assistant`, or any other role. */
  readonly role: string;
  readonly content: string;
  /** When it was said, ISO 8601 or a `Date`. Default is now. */
  readonly at?: string | Date | undefined;
  /** The speaker's name. */
  readonly name?: string | undefined;
}

/** A message that was checked. */
export interface Turn {
  /** Its place among the messages, from 0. */
  readonly position: number;
  readonly id: string | undefined;
  readonly role: string;
  readonly name: string | undefined;
  readonly at: Instant;
  readonly content: string;
}

/** Returns the messages that are not empty. Throws an error that names the message and its field. */
export function readMessages(messages: readonly ConversationMessage[], now: Instant): readonly Turn[] {
  if (!Array.isArray(messages)) throw invalidArgument('messages', 'expected a list');
  return messages.flatMap((message: ConversationMessage, position) => {
    const field = `messages[${position}]`;
    onlyKeys(message, ['id', 'role', 'content', 'at', 'name'], field);
    const { id, name, at, content } = message;
    if (typeof content !== 'string') throw invalidArgument(`${field}.content`, 'expected a string');
    const turn = {
      position,
      id: id === undefined ? undefined : text(id, `${field}.id`, { maxCharacters: 1000 }),
      role: text(message.role, `${field}.role`, { maxCharacters: 100 }),
      name: name === undefined ? undefined : text(name, `${field}.name`, { maxCharacters: 200 }),
      at: at === undefined ? now : parseInstant(at, `${field}.at`),
      content,
    };
    return content.trim() === '' ? [] : [turn];
  });
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Formats a time for prompts, with the weekday, which models often compute wrongly. */
export function spokenTime(at: Instant): string {
  return `${weekdays[new Date(at).getUTCDay()]}, ${formatInstant(at).slice(0, 16)}Z`;
}
