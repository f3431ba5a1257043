import { useState } from 'preact/hooks';
import { useAsk } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { All } from '../../parts/all.tsx';
import { GoThere } from '../../parts/go-there.tsx';
import { sizeOf } from '../../parts/size.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { ago, moment } from '../../parts/time.ts';
import { type Grant, goesAnywhere, session } from '../../session.ts';

interface SpaceSummary {
  readonly name: string;
  readonly memories?: number;
  readonly bytes?: number;
  readonly lastBackup?: string;
  readonly failure?: string;
}

interface SpacesPage {
  readonly spaces: readonly SpaceSummary[];
  readonly total: number;
}

/** The tokens and spaces of the server, as far as this session administers them. */
export function Administration() {
  const signedIn = useCell(session);
  if (!signedIn?.isAdmin) {
    return (
      <section class="stack">
        <h2>Administration</h2>
        <p class="quiet">
          The tokens and spaces of the server are for a token of the whole space with the right <b>admin</b>:{' '}
          <code>salience token create --rights admin</code>
        </p>
      </section>
    );
  }
  return (
    <>
      <Tokens />
      <Spaces />
    </>
  );
}

function Tokens() {
  const { answer, error, reload } = useAsk(
    (_, signal) => askPath<{ readonly tokens: readonly Grant[] }>('/v1/tokens', signal),
    [],
  );
  return (
    <section class="stack">
      <h2>
        Tokens <span class="quiet count">{answer?.tokens.length}</span>
      </h2>
      {error ? <Failure error={error} retry={reload} /> : !answer && <Loading />}
      {answer?.tokens.length === 0 && (
        <p class="quiet">
          None: nobody comes in over the network. <code>salience token create</code> makes one.
        </p>
      )}
      {answer && answer.tokens.length > 0 && (
        <>
          <ul class="lines heaped">
            {answer.tokens.map(({ id, name, space, scopes, rights, createdAt }) => (
              <li key={id}>
                <span class="row">
                  <b class="stored">{name}</b>
                  <span class={rights === 'admin' ? 'tag warn' : 'tag'}>{rights}</span>
                  <span class="quiet stored">
                    {space} · {scopes ? scopes.join(', ') : 'all scopes'}
                  </span>
                </span>
                <span class="row quiet minor-facts">
                  <code>{id}</code>
                  <time dateTime={createdAt} title={moment(createdAt)}>
                    made {ago(createdAt)}
                  </time>
                </span>
              </li>
            ))}
          </ul>
          <p class="quiet">
            <code>salience token revoke ID</code> revokes one at once. What a token is stands nowhere: it was
            shown when it was made.
          </p>
        </>
      )}
    </section>
  );
}

function Spaces() {
  const [pages, setPages] = useState(1);
  const { answer, error, reload } = useAsk(
    async (_, signal) => {
      const found: SpaceSummary[] = [];
      let total = 0;
      do {
        const page = await askPath<SpacesPage>(`/v1/spaces?offset=${found.length}`, signal);
        if (page.spaces.length === 0) break;
        found.push(...page.spaces);
        total = page.total;
      } while (found.length < Math.min(total, pages * PAGE));
      return { spaces: found, total };
    },
    [pages],
  );
  const signedIn = useCell(session);
  const here = signedIn?.grant.space;
  const mayGo = signedIn !== undefined && goesAnywhere(signedIn);
  return (
    <section class="stack">
      <h2>
        Spaces <span class="quiet count">{answer?.total.toLocaleString('en')}</span>
      </h2>
      {error ? <Failure error={error} retry={reload} /> : !answer && <Loading />}
      <ul class="lines heaped">
        {answer?.spaces.map(({ name, memories, bytes, lastBackup, failure }) => (
          <li key={name}>
            <span class="row">
              <b class="stored">{name}</b>
              {name === here ? (
                <span class="tag good">this one</span>
              ) : (
                mayGo && failure === undefined && <GoThere space={name} />
              )}
            </span>
            {failure === undefined ? (
              <span class="row quiet minor-facts">
                <span>{memories?.toLocaleString('en')} memories</span>
                <span>{sizeOf(bytes ?? 0)}</span>
                <span>
                  {lastBackup === undefined ? (
                    'no known backup'
                  ) : (
                    <time dateTime={lastBackup} title={moment(lastBackup)}>
                      backup {ago(lastBackup)}
                    </time>
                  )}
                </span>
              </span>
            ) : (
              <span class="failure-text stored">{failure}</span>
            )}
          </li>
        ))}
      </ul>
      {answer && answer.spaces.length < answer.total ? (
        <div>
          <button type="button" onClick={() => setPages(pages + 1)}>
            Show more
          </button>
        </div>
      ) : (
        pages > 1 && <All />
      )}
    </section>
  );
}

/** The page size of the server. */
const PAGE = 20;

function askPath<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
  const signedIn = session.get();
  if (!signedIn) throw new Error('sign in first');
  return signedIn.transport.askPath<Answer>(path, { signal });
}
