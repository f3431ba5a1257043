/**
 * OpenTelemetry spans for the operations of every memory in this process, by the semantic conventions for generative AI
 * (memory spans, status "development").
 *
 * @module
 * @see https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md#memory
 */

import { type ChannelListener, subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import type { Span, TracerProvider } from '@opentelemetry/api';
import { flag, invalidArgument } from '../domain/check.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import { loadPeer } from '../domain/peer.ts';
import type { MemoryEngine, MemoryOperation, OperationContent } from '../index.ts';

const { SpanKind, SpanStatusCode, trace } = await loadPeer(
  () => import('@opentelemetry/api'),
  ['@opentelemetry/api'],
  'salience/otel',
);

export interface TraceMemoryOptions {
  /** Default is the global provider. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Whether queries and texts of memories become span attributes. Default is false. */
  readonly content?: boolean | undefined;
}

const optionKeys = keysOf<TraceMemoryOptions>()({ tracerProvider: true, content: true });

/**
 * The operation name of each verb in the conventions. `maintain_memory` is our own, because they have none for it.
 * Verbs that are not listed create no spans.
 */
const operationNames = {
  recall: 'search_memory',
  context: 'search_memory',
  bootstrap: 'search_memory',
  pinned: 'search_memory',
  remember: 'upsert_memory',
  rememberMany: 'upsert_memory',
  importMemories: 'upsert_memory',
  observe: 'upsert_memory',
  endSession: 'upsert_memory',
  saveSummary: 'upsert_memory',
  update: 'update_memory',
  invalidate: 'update_memory',
  reinstate: 'update_memory',
  resolve: 'update_memory',
  undo: 'update_memory',
  forget: 'delete_memory',
  maintain: 'maintain_memory',
} as const satisfies Partial<Record<keyof MemoryEngine, string>>;

/**
 * Creates spans for the operations of all memories in this process, until the returned function is called. The parent
 * is the span that is active when a verb is called. `gen_ai.memory.store.id` is the name of the space.
 *
 * @example
 * ```ts
 * import { traceMemory } from 'salience/otel';
 * const stop = traceMemory();
 * await memory.recall('coffee'); // a span "search_memory"
 * stop();
 * ```
 */
export function traceMemory(options: TraceMemoryOptions = {}): () => void {
  onlyKeys(options, optionKeys, 'traceMemory');
  const { tracerProvider, content = false } = options;
  flag(content, 'content');
  if (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== 'function') {
    throw invalidArgument('tracerProvider', 'expected a provider of tracers, such as OpenTelemetry makes');
  }
  const tracer = (tracerProvider ?? trace).getTracer('salience');
  const spans = new WeakMap<object, Span>();

  const describe: ChannelListener = (message) => {
    const { operation, query, records } = message as OperationContent;
    const span = spans.get(operation);
    unharmed(() => {
      if (query !== undefined) span?.setAttribute('gen_ai.memory.query.text', query);
      if (records.length > 0) span?.setAttribute('gen_ai.memory.records', JSON.stringify(records));
    });
  };

  const stops = Object.entries(operationNames).map(([verb, name]) => {
    const channel = tracingChannel<unknown, MemoryOperation>(`salience:${verb}`);
    const listeners = {
      start(operation: MemoryOperation) {
        const { space, id, sessionId } = operation;
        const attributes = {
          'gen_ai.operation.name': name,
          'gen_ai.provider.name': 'salience',
          'gen_ai.memory.store.id': space,
          'gen_ai.memory.record.id': id,
          'gen_ai.conversation.id': sessionId,
        };
        unharmed(() => spans.set(operation, tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes })));
      },
      end() {},
      error() {},
      asyncStart() {},
      asyncEnd(operation: MemoryOperation) {
        const span = spans.get(operation);
        if (span) unharmed(() => finish(span, operation));
      },
    };
    channel.subscribe(listeners);
    return () => channel.unsubscribe(listeners);
  });
  if (content) subscribe('salience:content', describe);
  return () => {
    for (const stop of stops) stop();
    if (content) unsubscribe('salience:content', describe);
  };
}

/**
 * Runs `work` and turns exceptions into warnings. An exception of a listener would end the process, and a memory must
 * not fail because its tracing does.
 */
function unharmed(work: () => void): void {
  try {
    work();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  }
}

function finish(span: Span, { id, result, error }: MemoryOperation): void {
  if (error) {
    span.setAttribute('error.type', error.code);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  const { ids = [], strategy } = result ?? {};
  const [only] = ids;
  // For verbs that change one memory, the count is what was attempted, whatever the result.
  if (id !== undefined || result) {
    span.setAttribute('gen_ai.memory.record.count', id === undefined ? ids.length : 1);
  }
  if (id === undefined && ids.length === 1 && only !== undefined) {
    span.setAttribute('gen_ai.memory.record.id', only);
  }
  if (strategy !== undefined) span.setAttribute('salience.strategy', strategy);
  span.end();
}
