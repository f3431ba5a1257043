import { expect, test } from 'vitest';
import { openTokenStore, startServer } from '../http/index.ts';
import { openMemory, openSpaces } from '../index.ts';
import { createSqliteStore } from '../stores/sqlite/index.ts';
import { memoryMiddleware, memoryTools } from './ai-sdk.ts';
import { MemoryRetriever, MemoryStore } from './langchain.ts';
import { memoryTools as mastraTools } from './mastra.ts';
import { memorySession } from './openai-agents.ts';
import { traceMemory } from './otel.ts';

test('every function with options refuses unknown ones', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const calls: readonly [string, () => unknown][] = [
    ['memoryTools: unknown option "read_only"', () => memoryTools(memory, { read_only: true } as never)],
    ['memoryTools: unknown option "tools"', () => mastraTools(memory, { tools: ['recall'] } as never)],
    ['memoryMiddleware: unknown option "user"', () => memoryMiddleware(memory, { user: 'bob' } as never)],
    [
      'observe: "wurth" is not one of worth, remember, none',
      () => memoryMiddleware(memory, { observe: 'wurth' as never }),
    ],
    ['observe: false is not one of', () => memoryMiddleware(memory, { observe: false as never })],
    ['onError: 5 must be a function', () => memoryMiddleware(memory, { onError: 5 as never })],
    ['onError: null must be a function', () => memoryMiddleware(memory, { onError: null as never })],
    ['maxTokens: -1 must be a whole number', () => memoryMiddleware(memory, { maxTokens: -1 })],
    ['only: expected a list', () => memoryTools(memory, { only: 'recall' as never })],
    ['memory: undefined must be what openMemory returns', () => memoryTools(undefined as never)],
    ['memory: an object must be what', () => mastraTools({} as never)],
    ['memory: undefined must be what', () => memoryMiddleware(undefined as never)],
    ['memory: a list must be what', () => memorySession([] as never)],
    ['memory: undefined must be what', () => new MemoryStore({} as never)],
    ['memory: null must be what', () => new MemoryRetriever({ memory: null } as never)],
    ['readOnly: "false" must be true or false', () => memoryTools(memory, { readOnly: 'false' as never })],
    ['readOnly: null must be true or false', () => memoryTools(memory, { readOnly: null as never })],
    ['content: "false" must be true or false', () => traceMemory({ content: 'false' as never })],
    ['tracerProvider: expected a provider', () => traceMemory({ tracerProvider: {} as never })],
    ['sessionId: expected a string, not 7', () => memoryMiddleware(memory, { sessionId: 7 as never })],
    ['clock: 0 must be a function', () => memorySession(memory, { clock: 0 as never })],
    [
      'readOnly: "false" must be true or false',
      () => openMemory({ path: ':memory:', space: 'alice', readOnly: 'false' as never }),
    ],
    ['readOnly: "false" must be', () => openSpaces({ path: ':memory:', readOnly: 'false' as never })],
    ['path: it must not be empty', () => openSpaces({ path: '' })],
    ['sessionId: expected a string, not 5', () => memorySession(memory, { sessionId: 5 as never })],
    ['sessionId: expected a string, not null', () => memorySession(memory, { sessionId: null as never })],
    ['items[0]: expected an item', () => memorySession(memory).addItems([null as never])],
    ['items[0]: expected a value that JSON', () => memorySession(memory).addItems([cyclic as never])],
    ['k: 1n would not come back from JSON', () => new MemoryStore({ memory }).mset([['k', 1n as never]])],
    ['memorySession: unknown option "session"', () => memorySession(memory, { session: 'x' } as never)],
    ['traceMemory: unknown option "contents"', () => traceMemory({ contents: true } as never)],
    ['MemoryRetriever: unknown option "k"', () => new MemoryRetriever({ memory, k: 3 } as never)],
    ['MemoryStore: unknown option "namespace"', () => new MemoryStore({ memory, namespace: 'x' } as never)],
    ['createSqliteStore: unknown option "path"', () => createSqliteStore({ path: '/nowhere' } as never)],
    ['startServer: unknown option "Port"', () => startServer({ Port: 1 } as never)],
    [
      'token: unknown option "scope"',
      () => openTokenStore('/nowhere').create({ space: 'alice', scope: 'team:a' } as never, 0),
    ],
    [
      'memory: unknown option "user_id"',
      () =>
        memory.importMemories([{ id: 'a', content: 'x', createdAt: '2026-01-01', user_id: 'bob' } as never]),
    ],
  ];
  for (const make of [
    () => memorySession(memory, { scope: 'team a' }),
    () => new MemoryStore({ memory, scope: 'team a' }),
  ]) {
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_scope' }));
  }
  for (const [message, call] of calls) {
    const error = await Promise.resolve()
      .then(call)
      .catch((thrown: unknown) => thrown as Error);
    expect(error, message).toMatchObject({ name: 'SalienceError', code: 'invalid_argument' });
    expect((error as Error).message).toContain(message);
  }
});

test('a filter in inherited options of a retriever applies', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
  await memory.rememberMany([{ content: 'Tea of Ann', scope: 'user:ann' }, { content: 'Tea of all' }]);
  class OfAnn {
    get inScope() {
      return 'user:ann';
    }
  }
  const retriever = new MemoryRetriever({ memory, recall: new OfAnn() });
  expect(await retriever.invoke('tea')).toMatchObject([{ pageContent: 'Tea of Ann' }]);
});
