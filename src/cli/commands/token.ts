import { type Command, Option } from 'commander';
import { type Grant, TOKEN_RIGHTS, type TokenRights, type TokenStore } from '../../http/index.ts';
import { action, type Context } from '../context.ts';
import { isThere, sharedStore } from '../open.ts';
import { collect } from '../options.ts';
import { writeOrFail } from '../stdout.ts';
import { plainLine } from '../terminal-text.ts';
import { makeToken, tokensOf } from './serve.ts';

export const examples = [
  'salience token create --name laptop',
  'salience token create --space alice --scope project:match --rights read',
  'salience token list',
] as const;

interface CreateOptions {
  readonly name: string;
  readonly scope?: readonly string[] | undefined;
  readonly rights: TokenRights;
}

export function configure(command: Command): void {
  command
    .command('create')
    .description('make a token for --space, and show it once')
    .option('--name <name>', 'a name to recognise it by', 'default')
    .option(
      '--scope <scope>',
      'a scope that it sees with its ancestors, and writes in; repeatable (default: all)',
      collect,
    )
    .addOption(new Option('--rights <rights>', 'what it may do').choices(TOKEN_RIGHTS).default('write'))
    .action(
      action<CreateOptions, []>(async (context) => {
        const { space, name, scope: scopes, rights } = context.options;
        const exists = await isThere(context.options);
        const textOf = (token: string, grant: Grant) => {
          if (context.options.json) return JSON.stringify({ ...grant, token });
          const lines = [describe(grant), `shown this once: ${token}`];
          if (!exists) {
            const named = plainLine(JSON.stringify(space));
            lines.push(`space ${named} does not exist yet; the first write to it creates it`);
          }
          return lines.join('\n');
        };
        await withTokens(context, (tokens) =>
          makeToken(tokens, { space, name, scopes, rights }, context.now, ({ token, grant }) =>
            writeOrFail(`${textOf(token, grant)}\n`),
          ),
        );
      }),
    );
  command
    .command('list')
    .description('show what each token opens')
    .action(
      action<object, []>(async (context) => {
        const grants = await withTokens(context, (tokens) => tokens.list());
        if (context.options.json) return context.printJson(grants);
        await context.print(grants.length === 0 ? 'no tokens' : grants.map(describe).join('\n'));
      }),
    );
  command
    .command('revoke')
    .description('revoke a token; it opens nothing from then on')
    .argument('<id>', 'its id, as list shows it')
    .action(
      action<object, [string]>(async (context, id) => {
        await withTokens(context, (tokens) => tokens.revoke(id));
        if (context.options.json) return context.printJson({ id, outcome: 'revoked' });
        await context.print(`revoked ${plainLine(id)}`);
      }),
    );
}

function describe({ id, name, space, scopes, rights, createdAt }: Grant): string {
  const where = scopes ? `scopes ${scopes.join(', ')}` : 'all scopes';
  return plainLine([id, name, `space ${space}`, where, rights, createdAt].join(' · '));
}

async function withTokens<Result>(
  context: Pick<Context, 'options'>,
  work: (tokens: TokenStore) => Promise<Result>,
): Promise<Result> {
  const store = await sharedStore(context.options);
  try {
    return await work(tokensOf(context, store));
  } finally {
    await store?.close();
  }
}
