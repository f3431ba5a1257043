import { describe } from './describe.ts';
import { SalienceError } from './errors.ts';

/** The root of every space's scopes: visible from everywhere. */
export const GLOBAL_SCOPE = 'global';

const part = /^(?:[a-z]+:)?[A-Za-z0-9._-]+$/;

/**
 * Checks a scope: `global`, or a path such as `team:a/project:b`. Returns it unchanged.
 * Throws `invalid_scope` with the grammar.
 */
export function parseScope(scope: string): string {
  const valid =
    typeof scope === 'string' &&
    scope.length <= 512 &&
    scope.split('/').every((each) => {
      const name = each.slice(each.indexOf(':') + 1);
      return part.test(each) && name !== '.' && name !== '..';
    });
  if (valid) return scope;
  throw new SalienceError(
    'invalid_scope',
    `scope ${describe(scope)} is not valid: write "global", or parts of [A-Za-z0-9._-], each optionally led by a kind, with "/" between, for example "team:a/project:b"`,
    { details: { scope } },
  );
}

/** The scopes that are visible from `scope`: itself, its ancestors and the root, but not siblings or children. */
export function visibleScopes(scope: string): readonly string[] {
  if (scope === GLOBAL_SCOPE) return [GLOBAL_SCOPE];
  const parts = scope.split('/');
  return [GLOBAL_SCOPE, ...parts.map((_, depth) => parts.slice(0, depth + 1).join('/'))];
}

const kind = /^[a-z]+:\*$/;

/**
 * Checks a scope, or a pattern for all scopes of a kind, such as `project:*`. Returns it unchanged.
 * Throws `invalid_scope`.
 */
export function parseScopeOrKind(pattern: string): string {
  return typeof pattern === 'string' && kind.test(pattern) ? pattern : parseScope(pattern);
}

/** Whether a scope equals `pattern` or, for a pattern such as `project:*`, begins with that kind. */
export function liesIn(scope: string, pattern: string): boolean {
  return pattern.endsWith(':*') ? scope.startsWith(pattern.slice(0, -1)) : scope === pattern;
}
