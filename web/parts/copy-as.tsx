import { useEffect, useRef, useState } from 'preact/hooks';
import { requestOf } from '../../src/client/routes.ts';
import { type VerbName, verbEntry } from '../../src/domain/verbs.ts';
import { fieldsSent, SERVER, session } from '../session.ts';
import { commandOf, shell } from './command.ts';
import { tell, tellFailure } from './toast.tsx';

type Fields = Readonly<Record<string, unknown>>;

/** A menu that copies the current request as a command, an HTTP request or a program, or copies the answer. */
export function CopyAs({
  verb,
  fields: asked,
  answer,
}: {
  readonly verb: VerbName;
  /** The arguments of the verb by their names. */
  readonly fields: Fields;
  readonly answer?: unknown;
}) {
  const fields = fieldsSent(verb, asked);
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    const close = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [open]);
  // The focused item disappears with the menu.
  const shut = () => {
    setOpen(false);
    opener.current?.focus();
  };
  const copy = (name: string, text: string) => {
    shut();
    copyText(text).then(() => tell(`Copied as ${name}.`), tellFailure);
  };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const command = commandOf(verb, given, session.get()?.grant.space);
  const forms: readonly (readonly [string, () => string])[] = [
    ...(command === undefined ? [] : [['CLI', () => command] as const]),
    ['curl', () => curlOf(verb, given)],
    ['TypeScript', () => programOf(verb, given)],
    ['JSON', () => JSON.stringify(answer ?? given, undefined, 2)],
  ];
  return (
    <div class="menu" ref={box} onKeyDown={(event) => open && event.key === 'Escape' && shut()}>
      <button ref={opener} type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        Copy as
      </button>
      {open && (
        <ul>
          {forms.map(([name, text]) => (
            <li key={name}>
              <button type="button" onClick={() => copy(name, text())}>
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Browsers offer `navigator.clipboard` only on HTTPS and localhost. Elsewhere a selection is copied. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!copied)
    throw new Error('Nothing was copied: the browser does not let this page copy. Open it over HTTPS.');
}

/** Returns a curl command with the token as a variable: it is a secret, and copied commands end up in histories. */
function curlOf(verb: VerbName, fields: Fields): string {
  const { method, path, body } = requestOf(verb, fields);
  return [
    `curl -X ${method} ${shell(`${SERVER}${path}`)}`,
    `-H "authorization: Bearer $SALIENCE_TOKEN"`,
    ...(body === undefined ? [] : [`-H 'content-type: application/json'`, `-d ${shell(body)}`]),
  ].join(' \\\n  ');
}

function programOf(verb: VerbName, fields: Fields): string {
  const { takes = [], method = verb } = verbEntry(verb);
  const options = Object.fromEntries(Object.entries(fields).filter(([name]) => !takes.includes(name)));
  const args = [
    // A missing argument, such as the query of a recall without one, keeps its position.
    ...takes.map((name) => JSON.stringify(fields[name]) ?? 'undefined'),
    ...(Object.keys(options).length === 0 ? [] : [JSON.stringify(options, undefined, 2)]),
  ];
  return [
    `import { connectMemory } from 'salience/client';`,
    '',
    `const token = process.env.SALIENCE_TOKEN ?? '';`,
    `await using memory = await connectMemory({ url: ${JSON.stringify(SERVER)}, token });`,
    `console.log(await memory.${method}(${args.join(', ')}));`,
  ].join('\n');
}
