import { useState } from 'preact/hooks';
import { useCell } from './cell.ts';
import { unsavedCount } from './kept.ts';
import { BusyButton } from './parts/busy-button.tsx';
import { useOnce } from './parts/once.ts';
import { signedOutBecause, signIn } from './session.ts';

/** The sign-in page: a token of this server opens its space. */
export function SignIn() {
  const because = useCell(signedOutBecause);
  const unsaved = useCell(unsavedCount);
  const [token, setToken] = useState('');
  const [error, setError] = useState<string>();
  const [enter, entering] = useOnce(() =>
    signIn(token.trim()).catch((failure: Error) => setError(failure.message)),
  );
  const submit = (event: Event) => {
    event.preventDefault();
    enter();
  };
  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit}>
        <img src="./icon.svg" alt="" width="32" height="32" />
        <h1>Salience inspector</h1>
        {because && (
          <p class="notice" role="status">
            {because}
          </p>
        )}
        {unsaved > 0 && (
          <p class="notice">
            What you typed and did not save is kept in this page. Sign in here, to the same space, to go on.
          </p>
        )}
        <p>
          Run <code>salience inspect</code>, which opens this page signed in. Or sign in with a token of this
          server; <code>salience token create</code> makes one.
        </p>
        <label class="field">
          <span>Token</span>
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
            placeholder="salience_…"
          />
        </label>
        {error && (
          <p class="failure-text" role="alert">
            {error}
          </p>
        )}
        <BusyButton
          type="submit"
          busy={entering !== undefined}
          class="primary"
          disabled={token.trim() === ''}
        >
          Sign in
        </BusyButton>
        <p class="quiet">The token stays in this tab, and is gone when you close it.</p>
      </form>
    </main>
  );
}
