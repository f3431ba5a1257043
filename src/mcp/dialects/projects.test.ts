import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseScope } from '../../domain/scope.ts';
import { placeOf, projectOfScope, scopeOfProject, viewOf } from './projects.ts';

describe('the scope of a project', () => {
  test.each([
    ['match', 'project:match'],
    ['my_app-2.0', 'project:my_app-2.0'],
    ['my app', 'project:my_.20.app'],
    ['@acme/pkg', 'project:_.40.acme_.2F.pkg'],
    ['プロ', 'project:_.E38397E383AD.'],
    ['..', 'project:_.2E._.2E.'],
    ['a_.b', 'project:a_.5F..b'],
  ])('of %j is %j, and says its name again', (name, scope) => {
    expect(scopeOfProject(name)).toBe(scope);
    expect(projectOfScope(scope)).toBe(name);
  });

  test('is valid, of one part, and different for every name', () => {
    const name = fc
      .oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
        fc.string({
          unit: fc.constantFrom('_', '.', '2', 'F', 'a', '/', ' ', 'é'),
          minLength: 1,
          maxLength: 12,
        }),
      )
      .filter((text) => text.trim() !== '' && text.isWellFormed())
      .map((text) => text.normalize('NFC'));
    fc.assert(
      fc.property(name, (text) => {
        const scope = scopeOfProject(text);
        expect(parseScope(scope)).not.toContain('/');
        expect(projectOfScope(scope)).toBe(text);
      }),
    );
  });

  test('is shown as it is if it was written by hand; other kinds and deeper scopes are not projects', () => {
    expect(projectOfScope('project:a_.41.')).toBe('a_.41.');
    expect(projectOfScope('project:a_.FF.')).toBe('a_.FF.');
    expect(projectOfScope('project:a/b')).toBeUndefined();
    expect(projectOfScope('team:a')).toBeUndefined();
    expect(projectOfScope('global')).toBeUndefined();
  });

  test.each(['', ' ', '\ud800', 'プ'.repeat(200)])('of %j is refused', (name) => {
    expect(() => scopeOfProject(name)).toThrow(/^project: /);
  });
});

describe('an invalid scope', () => {
  test.each(['banana', 'Global', 'Project', '', 'project:', 'project:my app', 'project:*'])(
    '%j is answered with what there is, on reading and on writing',
    (scope) => {
      const message = /unknown scope .*available: "global", "project" .*"project:match"/;
      expect(() => placeOf(scope, undefined)).toThrow(message);
      expect(() => viewOf(scope, undefined, {})).toThrow(message);
      expect(() => viewOf(scope, 'match', {})).toThrow(message);
    },
  );

  test('refuses a scope that does not belong to the project', () => {
    expect(() => placeOf('project:other', 'match')).toThrow(/not the scope of this project/);
    expect(() => placeOf('global', 'match')).toThrow('leave it out');
    expect(placeOf('project:match', 'match')).toBe('project:match');
    expect(viewOf('team:a/project:b', undefined, {})).toEqual({
      scope: 'team:a/project:b',
      inScope: 'team:a/project:b',
    });
  });
});
