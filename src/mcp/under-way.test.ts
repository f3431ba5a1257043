import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createUnderWay } from './under-way.ts';

const never = new Promise(() => {});
const ask = (id: unknown, method = 'tools/call') => ({ jsonrpc: '2.0', id, method });

test('waits for every answer, but not for requests that get none', async () => {
  const { heard, said, allAnswered } = createUnderWay();
  await allAnswered(never);
  heard(ask(1));
  heard(ask('b'));
  heard(ask(3));
  heard(ask(4, 'subscriptions/listen'));
  heard({ jsonrpc: '2.0', method: 'notifications/initialized' });
  let isOver = false;
  const waiting = allAnswered(never).then(() => {
    isOver = true;
  });
  said({ jsonrpc: '2.0', id: 1, result: {} });
  heard({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } });
  // A request from the server is not an answer.
  said(ask('b', 'ping'));
  await setImmediate();
  expect(isOver).toBe(false);
  said({ jsonrpc: '2.0', id: 'b', error: { code: 1, message: 'no' } });
  await waiting;
});

test('waits no longer than the limit', async () => {
  const { heard, allAnswered } = createUnderWay();
  heard(ask(1));
  await allAnswered(Promise.resolve());
});
