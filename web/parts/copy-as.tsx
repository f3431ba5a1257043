import { useEffect, useRef, useState } from 'preact/hooks';
import { requestOf } from '../../src/client/routes.ts';
import { type VerbName, verbEntry } from '../../src/domain/verbs.ts';
import { SERVER, session } from '../session.ts';
import { commandOf, shell } from './command.ts';
import { tell, tellFailure } from './toast.tsx';

type Fields = Readonly<Record<string, unknown>>;

/** Offers what is shown as a command, a request, a program, or the answer itself. */
export function CopyAs({
  verb,
  fields,
  answer,
}: {
  readonly verb: VerbName;
  /** The arguments of the verb by their names. */
  readonly fields: Fields;
  readonly answer?: unknown;
}) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    const close = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [open]);
  const copy = (name: string, text: string) => {
    setOpen(false);
    navigator.clipboard.writeText(text).then(() => tell(`Copied as ${name}.`), tellFailure);
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
    <div class="menu" ref={box} onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
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

/** With the token named as a variable: it is a secret, and what is copied ends up in histories. */
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
    ...takes.map((name) => JSON.stringify(fields[name])),
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
