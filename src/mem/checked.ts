import { text } from '../domain/check.ts';
import { mendWith } from '../domain/mend.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import type { OperationOptions } from '../index.ts';
import type { MemFunctions } from './facade.ts';

type InputOf<Name extends keyof MemFunctions> = Parameters<MemFunctions[Name]>[0];

const inputKeys: { readonly [Name in keyof MemFunctions]: readonly string[] } = {
  mem_session_start: keysOf<InputOf<'mem_session_start'>>()({ user_id: true }),
  mem_session_end: keysOf<InputOf<'mem_session_end'>>()({ user_id: true, summary: true }),
  mem_session_summary: keysOf<InputOf<'mem_session_summary'>>()({ user_id: true, summary: true }),
  mem_save: keysOf<InputOf<'mem_save'>>()({
    user_id: true,
    content: true,
    type: true,
    title: true,
    topic_key: true,
  }),
  mem_search: keysOf<InputOf<'mem_search'>>()({
    user_id: true,
    query: true,
    limit: true,
    types: true,
    types_exclude: true,
  }),
  mem_get_observation: keysOf<InputOf<'mem_get_observation'>>()({ user_id: true, id: true }),
  mem_timeline: keysOf<InputOf<'mem_timeline'>>()({ user_id: true, id: true }),
  mem_stats: keysOf<InputOf<'mem_stats'>>()({ user_id: true }),
};

const optionKeys = keysOf<OperationOptions>()({ signal: true, now: true });

/** Replaces the engine's names in its messages by those of these functions. */
export const mendMem = mendWith({
  startSession: 'mem_session_start',
  endSession: 'mem_session_end',
  saveSummary: 'mem_session_summary',
  topicKey: 'topic_key',
  sessionId: 'session_id',
  typesExclude: 'types_exclude',
});

type Run = (input: { readonly user_id: string }, options?: OperationOptions) => Promise<unknown>;

/** Wraps the functions: they refuse unknown arguments and a blank `user_id`, and their messages use their own names. */
export function withKnownInputs(functions: MemFunctions): MemFunctions {
  const checked = Object.entries(inputKeys).map(([name, keys]) => {
    const run = functions[name as keyof MemFunctions] as Run;
    const checking: Run = async (input, options) => {
      onlyKeys(input, keys, name);
      if (options !== undefined) onlyKeys(options, optionKeys, name);
      text(input.user_id, 'user_id', { maxCharacters: 200 });
      try {
        return await run(input, options);
      } catch (error) {
        throw mendMem(error);
      }
    };
    return [name, checking];
  });
  return Object.fromEntries(checked) as MemFunctions;
}
