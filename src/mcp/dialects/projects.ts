import { parseScope } from '../../domain/scope.ts';
import { SalienceError } from '../../index.ts';

/** What a scoped tool looks at: what is visible, and which of it is returned. */
export interface View {
  readonly scope?: string | undefined;
  readonly inScope?: string | undefined;
}

const PROJECT = 'project:';

/**
 * The scope of a project, whatever it is called. A name that a scope cannot hold is written with its bytes: "my app" is
 * `project:my_.20.app`. Throws `invalid_argument` for a name that is blank or too long.
 */
export function scopeOfProject(project: string): string {
  const name = project.normalize('NFC');
  if (name.trim() === '' || !name.isWellFormed()) throw invalid('project', 'give the name of the project');
  // The mark of what is written with its bytes is one of these itself, and so are the names that no scope may have.
  const unsafe = /^\.{1,2}$/.test(name) ? /\./g : /[^A-Za-z0-9._-]+|_(?=\.)/gu;
  const written = name.replace(unsafe, (text) => `_.${Buffer.from(text).toString('hex').toUpperCase()}.`);
  try {
    return parseScope(PROJECT + written);
  } catch {
    throw invalid('project', 'the name is too long');
  }
}

/** The name of the project whose scope this is; `undefined` when it is no project's. */
export function projectOfScope(scope: string): string | undefined {
  if (!scope.startsWith(PROJECT) || scope.includes('/')) return undefined;
  const written = scope.slice(PROJECT.length);
  const name = written.replace(/_\.((?:[0-9A-F]{2})+)\./g, (_, bytes: string) =>
    Buffer.from(bytes, 'hex').toString(),
  );
  // Written by hand, and only alike.
  return name.trim() !== '' && name.isWellFormed() && scopeOfProject(name) === scope ? name : written;
}

/** Where a statement goes. Throws `invalid_argument` and `invalid_scope`, which say what there is. */
export function placeOf(scope: string | undefined, project: string | undefined): string {
  if (project !== undefined) {
    if (scope === 'global') throw invalid('project', 'leave it out for what is global');
    return ofOneProject(scope, project);
  }
  if (scope === 'project') throw invalid('project', 'name the project, or leave out scope');
  return checkScope(scope ?? 'global');
}

/** What a call sees: with a project, that project and what is global; with a scope alone, exactly that scope. */
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
    // The message below says what there is in the words of these tools.
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
