// The mem_* functions: a user's sessions, and what was observed in them.
import { openMem } from 'salience/mem';

let now = Date.parse('2026-04-20T09:00:00Z');
const mem = openMem({ path: ':memory:', clock: () => now });
const user_id = 'alice';

const monday = await mem.mem_session_start({ user_id });
console.log(`monday: new session ${monday.is_new}, ${monday.memories.length} memories`);
await mem.mem_save({ user_id, type: 'profile', title: 'Work', content: 'Alice is a backend engineer' });
const saved = await mem.mem_save({
  user_id,
  type: 'decision',
  title: 'Login',
  content: 'Auth tokens live for an hour',
  topic_key: 'auth/lifetime',
});
console.log(`${saved.outcome}, in monday's session: ${saved.session_id === monday.session_id}`);
await mem.mem_session_end({ user_id, summary: 'Chose how long auth tokens live; refresh is still open.' });

now = Date.parse('2026-04-21T09:00:00Z');
const tuesday = await mem.mem_session_start({ user_id });
for (const { content } of tuesday.sessions_context) console.log(`\nearlier: ${content}`);
for (const { type, content, score } of tuesday.memories) {
  console.log(`${score.value.toFixed(3)}  ${type}: ${content}`);
}

const again = await mem.mem_save({
  user_id,
  type: 'decision',
  title: 'Login',
  content: 'Auth tokens live for ten minutes, and are refreshed',
  topic_key: 'auth/lifetime',
});
console.log(`\n${again.outcome}, the same observation: ${again.id === saved.id}`);
for (const { title, snippet, score } of await mem.mem_search({ user_id, query: 'auth token', limit: 1 })) {
  console.log(`${score.value.toFixed(3)}  ${title}: ${snippet}`);
}

// Bob has a memory of his own, and sees nothing of hers.
console.log(`bob: ${JSON.stringify(await mem.mem_get_observation({ user_id: 'bob', id: saved.id }))}`);
await mem.close();
