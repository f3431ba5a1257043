import { connect } from './connection.ts';

/** Returns the version of the driver's SQLite library. Throws the driver's own error if it cannot be loaded. */
export async function sqliteVersion(): Promise<string> {
  const connection = await connect(':memory:', { readOnly: false, timeout: 0 });
  try {
    return (connection.get('SELECT sqlite_version() AS version') as { version: string }).version;
  } finally {
    connection.close();
  }
}
