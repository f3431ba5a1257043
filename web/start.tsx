import './design/tokens.css';
import './design/base.css';
import './design/shell.css';
import './design/parts.css';
import './design/print.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { Loading } from './parts/states.tsx';
import { keepPosition } from './scroll.ts';
import { signedOutBecause, start } from './session.ts';
import { applyTheme } from './theme.ts';

/** Signs in, with the code if there is one, and shows the page. */
export async function startPage(code: string | undefined): Promise<void> {
  applyTheme();
  keepPosition();
  const app = document.getElementById('app') as HTMLElement;
  render(<Loading />, app);
  await start(code).catch((error: Error) => signedOutBecause.set(error.message));
  render(<App />, app);
}
