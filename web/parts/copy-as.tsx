import { useEffect, useRef, useState } from 'preact/hooks';
import { requestOf } from '../../src/client/routes.ts';
import type { Argument, Arguments } from '../../src/domain/arguments.ts';
import { toolNameOf, type VerbName, verbEntry } from '../../src/domain/verbs.ts';
import { SERVER } from '../session.ts';
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
  return (
    <div class="menu" ref={box} onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        Copy as
      </button>
      {open && (
        <ul>
          {[
            ['CLI', () => commandOf(verb, given)] as const,
            ['curl', () => curlOf(verb, given)] as const,
            ['TypeScript', () => programOf(verb, given)] as const,
            ['JSON', () => JSON.stringify(answer ?? given, undefined, 2)] as const,
          ].map(([name, text]) => (
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

/** The command line of a verb: what stands by position, then options as the table of verbs names them. */
export function commandOf(verb: VerbName, fields: Fields): string {
  const { takes = [], arguments: all = {} } = verbEntry(verb);
  const positions = takes
    .filter((name) => fields[name] !== undefined)
    .map((name) => shell(String(fields[name])));
  const options = Object.entries(fields).flatMap(([name, value]) => {
    const argument = (all as Arguments)[name];
    return takes.includes(name) || !argument ? [] : optionsOf(argument, value);
  });
  return ['salience', toolNameOf(verb).replaceAll('_', '-'), ...positions, ...options].join(' ');
}

function optionsOf({ option }: Argument, value: unknown): readonly string[] {
  const flags = typeof option === 'string' ? option : option?.[0];
  const [flag] = flags?.match(/--[\w-]+/) ?? [];
  if (flags === undefined || flag === undefined) return [];
  if (typeof value === 'boolean') return value === !flag.startsWith('--no-') ? [flag] : [];
  if (Array.isArray(value)) return value.map((each) => `${flag} ${shell(String(each))}`);
  if (typeof value === 'object' && value !== null) {
    return leaves(value as Fields).map(([name, each]) => `${flag} ${shell(`${name}=${String(each)}`)}`);
  }
  return [`${flag} ${shell(String(value))}`];
}

function leaves(value: Fields, path = ''): readonly (readonly [string, unknown])[] {
  return Object.entries(value).flatMap(([name, each]) =>
    typeof each === 'object' && each !== null
      ? leaves(each as Fields, `${path}${name}.`)
      : [[`${path}${name}`, each] as const],
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

function shell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
