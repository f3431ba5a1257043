// Spans for what happens in a memory, by the conventions of OpenTelemetry for generative AI.
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { openMemory } from 'salience';
import { traceMemory } from 'salience/otel';

const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const stop = traceMemory({ tracerProvider });

const clock = () => Date.parse('2026-04-20T09:00:00Z');
const memory = await openMemory({ path: ':memory:', space: 'alice', clock });
await memory.remember('Prefers dark roast coffee', { id: 'coffee' });
await memory.recall('coffee', { strategy: 'bm25' });
await memory.forget('coffee');
await memory.forget('coffee').catch(() => {});
await memory.close();
stop();

for (const { name, attributes } of exporter.getFinishedSpans()) console.log(name, attributes);
