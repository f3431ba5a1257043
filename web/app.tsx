import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { reachable } from './api.ts';
import { useCell } from './cell.ts';
import { forgetLabels, leave, leaving } from './kept.ts';
import { openPalette, Palette } from './palette.tsx';
import { forgetFocus } from './parts/focus.ts';
import { GoThere } from './parts/go-there.tsx';
import { Icon } from './parts/icon.tsx';
import { loadPart } from './parts/load.ts';
import { Sheet } from './parts/sheet.tsx';
import { Failure, Loading } from './parts/states.tsx';
import { Toasts } from './parts/toast.tsx';
import { Unread } from './parts/unread.tsx';
import { href, useRoute } from './router.ts';
import { goesAnywhere, lookFrom, type Session, session, signOut } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { nextTheme, theme } from './theme.ts';
import { VIEWS, type View } from './views.ts';

export function App() {
  const signedIn = useCell(session);
  return signedIn ? <Shell key={`${signedIn.grant.id} ${signedIn.scope}`} signedIn={signedIn} /> : <SignIn />;
}

function Shell({ signedIn }: { readonly signedIn: Session }) {
  const { grant, canWrite } = signedIn;
  const { view: name, params } = useRoute();
  const view = VIEWS.find((each) => each.name === name) ?? (VIEWS[0] as View);
  const online = useCell(reachable);
  const look = useCell(theme);
  const elsewhere = params.get('space');
  useEffect(() => {
    // No text of a memory: the history of the browser keeps titles, also of what is forgotten later.
    document.title = `${view.title} · ${grant.space} · Salience`;
    // On narrow screens the navigation is a scrolling row, and the current view may be out of sight.
    document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [view, grant]);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={focusMain}>
        Skip to content
      </button>
      <header class="side">
        <div class="brand">
          <img src="./icon.svg" alt="" width="22" height="22" />
          <span class="space-name" title={`space ${grant.space}`}>
            {grant.space}
          </span>
          {!canWrite && <span class="tag">read-only</span>}
        </div>
        {signedIn.scope !== undefined && <Viewpoint scope={signedIn.scope} scopes={grant.scopes ?? []} />}
        <button type="button" class="search-button" onClick={openPalette}>
          <Icon path="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.6 10.6 14 14" />
          <span>Go to…</span>
          <kbd>{COMMAND_K}</kbd>
        </button>
        <nav aria-label="Views">
          {VIEWS.map((each) => (
            <a
              key={each.name}
              href={href(each.name)}
              aria-current={each === view ? 'page' : undefined}
              title={each.title}
            >
              <Icon path={each.icon} />
              <span>{each.title}</span>
            </a>
          ))}
        </nav>
        <div class="side-end">
          <button type="button" class="ghost" onClick={nextTheme} title="Change between light and dark">
            Theme: {look}
          </button>
          <button type="button" class="ghost" onClick={leave}>
            Sign out
          </button>
        </div>
      </header>
      {!online && (
        <p class="banner" role="alert">
          The server cannot be reached. This page goes on as soon as it answers again.
        </p>
      )}
      {elsewhere && elsewhere !== grant.space && (
        <p class="banner" role="status">
          This link is to the space {elsewhere}; you are signed in to {grant.space}.{' '}
          {goesAnywhere(signedIn) && <GoThere space={elsewhere} />}
        </p>
      )}
      <main id="main" tabIndex={-1}>
        <Unread what="view" value={name} known={VIEWS.map((each) => each.name)} instead={view.name} />
        <Lazy key={view.name} view={view} />
      </main>
      <Palette />
      <Leaving space={grant.space} />
      <Toasts />
    </div>
  );
}

interface ViewpointProps {
  readonly scope: string;
  readonly scopes: readonly string[];
}

/** Chooses from which of its scopes a token of several looks: a recall, a list or a graph is that of one scope. */
function Viewpoint({ scope, scopes }: ViewpointProps) {
  return (
    <label class="field">
      <span>Seen from the scope</span>
      <select value={scope} onChange={({ currentTarget }) => lookFrom(currentTarget.value)}>
        {scopes.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The dialog on signing out that asks whether to keep the labels of the space in this browser. */
function Leaving({ space }: { readonly space: string }) {
  const count = useCell(leaving);
  const close = () => leaving.set(0);
  if (count === 0) return null;
  const end = () => {
    close();
    signOut();
  };
  return (
    <Sheet title="Sign out" close={close}>
      <p>
        This browser keeps your labels of {count} {count === 1 ? 'question' : 'questions'}. Remove them where
        others use it too; Recall, Labels saves them as a dataset.
      </p>
      <div class="row">
        <button type="button" class="primary" onClick={end}>
          Keep them, and sign out
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            forgetLabels(space);
            end();
          }}
        >
          Remove them, and sign out
        </button>
      </div>
    </Sheet>
  );
}

const COMMAND_K = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';

function focusMain(): void {
  document.getElementById('main')?.focus();
}

/** Shows a view, which is loaded when it is first opened. An error in it does not affect the rest of the page. */
function Lazy({ view }: { readonly view: View }) {
  const [Loaded, setLoaded] = useState<ComponentType>();
  const [missing, setMissing] = useState<Error>();
  const [broken, reset] = useErrorBoundary();
  useEffect(() => {
    forgetFocus();
    loadPart(view.name, view.load).then((module) => setLoaded(() => module.default), setMissing);
  }, [view]);
  if (broken) return <Failure error={broken} retry={reset} />;
  if (missing) return <Failure error={missing} retry={() => location.reload()} />;
  return Loaded ? <Loaded /> : <Loading />;
}
