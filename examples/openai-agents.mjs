// A memory as the session of the OpenAI Agents SDK: the conversation goes on where it was left, and what was said can be
// recalled from anywhere. The model here is a script, so that the example runs offline.
import { Agent, Runner, setTracingDisabled, Usage } from '@openai/agents-core';
import { openMemory } from 'salience';
import { memorySession } from 'salience/openai-agents';

setTracingDisabled(true);
const clock = () => Date.parse('2026-04-20T09:00:00Z');
const memory = await openMemory({ path: ':memory:', space: 'alice', clock });

const answers = ['Hello Ada.', 'Your name is Ada.'];
const model = {
  async getResponse({ input }) {
    const text = answers.shift();
    console.log(`the model reads ${input.length} items and says: ${text}`);
    const content = [{ type: 'output_text', text }];
    return {
      usage: new Usage(),
      output: [{ type: 'message', role: 'assistant', status: 'completed', content }],
    };
  },
};
const agent = new Agent({ name: 'Assistant', model });

// Each run opens the session anew, as two processes would.
for (const question of ['I am Ada', 'What is my name?']) {
  const session = memorySession(memory, { sessionId: 'chat-1', clock });
  await new Runner().run(agent, question, { session });
}

const { memories } = await memory.list({ types: ['message'], limit: 10 });
for (const { content } of memories.toReversed()) console.log(content);

const session = memorySession(memory, { sessionId: 'chat-1', clock });
await session.clearSession();
console.log(
  `after clearing: ${(await session.getItems()).length} items, ${(await memory.list()).memories.length} memories`,
);
await memory.close();
