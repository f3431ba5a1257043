import { connect } from './connection.ts';

/** The version of the SQLite library that the driver brings. Throws what the driver throws when it cannot be loaded. */
export async function sqliteVersion(): Promise<string> {
  const connection = await connect(':memory:', { readOnly: false, timeout: 0 });
  try {
    return (connection.get('SELECT sqlite_version() AS version') as { version: string }).version;
  } finally {
    connection.close();
  }
}
