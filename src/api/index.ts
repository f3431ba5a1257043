import * as z from 'zod';
import { VERB_NAMES, type VerbName, verbEntry } from '../domain/verbs.ts';
import { beliefs, conflicts, invalidate, reinstate, resolve } from './belief.ts';
import { forget, forgetMany, undo, update } from './change.ts';
import { compare } from './compare.ts';
import { bootstrap, context, pinned } from './context.ts';
import { entities, mergeEntities, neighbours, paths, relate, splitEntity, unrelate } from './graph.ts';
import { help } from './help.ts';
import { link, links, unlink } from './links.ts';
import { activity, operations } from './looking.ts';
import { feedback, markUsed, observe, setImportance } from './observe.ts';
import { get, history, list } from './read.ts';
import { explain, recall, whyNot } from './recall.ts';
import { recalls, replay } from './recalls.ts';
import { importMemories, remember, rememberMany } from './remember.ts';
import { currentSession, endSession, saveSummary, startSession, timeline } from './sessions.ts';
import { check, configure, curate, health, maintain, reindex, stats } from './upkeep.ts';
import { plainVerb, type Verb } from './verb.ts';

export { callVerb, parseInput } from './call.ts';
export { failureOf, logLineOf, outcomeOf } from './failure.ts';
export type { Tool, Verb, VerbContext } from './verb.ts';
export { help, recall, stats };

/** Verbs whose answers have their own schema and text. */
const defined: Partial<Readonly<Record<VerbName, Verb>>> = {
  activity,
  beliefs,
  bootstrap,
  check,
  compare,
  configure,
  conflicts,
  context,
  curate,
  currentSession,
  endSession,
  entities,
  explain,
  feedback,
  forget,
  forgetMany,
  get,
  health,
  history,
  invalidate,
  link,
  links,
  list,
  maintain,
  mergeEntities,
  neighbours,
  markUsed,
  observe,
  operations,
  paths,
  pinned,
  recall,
  recalls,
  replay,
  reindex,
  remember,
  rememberMany,
  relate,
  resolve,
  importMemories,
  reinstate,
  saveSummary,
  setImportance,
  splitEntity,
  startSession,
  stats,
  timeline,
  undo,
  unlink,
  unrelate,
  update,
  whyNot,
};

/** All verbs that are offered outside of the process, in the order in which people and models read them. */
export const verbs: readonly Verb[] = [
  ...VERB_NAMES.filter((name) => verbEntry(name).route !== undefined).map(
    (name) => defined[name] ?? plainVerb(name),
  ),
  help,
];

/** The verbs that agents get as tools, with the fields that a model may fill in. */
export const agentVerbs: readonly Verb[] = verbs.filter(({ tool }) => tool).map((verb) => forAgents(verb));

/**
 * Returns the verb as agents see it: without the fields that a model must not fill in, and with the defaults for
 * agents.
 */
export function forAgents<Output extends z.ZodType>(verb: Verb<Output>): Verb<Output> {
  const { notForAgents, agentDefaults, input } = verb;
  const fields = Object.entries(input.shape).filter(([name]) => !notForAgents.includes(name));
  return {
    ...verb,
    input: notForAgents.length === 0 ? input : z.strictObject(Object.fromEntries(fields)),
    run: (memory, given, context) => verb.run(memory, { ...agentDefaults, ...given }, context),
  };
}
