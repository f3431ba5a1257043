import { flag, invalidArgument, listOf, number, oneOf, text, texts } from '../domain/check.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import type { ContextCandidate } from './candidate.ts';

/** A part of a context: which memories belong to it, and what share of the budget it may claim. */
export interface Section {
  readonly name: string;
  /** The memory types in it. */
  readonly types: readonly string[];
  /** Takes the types that no section names. Default is false. */
  readonly takesOthers?: boolean | undefined;
  /** Takes memories found through a link, whatever their type. Default is false. */
  readonly takesAssociates?: boolean | undefined;
  /** Above 0, relative to the sum of the shares of all sections that have a candidate. */
  readonly share: number;
}

const sectionKeys = keysOf<Section>()({
  name: true,
  types: true,
  takesOthers: true,
  takesAssociates: true,
  share: true,
});

/** The sections of a recall's context, in the order in which they are rendered. */
export const DEFAULT_SECTIONS = [
  { name: 'summaries', types: ['summary'], share: 0.25 },
  { name: 'profile', types: ['profile', 'preference'], share: 0.15 },
  { name: 'facts', types: ['fact'], takesOthers: true, share: 0.15 },
  { name: 'entities', types: ['entity'], share: 0.15 },
  { name: 'related', types: [], takesAssociates: true, share: 0.1 },
  { name: 'decisions', types: ['decision', 'rule'], share: 0.1 },
  { name: 'corrections', types: ['feedback'], share: 0.1 },
  { name: 'learnings', types: ['learning', 'discovery', 'pattern'], share: 0.05 },
  { name: 'procedures', types: ['procedure'], share: 0.05 },
] as const satisfies readonly Section[];

export type SectionName = (typeof DEFAULT_SECTIONS)[number]['name'];

/**
 * A context that does not answer a query, with its own budget: all memories of the types that its sections name, and
 * core memories of any type, for which it needs a section that takes others.
 */
export interface SessionContext {
  readonly maxTokens: number;
  readonly sections: readonly Section[];
}

/** What an agent gets when a session starts. All sections have equal shares, because none is more important. */
export const BOOTSTRAP: SessionContext = {
  maxTokens: 30_000,
  sections: [
    { name: 'rules', types: ['rule'], share: 1 },
    { name: 'feedback', types: ['feedback'], share: 1 },
    { name: 'facts', types: ['fact', 'profile', 'preference', 'entity'], share: 1 },
    { name: 'decisions', types: ['decision'], share: 1 },
    { name: 'context', types: ['context', 'summary'], takesOthers: true, share: 1 },
  ],
};

/** What an agent gets on every turn: what applies to any question. */
export const PINNED: SessionContext = {
  maxTokens: 5000,
  sections: [
    { name: 'rules', types: ['rule'], share: 1 },
    { name: 'feedback', types: ['feedback'], share: 1 },
    { name: 'profile', types: ['profile', 'preference'], share: 1 },
    { name: 'core', types: [], takesOthers: true, share: 1 },
  ],
};

/**
 * Returns the sections of a context. Names choose default sections, objects define new ones, and the order given is the
 * order rendered. Default is all of {@link DEFAULT_SECTIONS}.
 *
 * Throws `invalid_argument` for an unknown or duplicate name, a share that is not above 0, or a value that is not a
 * section.
 */
export function chooseSections(
  chosen: readonly (SectionName | Section)[] = DEFAULT_SECTIONS,
): readonly Section[] {
  const sections = listOf(chosen, 'sections').map((each, at): Section => {
    if (typeof each === 'object') {
      const field = `sections[${at}]`;
      onlyKeys(each, sectionKeys, field);
      text(each.name, `${field}.name`, { maxCharacters: 200 });
      texts(each.types, `${field}.types`, 1000, 200);
      if (each.takesOthers !== undefined) flag(each.takesOthers, `${field}.takesOthers`);
      if (each.takesAssociates !== undefined) flag(each.takesAssociates, `${field}.takesAssociates`);
      return each;
    }
    const names = DEFAULT_SECTIONS.map(({ name }) => name);
    return DEFAULT_SECTIONS[names.indexOf(oneOf(each, `sections[${at}]`, names))]!;
  });
  if (sections.length === 0) throw invalidArgument('sections', 'expected at least one');
  for (const [at, { name, share }] of sections.entries()) {
    number(share, `sections[${at}].share`, Number.MIN_VALUE, Number.MAX_VALUE);
    if (sections.findIndex((other) => other.name === name) !== at) {
      throw invalidArgument(`sections[${at}]`, `${JSON.stringify(name)} is there twice`);
    }
  }
  return sections;
}

/**
 * Returns the section that a memory belongs to: for an associate, the first that takes associates; else the first that
 * names its type; else the first that takes others. Returns `undefined` if there is none: the memory then has no place
 * in this context.
 */
export function sectionOf(
  { type, isAssociative }: Pick<ContextCandidate, 'type' | 'isAssociative'>,
  sections: readonly Section[],
): Section | undefined {
  return (
    (isAssociative === true ? sections.find(({ takesAssociates }) => takesAssociates === true) : undefined) ??
    sections.find(({ types }) => types.includes(type)) ??
    sections.find(({ takesOthers }) => takesOthers === true)
  );
}
