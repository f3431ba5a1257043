import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { loadDriver, real } from './driver.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasOwn = (major === 22 && minor >= 22) || (major === 24 && minor >= 9) || major > 24;

describe('loadDriver', () => {
  it.runIf(hasOwn)('takes the SQLite that Node.js has, without its warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning');
    const { DatabaseSync } = await loadDriver();
    expect(warn).not.toHaveBeenCalled();
    expect(process.getBuiltinModule('node:sqlite')).toMatchObject({ DatabaseSync });
  });

  it.runIf(major === 20)('takes the package where Node.js has none', async () => {
    const { DatabaseSync } = await loadDriver();
    expect(DatabaseSync).toBe((await import('@photostructure/sqlite')).DatabaseSync);
  });

  it('leaves warnings as they were', async () => {
    const { emitWarning } = process;
    await loadDriver();
    expect(process.emitWarning).toBe(emitWarning);
  });

  it('opens names that are URLs and says whether a transaction is open', async () => {
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(':memory:', { timeout: 0 });
    expect(database.isTransaction).toBe(false);
    database.exec('BEGIN');
    expect(database.isTransaction).toBe(true);
    database.exec('COMMIT');
    database.exec(`ATTACH 'file:other?mode=memory' AS other`);
    const [, other] = database.prepare('PRAGMA database_list').all() as { readonly file: string }[];
    expect(other?.file).toBe('');
    database.close();
  });
});

describe('real', () => {
  it('binds any number to the last bit', async () => {
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(':memory:');
    database.exec('CREATE TABLE number (value REAL) STRICT');
    const insert = database.prepare('INSERT INTO number VALUES (?) RETURNING value');
    const beside = fc
      .tuple(fc.integer({ min: -3, max: 3 }), fc.double({ min: -1e-15, max: 1e-15, noNaN: true }))
      .map(([whole, rest]) => whole + rest);
    const tiny = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 320 }));
    fc.assert(
      fc.property(
        fc.oneof(
          beside,
          tiny.map(([value, exponent]) => value * 10 ** -exponent),
        ),
        (value) => {
          // SQLite knows no negative zero.
          expect(insert.get(real(value))).toEqual({ value: value + 0 });
        },
      ),
      { numRuns: 2000 },
    );
    database.close();
  });
});
