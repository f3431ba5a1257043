// A memory for an agent of Mastra, as tools. The model here is a script, so that the example runs offline.
import { Agent } from '@mastra/core/agent';
import { MockLanguageModelV3 } from 'ai/test';
import { openMemory } from 'salience';
import { memoryTools } from 'salience/mastra';

const clock = () => Date.parse('2026-04-20T09:00:00Z');
const memory = await openMemory({ path: ':memory:', space: 'alice', clock, newId: () => 'm1' });

const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
const calls = (toolName, input) => ({
  content: [{ type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: 'tool-calls' },
  usage,
  warnings: [],
});
const says = (text) => ({
  content: [{ type: 'text', text }],
  finishReason: { unified: 'stop' },
  usage,
  warnings: [],
});
const model = new MockLanguageModelV3({
  doGenerate: [
    calls('remember', { content: 'The release is on Thursday', type: 'plan' }),
    calls('recall', { query: 'When is the release?', strategy: 'bm25' }),
    says('On Thursday.'),
  ],
});

const agent = new Agent({
  id: 'assistant',
  name: 'Assistant',
  instructions: 'Recall before you answer, remember what should last.',
  model,
  tools: memoryTools(memory),
});
const { text } = await agent.generate('The release is on Thursday. When is it?', { maxSteps: 5 });

for (const { prompt } of model.doGenerateCalls.slice(1)) {
  const [result] = prompt.at(-1).content;
  console.log(`${result.toolName} told the model:\n${result.output.value}\n`);
}
console.log(`it said: ${text}`);
await memory.close();
