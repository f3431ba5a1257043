import { readWholeText } from '../import/json-file.ts';
import { type ConversationMessage, SalienceError } from '../index.ts';
import { readStdin } from './stdin.ts';

const MOST_STDIN_BYTES = 64 * 2 ** 20;

/**
 * Reads the messages of a file, or of stdin for `-`: a JSON list, or JSON Lines. The engine checks the messages. Throws
 * `unreadable_file`, and what reading stdin throws.
 */
export async function readConversation(
  file: string,
  signal: AbortSignal,
): Promise<readonly ConversationMessage[]> {
  const whole =
    file === '-'
      ? await readStdin(signal, MOST_STDIN_BYTES, 'too much for one conversation: send it in parts')
      : await readWholeText(file, { signal });
  if (/^\s*\[/.test(whole)) return parse(whole, file) as readonly ConversationMessage[];
  return whole
    .split('\n')
    .flatMap((line, at) => (line.trim() === '' ? [] : [parse(line, `${file}, line ${at + 1},`)]))
    .map((message) => message as ConversationMessage);
}

function parse(json: string, where: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    // The parser's own message would repeat text of the conversation.
    throw new SalienceError(
      'unreadable_file',
      `${where} is not valid JSON: write a list of messages, or one message a line, such as {"role":"user","content":"I like tea"}`,
      { details: { where }, cause },
    );
  }
}
