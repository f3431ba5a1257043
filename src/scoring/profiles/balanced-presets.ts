import type { ProfileDefinition } from '../profile.ts';

/** `balanced` for five kinds of agents, with other weights and half-lives. Each gives its reason; none was measured. */
function preset(
  name: string,
  description: string,
  [semantic, recency, importance]: readonly [number, number, number],
  recencyHalfLifeDays: number,
): ProfileDefinition {
  return {
    name,
    description,
    extends: 'balanced',
    set: {
      'weights.semantic': semantic,
      'weights.recency': recency,
      'weights.importance': importance,
      recencyHalfLifeDays,
    },
  };
}

export const personalAssistant = preset(
  'personal-assistant',
  'balanced, for one person: what matters to them outweighs what is new, and holds for months.',
  [0.35, 0.2, 0.45],
  30,
);

export const supportDesk = preset(
  'support-desk',
  'balanced, for open cases: the state of this week counts, what was tried last above all.',
  [0.45, 0.4, 0.15],
  5,
);

export const codingAgent = preset(
  'coding-agent',
  'balanced, for code: the right passage first; decisions and rules hold as long as it does.',
  [0.55, 0.1, 0.35],
  90,
);

export const researchNotes = preset(
  'research-notes',
  'balanced, for notes: what a note is about decides, and a year does little to it.',
  [0.75, 0.05, 0.2],
  365,
);

export const news = preset(
  'news',
  'balanced, for reports: yesterday is old, so that of what fits the newest comes first.',
  [0.35, 0.6, 0.05],
  2,
);
