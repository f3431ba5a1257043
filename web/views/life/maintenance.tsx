import { useState } from 'preact/hooks';
import type { MaintenanceReport } from '../../../src/index.ts';
import { act, look } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { CopyAs } from '../../parts/copy-as.tsx';
import { useOnce } from '../../parts/once.ts';
import { tell, tellFailure } from '../../parts/toast.tsx';
import { href } from '../../router.ts';
import { session } from '../../session.ts';

const SHOWN = 20;

/** Previews maintenance, and runs it after the preview. */
export function Maintenance() {
  const signedIn = useCell(session);
  const [report, setReport] = useState<MaintenanceReport>();
  const [run, running] = useOnce(async (dryRun: boolean) => {
    const here = session.get()?.memory;
    try {
      const done = await (dryRun ? look : act)((memory) => memory.maintain({ dryRun }));
      setReport(dryRun ? done : undefined);
      const undo = done.run === undefined ? {} : { run: done.run };
      for (const reason of new Set(done.failures))
        tellFailure(new Error(`The language model failed: ${reason}`));
      if (!dryRun) {
        tell(
          'Maintenance is done.',
          done.run === undefined ? undefined : () => act((memory) => memory.undo(undo), here),
        );
      }
    } catch (error) {
      tellFailure(error);
    }
  });
  return (
    <section class="stack">
      <div class="row spread">
        <h2>Maintenance</h2>
        <CopyAs verb="maintain" fields={{ dryRun: true }} answer={report} />
      </div>
      {!signedIn?.canWrite ? (
        <p class="quiet">This session may only read: it cannot run maintenance.</p>
      ) : signedIn.grant.scopes ? (
        <p class="quiet">This session sees some scopes alone: it cannot run maintenance.</p>
      ) : report === undefined ? (
        <div>
          <BusyButton takesOver busy={running !== undefined} onClick={() => run(true)}>
            What would it do?
          </BusyButton>
        </div>
      ) : (
        <>
          <Report report={report} />
          {report.expired.length > 0 && (
            <p class="notice">What has expired is forgotten for good. All else can be undone.</p>
          )}
          <div class="row">
            <BusyButton takesOver busy={running !== undefined} class="primary" onClick={() => run(false)}>
              Do it
            </BusyButton>
            <button type="button" disabled={running !== undefined} onClick={() => setReport(undefined)}>
              Close
            </button>
          </div>
        </>
      )}
    </section>
  );
}

function Report({ report }: { readonly report: MaintenanceReport }) {
  const { fading, examined, compared, cooled, archived, expired, similarPairs, toJudge = [] } = report;
  const groups = [
    ['would become cold', cooled],
    ['would be archived: a stub stays, the text is in the history', archived],
    ['have expired, and would be forgotten', expired],
    ['may contradict another one', similarPairs.map(({ newer }) => newer)],
    ['would be judged by the language model', toJudge.map(({ newer }) => newer)],
  ] as const;
  return (
    <div class="stack">
      <p class="quiet">
        {examined.toLocaleString('en')} memories were looked at, {compared.toLocaleString('en')} of them
        compared with others.
        {fading === 'off' && ' This space does not fade: nothing becomes cold.'}
      </p>
      {groups.every(([, ids]) => ids.length === 0) && <p>It would change nothing.</p>}
      {groups.map(
        ([title, ids]) =>
          ids.length > 0 && (
            <details key={title}>
              <summary>
                <b class="number">{ids.length.toLocaleString('en')}</b> {title}
              </summary>
              <ul class="days">
                {ids.slice(0, SHOWN).map((id, index) => (
                  <li key={`${index}`}>
                    <a class="stored" href={href('memories', {}, id)}>
                      <code>{id}</code>
                    </a>
                  </li>
                ))}
                {ids.length > SHOWN && <li class="quiet">and {ids.length - SHOWN} more</li>}
              </ul>
            </details>
          ),
      )}
    </div>
  );
}
