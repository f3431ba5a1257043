import { alike } from '../domain/statement.ts';
import type { RememberResult } from '../index.ts';
import { plainLine } from './terminal-text.ts';

const outcomes: Readonly<Record<RememberResult['outcome'], (id: string) => string>> = {
  created: (id) => `remembered ${id}`,
  updated: (id) => `updated ${id}`,
  deduplicated: (id) => `already known as ${id}`,
};

/** Formats the result of remembering a statement: one line, and what somebody has to decide about it. */
export function formatRemembered({
  id,
  outcome,
  inactive,
  differs = [],
  conflicts = [],
  unchecked,
}: RememberResult): string {
  const plainId = plainLine(id);
  return [
    outcomes[outcome](plainId),
    ...(inactive
      ? [
          `not recalled: it was invalidated at ${inactive.since}: ${plainLine(inactive.reason)}`,
          `  if it is true after all: salience reinstate ${plainId}`,
        ]
      : []),
    ...(differs.length === 0
      ? []
      : [`its ${differs.join(', ')} stayed as before; to change that: salience update ${plainId}`]),
    ...conflicts.flatMap((conflict) => [
      `may contradict ${plainLine(conflict.id)} (${alike(conflict.similarity)}): ${plainLine(conflict.content)}`,
      `  which is correct? salience resolve ${conflict.conflictId} keep-both | update | supersede | delete`,
    ]),
    ...(unchecked === undefined ? [] : [`not checked for contradictions: ${plainLine(unchecked)}`]),
  ].join('\n');
}
