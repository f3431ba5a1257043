// An embedder on a server with OpenAI's embeddings API. The server here is a toy in this process, so that the example
// runs offline; with a real one only baseUrl, model and dimensions differ.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { openAiCompatibleEmbedder, openMemory } from 'salience';

// What the toy's three numbers stand for.
const topics = [
  ['coffee', 'espresso', 'drink', 'tea', 'caffeine'],
  ['deadline', 'release', 'project', 'finish', 'due'],
  ['train', 'flight', 'travel', 'berlin', 'trip'],
];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { model, input } = JSON.parse(body);
  console.log(`server: ${request.method} ${request.url}, ${input.length} texts for ${model}`);
  const data = input.map((text, index) => {
    const words = text.toLowerCase().split(/\W+/);
    return {
      index,
      embedding: topics.map((topic) => 0.1 + words.filter((word) => topic.includes(word)).length),
    };
  });
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ data }));
}).listen(0, '127.0.0.1');
await once(server, 'listening');

const embedder = openAiCompatibleEmbedder({
  baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
  model: 'toy-topics',
  dimensions: 3,
  retries: 0,
});
const memory = await openMemory({
  path: ':memory:',
  space: 'alice',
  embedder,
  clock: () => Date.parse('2026-04-20T09:00:00Z'),
});
await memory.rememberMany([
  { content: 'An espresso in the morning, never after noon' },
  { content: 'The release is on 15 May' },
  { content: 'Takes the night train to Berlin' },
]);

async function show(query) {
  const { hits, trace } = await memory.recall(query, { limit: 1 });
  const arms = trace.arms.map(({ name, status }) => `${name} ${status}`).join(', ');
  console.log(`${query}\n  ${hits[0]?.memory.content ?? '(nothing)'}  [${arms}]`);
}
// No word in common: the vectors find them.
await show('which caffeine does she drink?');
await show('when is the project due?');

// Without its server a recall goes on with words alone, and says so; remembering refuses.
server.close();
server.closeAllConnections();
await show('which train does she take?');
await memory.remember('Likes window seats').catch((error) => console.log(`remember: ${error.code}`));
const { memories, embedding } = await memory.stats();
console.log(`${memories} memories, vectors of ${embedding.model}`);
await memory.close();
