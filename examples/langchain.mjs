// A memory for LangChain.js: a retriever in a chain, and a store of values by keys.
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { RunnablePassthrough, RunnableSequence } from '@langchain/core/runnables';
import { openMemory } from 'salience';
import { MemoryRetriever, MemoryStore } from 'salience/langchain';

const clock = () => Date.parse('2026-04-20T09:00:00Z');
const memory = await openMemory({ path: ':memory:', space: 'alice', clock });
await memory.rememberMany([
  { content: 'Prefers dark roast coffee', type: 'preference' },
  { content: 'Plays the cello' },
]);

const retriever = new MemoryRetriever({ memory, recall: { strategy: 'bm25', limit: 3 } });
const chain = RunnableSequence.from([
  {
    memories: retriever.pipe((documents) => documents.map(({ pageContent }) => pageContent).join('\n')),
    question: new RunnablePassthrough(),
  },
  // A chat model would come next.
  ChatPromptTemplate.fromTemplate('What is known:\n{memories}\nQuestion: {question}'),
]);
const prompt = await chain.invoke('Which coffee does she like?');
console.log(prompt.messages[0].content);

const store = new MemoryStore({ memory });
await store.mset([['diet', { kind: 'vegetarian', since: 2019 }]]);
await store.mset([['diet', { kind: 'vegan', since: 2026 }]]);
console.log('\nstored:', await store.mget(['diet', 'shoe size']));
const { hits } = await memory.recall('vegan', { strategy: 'bm25' });
console.log('recalled:', hits[0].memory.content, `(revision ${hits[0].memory.revisionCount})`);
await memory.close();
