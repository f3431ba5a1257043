import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type BodyLine, readBody, readBodyLines } from './body.ts';

const limits = { bytes: 1000, timeout: 10_000 };

/** A body in pieces of one byte, each of which is overwritten by the next one. */
function inOneBlock(text: string) {
  const block = Buffer.alloc(1);
  const bytes = [...Buffer.from(text)];
  const body = Object.assign(new EventEmitter(), {
    headers: {},
    async *iterator() {
      for (const byte of bytes) yield block.fill(byte);
    },
    send() {
      for (const byte of bytes) body.emit('data', block.fill(byte));
      body.emit('end');
    },
  });
  return body;
}

// A piece that is kept instead of copied takes hundreds of bytes.
describe('a body in pieces of one byte', () => {
  it('is copied', async () => {
    const body = inOneBlock('{"content":"dark roast"}');
    const read = readBody(body as unknown as IncomingMessage, limits);
    body.send();
    expect(await read).toBe('{"content":"dark roast"}');
  });

  it('is copied line by line in an import', async () => {
    const body = inOneBlock('{"a":1}\n\n{"b":2}') as unknown as IncomingMessage;
    const lines: BodyLine[] = [];
    for await (const line of readBodyLines(body, limits, async () => {})) lines.push(line);
    expect(lines).toEqual([
      { number: 1, text: '{"a":1}' },
      { number: 3, text: '{"b":2}' },
    ]);
  });
});

it('keeps nothing of a line over the limit, however long it is', async () => {
  const piece = Buffer.alloc(1_000_000, 'x');
  const body = Object.assign(new EventEmitter(), {
    headers: {},
    async *iterator() {
      for (let at = 0; at < 64; at++) yield piece;
    },
  });
  const { arrayBuffers } = process.memoryUsage();
  let most = 0;
  const look = async () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - arrayBuffers);
  };
  const lines: BodyLine[] = [];
  for await (const line of readBodyLines(body as unknown as IncomingMessage, limits, look)) lines.push(line);
  expect(lines).toEqual([{ number: 1, reason: expect.stringContaining('longer than the limit of 1000') }]);
  expect(most).toBeLessThan(20_000_000);
});
