import type { ForgetFilter, ListOptions } from '../../../src/index.ts';
import { flagOf } from '../../parts/flag.ts';

export interface FilterField {
  /** Its name in `list` and in the address. */
  readonly name: string;
  readonly title: string;
  readonly kind: 'text' | 'texts' | 'date' | 'choice' | 'where';
  readonly choices?: readonly string[];
  readonly hint?: string;
  /** Set if forgetting by filter supports it too. */
  readonly forgets?: true;
}

/** All filters of a list. */
export const FILTERS: readonly FilterField[] = [
  { name: 'types', title: 'Types', kind: 'texts', hint: 'fact, rule', forgets: true },
  { name: 'typesExclude', title: 'Not of the types', kind: 'texts', hint: 'entity', forgets: true },
  { name: 'tags', title: 'With all tags', kind: 'texts', hint: 'orders', forgets: true },
  { name: 'scope', title: 'As seen from the scope', kind: 'text', hint: 'project:shop' },
  { name: 'inScope', title: 'In the scope itself', kind: 'text', hint: 'project:shop', forgets: true },
  { name: 'metadata', title: 'Metadata', kind: 'where', hint: '{"status":"open"}', forgets: true },
  { name: 'topicKey', title: 'Topic', kind: 'text', hint: 'shop/database', forgets: true },
  { name: 'author', title: 'Author', kind: 'text', hint: 'Ann' },
  { name: 'role', title: 'Role', kind: 'text', hint: 'user' },
  { name: 'sessionId', title: 'Session', kind: 'text', hint: 'id', forgets: true },
  {
    name: 'source',
    title: 'Source',
    kind: 'choice',
    choices: ['stated', 'extracted', 'imported', 'inferred', 'consolidated'],
    forgets: true,
  },
  { name: 'tier', title: 'Tier', kind: 'choice', choices: ['hot', 'cold', 'stub'] },
  { name: 'core', title: 'Core', kind: 'choice', choices: ['true', 'false'] },
  ...(['created', 'updated', 'accessed', 'expires', 'invalidated'] as const).flatMap(
    (stem): FilterField[] => [
      { name: `${stem}After`, title: `${stem} from`, kind: 'date' },
      { name: `${stem}Before`, title: `${stem} before`, kind: 'date' },
    ],
  ),
];

/** Returns the filter in the address. What cannot be parsed is left out; see `isUnread`. */
export function filterOf(params: URLSearchParams): ListOptions {
  const values = FILTERS.flatMap(({ name, kind }) => {
    const text = params.get(name)?.trim();
    const value = text ? read(text, name, kind) : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(values);
}

function read(text: string, name: string, kind: FilterField['kind']): unknown {
  if (kind === 'texts') {
    const texts = text
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean);
    return texts.length > 0 ? texts : undefined;
  }
  if (name === 'core') return flagOf(text);
  if (kind !== 'where') return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a field has a text that cannot be parsed, so that it filters nothing. */
export function isUnread(params: URLSearchParams, { name, kind }: FilterField): boolean {
  const text = params.get(name)?.trim();
  // A list of commas alone is an empty field.
  return kind !== 'texts' && Boolean(text) && read(text as string, name, kind) === undefined;
}

/** Returns the filter for `forget`, or why `forget` does not support it. */
export function forgetFilterOf(
  filter: ListOptions,
): { readonly filter: ForgetFilter } | { readonly because: string } {
  const names = Object.keys(filter);
  if (names.length === 0)
    return { because: 'Narrow the list first: forgetting everything is not offered here.' };
  const unknown = names.filter((name) => !FILTERS.some((field) => field.name === name && field.forgets));
  if (unknown.length > 0) return { because: `Forgetting does not go by ${unknown.join(', ')}: take it out.` };
  return { filter: filter as ForgetFilter };
}
