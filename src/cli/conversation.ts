import { readFile } from 'node:fs/promises';
import { type ConversationMessage, SalienceError } from '../index.ts';

/**
 * The messages of a file, or of stdin for `-`: a JSON list, or JSON Lines. What a message must have is for the engine to
 * check. Throws `unreadable_file`.
 */
export async function readConversation(file: string): Promise<readonly ConversationMessage[]> {
  const whole = (await readAll(file)).replace(/^\uFEFF/, '');
  if (/^\s*\[/.test(whole)) return parse(whole, file) as readonly ConversationMessage[];
  return whole
    .split('\n')
    .flatMap((line, at) => (line.trim() === '' ? [] : [parse(line, `${file}, line ${at + 1},`)]))
    .map((message) => message as ConversationMessage);
}

async function readAll(file: string): Promise<string> {
  try {
    if (file !== '-') return await readFile(file, 'utf8');
    const { text } = await import('node:stream/consumers');
    return await text(process.stdin);
  } catch (cause) {
    throw new SalienceError(
      'unreadable_file',
      `${file} cannot be read (${(cause as Error).message}); check that it exists and that you may read it`,
      { details: { file }, cause },
    );
  }
}

function parse(json: string, where: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    // The parser's own message would repeat what was said.
    throw new SalienceError(
      'unreadable_file',
      `${where} is not valid JSON: write a list of messages, or one message a line, such as {"role":"user","content":"I like tea"}`,
      { details: { where }, cause },
    );
  }
}
