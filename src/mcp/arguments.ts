import * as z from 'zod';
import type { Tool } from './tool.ts';

/**
 * Reads the arguments of a call as clients and models mean them. Many write `null`, `""` or `[]` for every argument that
 * they do not use, and numbers, booleans, lists and objects as strings of JSON. Both are read only where the value has no
 * other meaning; everything else is left as it is, for the check of the tool.
 */
export function readArguments({ input, access }: Tool, given: unknown): unknown {
  // An empty list may be a value where something is written: `update` then removes all tags.
  return read(input, given, (value) => access !== 'write' && Array.isArray(value) && value.length === 0);
}

function read(schema: z.core.$ZodType, given: unknown, isNoFilter: (value: unknown) => boolean): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'optional' || def.type === 'nullable') return read(def.innerType, given, isNoFilter);
  const value = typeof given === 'string' ? fromJson(schema, given) : given;
  if (def.type === 'array' && Array.isArray(value)) {
    return value.map((each) => read(def.element, each, isNoFilter));
  }
  if (def.type !== 'object' || !isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([name, each]) => {
    const known = Object.hasOwn(def.shape, name) ? def.shape[name] : undefined;
    if (!known) return [[name, each] as const];
    const meant = read(known, each, isNoFilter);
    const isNothing = meant === null || meant === '' || isNoFilter(meant);
    return isNothing && mayBeAbsent(known) ? [] : [[name, meant] as const];
  });
  return Object.fromEntries(entries);
}

/** Where `null` is a value, it removes something, so that also an empty string may be meant to. */
function mayBeAbsent(schema: z.core.$ZodType): boolean {
  return z.safeParse(schema, undefined).success && !z.safeParse(schema, null).success;
}

/** Parses a string where none is allowed, but what its JSON says is. */
function fromJson(schema: z.core.$ZodType, text: string): unknown {
  if (allows(schema, text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return allows(schema, value) ? value : text;
  } catch {
    return text;
  }
}

/** Whether a schema allows values of this kind. Whether it allows this value is for the check of the tool to say. */
function allows(schema: z.core.$ZodType, value: unknown): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
      return allows(def.innerType, value);
    case 'union':
      return def.options.some((each) => allows(each, value));
    case 'enum':
    case 'literal':
      return z.safeParse(schema, value).success;
    case 'number':
    case 'boolean':
      return typeof value === def.type;
    case 'array':
      return Array.isArray(value);
    case 'object':
    case 'record':
      return isObject(value);
    default:
      return typeof value === 'string';
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
