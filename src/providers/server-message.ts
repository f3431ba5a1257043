/** What an error must not contain: keys, and texts that were sent. */
export interface Confidential {
  readonly secrets: readonly string[];
  readonly texts: readonly string[];
}

const maxCharacters = 300;
/** Characters of a message that are searched for echoes of the texts. */
const maxSearchedCharacters = 1000;
/** Shorter matches between a message and a text are coincidence. */
const echoCharacters = 16;
/** Shorter texts are not removed as a whole: removing "is" would leave no message. */
const wholeTextCharacters = 4;

/**
 * Returns the message of a server's error from the usual places: OpenAI and vLLM `error.message`, Ollama and LM Studio
 * `error`, FastAPI `detail`, or a plain text body. Never the whole JSON, which often repeats the request. At most 300
 * characters, on one line, without anything confidential; empty if there is nothing to quote.
 */
export function serverMessage(body: string, confidential: Confidential): string {
  return quotable(findMessage(body), confidential);
}

/**
 * Like {@link serverMessage}, for a body that is parsed already. It may be nested too deeply to be serialised again.
 */
export function messageOfAnswer(answer: unknown, confidential: Confidential): string {
  return quotable(messageIn(answer), confidential);
}

/** Prepares a foreign text for an error message, with the limits of {@link serverMessage}. */
export function quotable(message: string, { secrets, texts }: Confidential): string {
  let plain = message;
  for (const secret of secrets) plain = plain.replaceAll(secret, '[removed]');
  plain = plain
    // Servers repeat keys with only a part of them hidden.
    .replace(/\bbearer\s+\S+/gi, 'Bearer [removed]')
    .replace(/\bsk-[\w*.…-]+/g, '[removed]')
    .slice(0, maxSearchedCharacters);
  plain = removeEchoes(plain, [...texts, ...secrets])
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return plain.length > maxCharacters ? `${plain.slice(0, maxCharacters - 1).trimEnd()}…` : plain;
}

function findMessage(body: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return /^\s*[<{[]/.test(body) ? '' : body;
  }
  return messageIn(value);
}

function messageIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || depth > 4) return '';
  if (Array.isArray(value)) {
    return value
      .map((each) => messageIn(each, depth + 1))
      .filter(Boolean)
      .join('; ');
  }
  for (const name of ['error', 'message', 'detail', 'msg']) {
    const found = Object.hasOwn(value, name) && messageIn(value[name as keyof typeof value], depth + 1);
    if (found) return found;
  }
  return '';
}

function removeEchoes(message: string, texts: readonly string[]): string {
  const forms = texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
  const sent = forms.join('\n');
  const echoed = new Uint8Array(message.length);
  for (let at = 0; at + echoCharacters <= message.length; at++) {
    if (sent.includes(message.slice(at, at + echoCharacters))) echoed.fill(1, at, at + echoCharacters);
  }
  for (const form of forms) {
    if (form.length < wholeTextCharacters || form.length >= echoCharacters) continue;
    for (let at = message.indexOf(form); at >= 0; at = message.indexOf(form, at + 1)) {
      echoed.fill(1, at, at + form.length);
    }
  }
  let plain = '';
  for (let at = 0; at < message.length; at++) {
    if (echoed[at] === 0) plain += message[at];
    else if (at === 0 || echoed[at - 1] === 0) plain += '[text removed]';
  }
  return plain;
}
