import { parseScope } from '../../domain/scope.ts';
import { SalienceError } from '../../index.ts';

/** What a scoped tool sees (`scope`), and which part of that it returns (`inScope`). */
export interface View {
  readonly scope?: string | undefined;
  readonly inScope?: string | undefined;
}

const PROJECT = 'project:';

/**
 * Returns the scope of a project. Characters that a scope cannot contain are written as hex bytes: "my app" becomes
 * `project:my_.20.app`. Throws `invalid_argument` for a name that is blank or too long.
 */
export function scopeOfProject(project: string): string {
  const name = project.normalize('NFC');
  if (name.trim() === '' || !name.isWellFormed()) throw invalid('project', 'give the name of the project');
  // `_` before `.` is escaped too, because it marks escaped bytes, and so are `.` and `..`, which no scope may be
  // named.
  const unsafe = /^\.{1,2}$/.test(name) ? /\./g : /[^A-Za-z0-9._-]+|_(?=\.)/gu;
  const written = name.replace(unsafe, (text) => `_.${Buffer.from(text).toString('hex').toUpperCase()}.`);
  try {
    return parseScope(PROJECT + written);
  } catch {
    throw invalid('project', 'the name is too long');
  }
}

/** Returns the name of the project of a scope; `undefined` if the scope is not a project's. */
export function projectOfScope(scope: string): string | undefined {
  if (!scope.startsWith(PROJECT) || scope.includes('/')) return undefined;
  const written = scope.slice(PROJECT.length);
  const name = written.replace(/_\.((?:[0-9A-F]{2})+)\./g, (_, bytes: string) =>
    Buffer.from(bytes, 'hex').toString(),
  );
  // A scope that was written by hand may only look escaped. Then it is returned as it is.
  return name.trim() !== '' && name.isWellFormed() && scopeOfProject(name) === scope ? name : written;
}

/** Returns the scope of a new statement. Throws `invalid_argument` and `invalid_scope`, which list the choices. */
export function placeOf(scope: string | undefined, project: string | undefined): string {
  if (project !== undefined) {
    if (scope === 'global') throw invalid('project', 'leave it out for what is global');
    return ofOneProject(scope, project);
  }
  if (scope === 'project') throw invalid('project', 'name the project, or leave out scope');
  return checkScope(scope ?? 'global');
}

/**
 * Returns what a call sees. With a project: that project and what is global. With a scope alone: exactly that scope.
 */
export function viewOf(scope: string | undefined, project: string | undefined, otherwise: View): View {
  if (project !== undefined) return { scope: ofOneProject(scope, project) };
  if (scope === undefined) return otherwise;
  if (scope === 'project') return { inScope: `${PROJECT}*` };
  checkScope(scope);
  return { scope, inScope: scope };
}

function ofOneProject(scope: string | undefined, project: string): string {
  const place = scopeOfProject(project);
  if (scope === undefined || scope === 'project' || scope === 'global' || scope === place) return place;
  checkScope(scope);
  throw invalid('scope', `${JSON.stringify(scope)} is not the scope of this project; leave it out`);
}

function checkScope(scope: string): string {
  if (scope === 'global') return scope;
  try {
    if (/^[a-z]+:/.test(scope)) return parseScope(scope);
  } catch {
    // The error below names the choices in the words of these tools.
  }
  throw new SalienceError(
    'invalid_scope',
    `scope: unknown scope ${JSON.stringify(scope)} (available: "global", "project" with the name in project, or a whole scope such as "project:match")`,
    { details: { field: 'scope', scope } },
  );
}

function invalid(field: string, problem: string): SalienceError {
  return new SalienceError('invalid_argument', `${field}: ${problem}`, { details: { field } });
}
