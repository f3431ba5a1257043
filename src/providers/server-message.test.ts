import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quotable, serverMessage } from './server-message.ts';

const nothing = { secrets: [], texts: [] };

describe('serverMessage', () => {
  it.each([
    ['OpenAI', '{"error":{"message":"bad input","type":"invalid_request_error"}}', 'bad input'],
    ['Ollama', '{"error":"model not found"}', 'model not found'],
    ['vLLM', '{"object":"error","message":"not supported","code":400}', 'not supported'],
    ['FastAPI', '{"detail":[{"msg":"one","input":"text"},{"msg":"two"}]}', 'one; two'],
    ['plain text', ' upstream is\n\tdown ', 'upstream is down'],
    ['a terminal escape', '{"error":"\\u001b[2Jgone"}', '[2Jgone'],
    ['a web page', '<html>nginx</html>', ''],
    ['cut JSON', '{"input":["a text', ''],
    ['JSON without a message', '{"input":["a text"]}', ''],
    ['a prototype', '{"__proto__":{"message":"no"}}', ''],
    ['nothing', '', ''],
  ])('finds what %s says', (_name, body, message) => {
    expect(serverMessage(body, nothing)).toBe(message);
  });
});

describe('quotable', () => {
  it('is short and contains no secret, whatever surrounds it', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9_-]{12,60}$/);
    fc.assert(
      fc.property(secret, fc.array(fc.string(), { maxLength: 5 }), (key, parts) => {
        const message = quotable(parts.join(key), { secrets: [key], texts: [] });
        expect(message).not.toContain(key);
        expect(message.length).toBeLessThanOrEqual(300);
      }),
    );
  });

  it('contains no 16 characters of a text that was sent', () => {
    const text = fc.stringMatching(/^[a-z ]{20,200}$/);
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), fc.string(), (sent, from, length, around) => {
        const start = from % (sent.length - 16);
        const echo = sent.slice(start, start + 16 + (length % 100));
        const message = quotable(`${around}${echo}!`, { secrets: [], texts: [sent] });
        expect(message).toContain('[text removed]');
        for (let at = 0; at + 16 <= sent.length; at++) expect(message).not.toContain(sent.slice(at, at + 16));
      }),
    );
  });
});
