import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { MemoryEngine } from '../index.ts';
import { live } from '../testing/live-memory.ts';
import { type TraceMemoryOptions, traceMemory } from './otel.ts';

let memory: MemoryEngine;
let exporter: InMemorySpanExporter;
let stop: () => void;
beforeEach(async () => {
  ({ memory } = await live({ space: 'alice' }));
  exporter = new InMemorySpanExporter();
  stop = () => {};
});
afterEach(async () => {
  stop();
  await memory.close();
});

function start(options: TraceMemoryOptions = {}) {
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  stop = traceMemory({ tracerProvider, ...options });
  return tracerProvider;
}
const spans = () => exporter.getFinishedSpans();

test('operations become spans by the conventions', async () => {
  start();
  const { id } = await memory.remember('Keeps bees', { sessionId: 's1' });
  await memory.rememberMany([{ content: 'Has two hives' }, { content: 'Sells honey' }]);
  await memory.recall('bees and hives', { strategy: 'bm25' });
  await memory.update(id, { content: 'Keeps bumblebees' });
  await memory.get(id);
  await memory.forget(id);
  const common = { 'gen_ai.provider.name': 'salience', 'gen_ai.memory.store.id': 'alice' };
  const one = { ...common, 'gen_ai.memory.record.id': id, 'gen_ai.memory.record.count': 1 };
  expect(spans().map(({ name, attributes }) => [name, attributes])).toEqual([
    ['upsert_memory', { ...one, 'gen_ai.operation.name': 'upsert_memory', 'gen_ai.conversation.id': 's1' }],
    [
      'upsert_memory',
      { ...common, 'gen_ai.operation.name': 'upsert_memory', 'gen_ai.memory.record.count': 2 },
    ],
    [
      'search_memory',
      {
        ...common,
        'gen_ai.operation.name': 'search_memory',
        'gen_ai.memory.record.count': 2,
        'salience.strategy': 'bm25',
      },
    ],
    ['update_memory', { ...one, 'gen_ai.operation.name': 'update_memory' }],
    ['delete_memory', { ...one, 'gen_ai.operation.name': 'delete_memory' }],
  ]);
  expect(spans().every(({ kind, ended }) => kind === SpanKind.INTERNAL && ended)).toBe(true);
});

test('a forget of several memories counts what was forgotten', async () => {
  start();
  const said = await memory.rememberMany([{ content: 'Has two hives' }, { content: 'Sells honey' }]);
  await memory.forget(said.map(({ id }) => id));
  expect(spans().at(-1)).toMatchObject({
    name: 'delete_memory',
    attributes: { 'gen_ai.memory.record.count': 2 },
  });
});

test('a failure is an error with its code, without its message', async () => {
  start();
  await expect(memory.forget('nobody')).rejects.toThrow();
  expect(spans()).toMatchObject([
    {
      name: 'delete_memory',
      attributes: {
        'error.type': 'not_found',
        'gen_ai.memory.record.id': 'nobody',
        'gen_ai.memory.record.count': 1,
      },
      status: { code: SpanStatusCode.ERROR },
    },
  ]);
  expect(spans()[0]?.status.message).toBeUndefined();
});

test('texts become attributes only when asked for', async () => {
  start();
  await memory.remember('Keeps Sekretwort');
  await memory.recall('Sekretwort');
  expect(spans()).toHaveLength(2);
  expect(
    JSON.stringify(spans().map(({ name, attributes, events }) => [name, attributes, events])),
  ).not.toContain('Sekretwort');
  stop();
  exporter.reset();
  start({ content: true });
  const { hits } = await memory.recall('Sekretwort');
  const attributes = spans()[0]?.attributes ?? {};
  expect(attributes['gen_ai.memory.query.text']).toBe('Sekretwort');
  expect(JSON.parse(String(attributes['gen_ai.memory.records']))).toEqual([
    { id: hits[0]?.memory.id, content: 'Keeps Sekretwort', score: hits[0]?.score.value },
  ]);
});

test('the active span of the call is the parent', async () => {
  const parent = start().getTracer('test').startSpan('parent');
  // As a context manager would say; none is registered here.
  const active = context.active;
  context.active = () => trace.setSpan(ROOT_CONTEXT, parent);
  try {
    await memory.recall('bees');
  } finally {
    context.active = active;
  }
  expect(spans()[0]?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
});

test('there are no spans after the stop', async () => {
  start();
  stop();
  await memory.recall('bees');
  expect(spans()).toEqual([]);
});

test('a tracer that throws causes a warning and harms no memory', async () => {
  const boom = () => {
    throw new Error('boom');
  };
  const shutdown = async () => {};
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const { id } = await memory.remember('Keeps bees');
  for (const spanProcessor of [
    { onStart: boom, onEnd() {}, forceFlush: shutdown, shutdown },
    { onStart() {}, onEnd: boom, forceFlush: shutdown, shutdown },
  ]) {
    start({ tracerProvider: new BasicTracerProvider({ spanProcessors: [spanProcessor] }) });
    expect((await memory.recall('bees')).hits.map(({ memory: found }) => found.id)).toEqual([id]);
    stop();
  }
  expect(warn.mock.calls.map(([warning]) => String(warning))).toEqual(['Error: boom', 'Error: boom']);
  warn.mockRestore();
});

test('a span that refuses texts causes a warning and harms no memory', async () => {
  const tracer = start().getTracer('test');
  stop();
  const noTexts = (key: string): never => {
    throw new Error(`no ${key}`);
  };
  const startSpan = (name: string) => Object.assign(tracer.startSpan(name), { setAttribute: noTexts });
  const tracerProvider = { getTracer: () => ({ startSpan }) as unknown as Tracer };
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const { id } = await memory.remember('Keeps bees');
  start({ tracerProvider, content: true });
  expect((await memory.recall('bees')).hits.map(({ memory: found }) => found.id)).toEqual([id]);
  expect(String(warn.mock.calls[0]?.[0])).toBe('Error: no gen_ai.memory.query.text');
  warn.mockRestore();
});

test('observing a conversation is a span with what was remembered', async () => {
  start();
  const { created } = await memory.observe([{ role: 'user', content: 'My favourite tea is oolong' }]);
  expect(spans()).toMatchObject([
    {
      name: 'upsert_memory',
      attributes: { 'gen_ai.memory.record.count': 1, 'gen_ai.memory.record.id': created[0] },
    },
  ]);
  expect(JSON.stringify(spans()[0]?.attributes)).not.toContain('oolong');
});
