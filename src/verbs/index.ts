/**
 * The table of verbs: what can be asked of a memory, described once. A new verb is an entry here, and nothing else
 * needs to change for it to be a tool, a route and a line of the API document.
 */
import * as z from 'zod';
import { beliefs, conflicts, invalidate, resolve, revive } from './belief.ts';
import { forget, forgetMany, undo, update } from './change.ts';
import { bootstrap, context, pinned } from './context.ts';
import { help } from './help.ts';
import { link, links, unlink } from './links.ts';
import { feedback, markUsed, observe, setImportance } from './observe.ts';
import { get, history, list } from './read.ts';
import { explain, recall, whyNot } from './recall.ts';
import { remember, rememberMany, restore } from './remember.ts';
import { currentSession, endSession, saveSummary, startSession, timeline } from './sessions.ts';
import { check, configure, curate, maintain, reindex, stats } from './upkeep.ts';
import type { Verb } from './verb.ts';

export { callVerb, parseInput } from './call.ts';
export { failureOf, logLineOf } from './failure.ts';
export type { Verb, VerbContext } from './verb.ts';
export { help, recall, stats };

/** Every verb, in the order in which people and models read them. */
export const verbs: readonly Verb[] = [
  remember,
  observe,
  recall,
  context,
  get,
  list,
  update,
  invalidate,
  revive,
  resolve,
  feedback,
  forget,
  undo,
  startSession,
  endSession,
  currentSession,
  bootstrap,
  pinned,
  explain,
  whyNot,
  history,
  beliefs,
  setImportance,
  markUsed,
  timeline,
  conflicts,
  saveSummary,
  links,
  link,
  unlink,
  stats,
  configure,
  maintain,
  curate,
  forgetMany,
  rememberMany,
  restore,
  check,
  reindex,
  help,
];

/** The verbs that agents get as tools, with the fields that a model may fill in. */
export const agentVerbs: readonly Verb[] = verbs.filter(({ tool }) => tool).map(forAgents);

function forAgents(verb: Verb): Verb {
  const { notForAgents = [], input } = verb;
  if (notForAgents.length === 0) return verb;
  const fields = Object.entries(input.shape).filter(([name]) => !notForAgents.includes(name));
  return { ...verb, input: z.strictObject(Object.fromEntries(fields)) };
}
