import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { callVerb, forAgents, recall, type VerbContext } from '../api/index.ts';
import { unknown } from '../domain/options.ts';
import { asQuery } from '../domain/query.ts';
import type { MemoryEngine } from '../index.ts';
import type { Dialect } from './tool.ts';

const about = { name: 'about', description: 'A person, project, matter or question', required: true };
const project = { name: 'project', description: 'The project to look in too' };

const prompts: readonly Prompt[] = [
  {
    name: 'remember_conversation',
    title: 'Remember this conversation',
    description: 'Store what should outlive this conversation',
  },
  {
    name: 'what_do_you_know',
    title: 'What do you know about …?',
    description: 'Recall what is remembered about something, and answer from it',
    arguments: [about],
  },
];

/** Lists the prompts of a dialect. If it knows projects, a question takes one too. */
export function listPrompts({ viewOf }: Dialect): Prompt[] {
  return prompts.map((each) =>
    viewOf && each.arguments ? { ...each, arguments: [...each.arguments, project] } : each,
  );
}

/** Renders a prompt. Throws the protocol's error for an unknown prompt or a missing argument. */
export async function getPrompt(
  {
    name,
    arguments: given = {},
  }: { readonly name: string; readonly arguments?: Record<string, string> | undefined },
  dialect: Dialect,
  memory: MemoryEngine,
  context: VerbContext,
): Promise<GetPromptResult> {
  if (name === 'remember_conversation') return userMessage(rememberText(dialect));
  if (name === 'what_do_you_know') {
    const about = given['about']?.trim();
    if (!about) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'about: say what it is about');
    // The prompt shows only what the tools of the dialect would show.
    const view = dialect.viewOf?.(given['project']);
    const answer = await callVerb(
      forAgents(recall),
      memory,
      { query: asQuery(about), track: false, ...view },
      context,
    );
    return userMessage(
      `What do you know about ${about}?\n\nYour memory holds this:\n\n${recall.text(answer)}\n\nAnswer from it, say which memories you used, and say so when it does not suffice; ${dialect.recall} finds more.`,
    );
  }
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    unknown(
      'prompt',
      name,
      prompts.map((each) => each.name),
    ),
  );
}

function rememberText({ remember, recall }: Dialect): string {
  return `Go through our conversation and store what should outlive it: facts about me and my work, preferences, decisions with their reasons, rules, plans with dates. First look with ${recall} for what is known already, and do not store it again. Then call ${remember} once for each statement; write it so that it stands on its own, with names instead of pronouns. Leave out small talk, what holds for this conversation only, and secrets such as passwords. When something contradicts what is remembered, ask me which is correct. At the end list what you stored.`;
}

function userMessage(text: string): GetPromptResult {
  return { messages: [{ role: 'user', content: { type: 'text', text } }] };
}
