import type { Hono } from 'hono';
import { wholeNumber } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { type AppTypes, type Desk, queryWith } from './app-types.ts';
import { refuseBody } from './body.ts';
import { problemOf } from './problem.ts';
import type { Grant, TokenStore } from './tokens.ts';

/** Spaces in one answer of `/v1/spaces`. Each of them is opened to read its numbers. */
const PAGE = 20;

interface AdministrationOptions {
  readonly spaces: Desk['spaces'];
  readonly tokens: Partial<Pick<TokenStore, 'list'>>;
}

interface SpaceSummary {
  readonly name: string;
  readonly memories?: number;
  readonly bytes?: number;
  readonly lastBackup?: string | undefined;
  /** Why the numbers could not be read. */
  readonly failure?: string;
}

/**
 * Adds the routes for administrators: `/v1/tokens` lists tokens (never their secrets), `/v1/spaces` the sizes of
 * spaces.
 */
export function addAdministrationRoutes(
  app: Hono<AppTypes>,
  { spaces, tokens }: AdministrationOptions,
): void {
  app.get('/v1/tokens', async (context) => {
    context.set('route', '/v1/tokens');
    refuseBody(context.env.incoming);
    queryWith(context);
    const grant = context.get('grant');
    administers(grant, 'tokens');
    if (!tokens.list) throw new SalienceError('unsupported', 'this server lists no tokens');
    const shown = (await tokens.list()).filter(({ space }) => grant.everySpace || space === grant.space);
    return context.json({ tokens: shown });
  });
  app.get('/v1/spaces', async (context) => {
    context.set('route', '/v1/spaces');
    refuseBody(context.env.incoming);
    const grant = context.get('grant');
    administers(grant, 'spaces');
    const query = queryWith(context, 'offset');
    const offset = wholeNumber(Number(query.get('offset') ?? 0), 'offset', 0, 1_000_000_000);
    const names = grant.everySpace && spaces.list ? await spaces.list() : [grant.space];
    const reasonOf = (error: SalienceError) => {
      const { problem, hidden } = problemOf(error);
      // The message may name files of the server, which only its operator may know.
      if (!hidden || grant.everySpace) return error.message;
      context.set('failure', error);
      return problem.detail;
    };
    const summaries: SpaceSummary[] = [];
    for (const name of names.slice(offset, offset + PAGE)) {
      summaries.push(await summaryOf(name, spaces, reasonOf));
    }
    return context.json({ spaces: summaries, total: names.length });
  });
}

/** Throws `forbidden` unless the grant has the right `admin` for the whole space. */
function administers({ rights, scopes }: Grant, what: string): void {
  if (rights === 'admin' && !scopes) return;
  throw new SalienceError(
    'forbidden',
    `${what}: only a token with the right admin, for all scopes, sees them; "salience token create --rights admin" makes one`,
  );
}

/**
 * Summarises one space. A damaged space gets a `failure` instead of an exception, so that it does not hide the others.
 */
async function summaryOf(
  name: string,
  spaces: Desk['spaces'],
  reasonOf: (error: SalienceError) => string,
): Promise<SpaceSummary> {
  try {
    const { memories, bytes, lastBackup } = await (await spaces.get(name)).stats();
    return { name, memories, bytes, lastBackup };
  } catch (error) {
    if (!SalienceError.isInstance(error)) throw error;
    return { name, failure: reasonOf(error) };
  }
}
