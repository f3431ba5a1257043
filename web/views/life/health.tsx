import { useState } from 'preact/hooks';
import type { Health as Report } from '../../../src/index.ts';
import { act, useAsk } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { CopyAs } from '../../parts/copy-as.tsx';
import { useOnce } from '../../parts/once.ts';
import { sizeOf } from '../../parts/size.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { ago, moment } from '../../parts/time.ts';
import { tellFailure } from '../../parts/toast.tsx';
import { href } from '../../router.ts';
import { session } from '../../session.ts';

/** So many scopes are listed. */
const SCOPES = 50;
const RIGHTS = { read: 'read', write: 'read and write', admin: 'do everything' } as const;

/** Shown if no backup is recorded. A database is backed up by its own tools, which leave no record. */
const UNKNOWN = (
  <>
    none known; <code>salience backup</code> copies a file and notes it, a PostgreSQL database is copied by
    its own means
  </>
);

/** The size of the space, the embedder and index in use, and the problems found. */
export function Health() {
  const { answer, error, reload } = useAsk((memory, signal) => memory.stats({ signal }), []);
  const grant = useCell(session)?.grant;
  const [report, setReport] = useState<Report>();
  const [check, checking] = useOnce(() => act((memory) => memory.health()).then(setReport, tellFailure));
  if (error) return <Failure error={error} retry={reload} />;
  if (!answer) return <Loading />;
  const { memories, vectors, links, pendingPairs, sequence, bytes, embedding, analyzer } = answer;
  const { schemaVersion, settings, lastBackup } = answer;
  const scopes = Object.entries(answer.byScope).sort(([, a], [, b]) => b - a);
  const number = (value: number) => value.toLocaleString('en');
  const rows = [
    ['memories', number(memories)],
    ['links', number(links)],
    ['size', sizeOf(bytes)],
    ['writes', number(sequence)],
    ['embedder', embedding ? `${embedding.model}, ${embedding.dimensions} dimensions` : 'none yet'],
    ['vectors', number(vectors)],
    ['analyzer', analyzer ?? 'none yet'],
    ['fading', settings.fading.mode],
    ['time zone', settings.timeZone],
    ['schema', String(schemaVersion)],
    ['last backup', lastBackup ? <time title={moment(lastBackup)}>{ago(lastBackup)}</time> : UNKNOWN],
  ] as const;
  return (
    <section class="stack">
      <div class="row spread">
        <h2>Health</h2>
        <CopyAs verb="stats" fields={{}} answer={answer} />
      </div>
      <dl class="facts-list">
        {rows.map(([name, value]) => [
          <dt key={`${name} t`}>{name}</dt>,
          <dd key={`${name} d`} class="stored">
            {value}
          </dd>,
        ])}
      </dl>
      <details>
        <summary>
          {number(scopes.length)} {scopes.length === 1 ? 'scope' : 'scopes'}
        </summary>
        <ul class="days">
          {scopes.slice(0, SCOPES).map(([scope, count]) => (
            <li key={scope} class="row">
              <a class="stored" href={href('memories', { inScope: scope })}>
                {scope}
              </a>
              <span class="number quiet">{number(count)}</span>
            </li>
          ))}
          {scopes.length > SCOPES && <li class="quiet">and {number(scopes.length - SCOPES)} more</li>}
        </ul>
      </details>
      <p class="quiet">
        Signed in by the token <b class="stored">{grant?.name}</b>, which may{' '}
        {RIGHTS[grant?.rights ?? 'read']} in {grant?.scopes ? grant.scopes.join(', ') : 'all scopes'}.
      </p>
      {pendingPairs > 0 && (
        <p>
          <a href={href('conflicts')}>{number(pendingPairs)} conflicts</a> wait for a decision.
        </p>
      )}
      <div class="stack" role="status">
        {report?.problems.map((problem) => (
          <p key={problem} class="notice bad stored">
            <b>Problem:</b> {problem}
          </p>
        ))}
        {report?.warnings.map((warning) => (
          <p key={warning} class="notice stored">
            <b>Warning:</b> {warning}
          </p>
        ))}
        {report?.problems.length === 0 && (
          <p>
            <span class="tag good">The store is sound{report.embedder && ', and the embedder answers'}.</span>
          </p>
        )}
      </div>
      <div>
        <BusyButton busy={checking !== undefined} onClick={() => check()}>
          Check the store
        </BusyButton>
      </div>
    </section>
  );
}
