/**
 * Memory over HTTP: a route for every verb, behind a token that says which space and which scopes it opens.
 *
 * @module
 */

export type { InspectorAccess } from './inspector-sessions.ts';
export type { Log, LogEntry } from './log.ts';
export type { MountedAccess, MountedHandler } from './mounted.ts';
export { openApi } from './open-api.ts';
export { type RunningServer, type ServerOptions, startServer } from './server.ts';
export {
  type Grant,
  type NewToken,
  openTokenStore,
  TOKEN_RIGHTS,
  type TokenRights,
  type TokenStore,
} from './tokens.ts';
