import { afterAll, expect, it } from 'vitest';
import { callVerb, verbs } from '../../src/api/index.ts';
import type { Argument, Schema } from '../../src/domain/arguments.ts';
import { toolNameOf, VERB_NAMES, type VerbEntry, verbEntry } from '../../src/domain/verbs.ts';
import { openMemory, SalienceError } from '../../src/index.ts';
import { startAnyServer } from './any-server.ts';

/**
 * Every string of every argument of every verb, as the table of verbs has them: what is given is never part of a
 * statement. Whatever it is, an answer or an error that says what is wrong comes back, and another space stays as it was.
 */

const server = await startAnyServer();
afterAll(() => server[Symbol.asyncDispose]());

const TEXTS = [
  `'; DROP TABLE memory; -- "; DROP TABLE space; -- \\'; $1 $$ %s %_ {} x' OR '1'='1`,
  `") OR 1=1; DELETE FROM event; --`,
  'nul \0 here',
  'half a pair \ud800',
  "E'\\x27' ' || pg_sleep(60) || '",
];

/** What a store says of a failure that no argument may bring about. */
const NOT_BY_AN_ARGUMENT = ['store_failed', 'store_corrupt', 'store_busy', 'unknown'];

/** The smallest value that a schema allows, with `text` for every string. */
function sampleOf(schema: Schema, text: string): unknown {
  const { type, properties, items } = schema;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sampleOf(schema.anyOf[0]!, text);
  switch (type) {
    case 'string':
      return text;
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    case 'array':
      return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () => sampleOf(items ?? {}, text));
    case 'object': {
      const named = Object.entries(properties ?? {}).map(([name, each]) => [name, sampleOf(each, text)]);
      const more = schema.additionalProperties ? [[text, text]] : [];
      return Object.fromEntries([...named, ...more]);
    }
    default:
      return text;
  }
}

const holdsText = (schema: Schema) => JSON.stringify(sampleOf(schema, 'X')).includes('X');

const entryOf = new Map(VERB_NAMES.map((name) => [toolNameOf(name), verbEntry(name)]));

/** Calls of a verb: each argument that can hold a text in turn, beside what must be given. */
function* callsOf(entry: VerbEntry | undefined, text: string): Generator<Readonly<Record<string, unknown>>> {
  const given: [string, Argument][] = Object.entries(entry?.arguments ?? {});
  const required = given.filter(([, argument]) => argument.required === true);
  const base = Object.fromEntries(
    required.map(([key, argument]) => [key, sampleOf(argument as Schema, argument.isId ? 'a' : 'tea')]),
  );
  for (const [key, argument] of given) {
    if (holdsText(argument as Schema)) yield { ...base, [key]: sampleOf(argument as Schema, text) };
  }
}

it('no argument of any verb is ever part of a statement', async () => {
  const { store, cleanup } = await server.freshStore();
  await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
  await using other = await openMemory({ store, space: 'bob', embedder: 'none' });
  await other.remember('The key is under the mat', { id: 'b', metadata: { floor: 1 } });
  const before = await other.list();
  let calls = 0;
  let answered = 0;
  const failures: string[] = [];
  for (const text of TEXTS) {
    await memory.rememberMany([{ id: 'a', content: 'Prefers tea', topicKey: 'drink' }]);
    for (const verb of verbs) {
      for (const input of callsOf(entryOf.get(verb.name), text)) {
        calls++;
        try {
          const answer = await callVerb(verb, memory, input);
          answered++;
          if (JSON.stringify(answer).includes('under the mat'))
            failures.push(`${verb.name} told bob's memory`);
        } catch (error) {
          const code = SalienceError.isInstance(error) ? error.code : 'unknown';
          if (NOT_BY_AN_ARGUMENT.includes(code))
            failures.push(`${verb.name} ${JSON.stringify(input)}: ${code} ${(error as Error).message}`);
        }
      }
    }
  }
  expect(failures).toEqual([]);
  expect(await other.list()).toEqual(before);
  expect(await memory.check()).toEqual([]);
  expect(answered).toBeGreaterThan(100);
  expect(calls).toBeGreaterThan(500);
  await store.close();
  await cleanup();
});
