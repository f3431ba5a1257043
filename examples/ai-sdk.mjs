// A memory for the Vercel AI SDK: tools that the model calls, and middleware that needs no calls. The model here is a
// script, so that the example runs offline; put one of a provider in its place.
import { generateText, stepCountIs, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { openMemory } from 'salience';
import { memoryMiddleware, memoryTools } from 'salience/ai-sdk';

const clock = () => Date.parse('2026-04-20T09:00:00Z');
const memory = await openMemory({ path: ':memory:', space: 'alice', clock, newId: () => 'm1' });

const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
const says = (text) => ({
  content: [{ type: 'text', text }],
  finishReason: { unified: 'stop' },
  usage,
  warnings: [],
});
const calls = (toolName, input) => ({
  content: [{ type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: 'tool-calls' },
  usage,
  warnings: [],
});

// With tools the model decides what to remember and when to recall.
const { steps } = await generateText({
  model: new MockLanguageModelV3({
    doGenerate: [calls('remember', { content: 'Is allergic to peanuts', importance: 0.9 }), says('Noted.')],
  }),
  tools: memoryTools(memory),
  stopWhen: stepCountIs(5),
  prompt: 'By the way, I am allergic to peanuts.',
});
console.log(steps.map(({ text, toolCalls }) => toolCalls[0]?.toolName ?? text).join(' → '));

// With middleware every call gets what is remembered about its last message.
const model = new MockLanguageModelV3({ doGenerate: says('Rice noodles, without peanuts.') });
const { text } = await generateText({
  model: wrapLanguageModel({ model, middleware: memoryMiddleware(memory, { observe: 'none' }) }),
  prompt: 'Can I eat noodles with peanuts?',
});
const [context, question] = model.doGenerateCalls[0].prompt[0].content;
console.log(
  `\nThe model read:\n${context.text.replace(/\d{39}/g, '<nonce>')}${question.text}\n\nIt said: ${text}`,
);
await memory.close();
