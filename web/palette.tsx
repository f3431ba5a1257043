import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { cell, useCell } from './cell.ts';
import { leave } from './kept.ts';
import { go } from './router.ts';
import { nextTheme } from './theme.ts';
import { VIEWS } from './views.ts';

/** A command of the palette. */
export interface Command {
  readonly title: string;
  /** The group it belongs to, shown beside it. */
  readonly group: string;
  run(): void;
}

const isOpen = cell(false);
/** The commands that the current view adds. */
const ofView = cell<readonly Command[]>([]);

export function openPalette(): void {
  isOpen.set(true);
}

/** Adds commands while the calling view is shown. */
export function useCommands(commands: readonly Command[], deps: readonly unknown[]): void {
  useEffect(() => {
    ofView.set(commands);
    return () => ofView.set([]);
  }, deps);
}

const ALWAYS: readonly Command[] = [
  ...VIEWS.map(({ name, title }) => ({ title, group: 'Go to', run: () => go(name) })),
  { title: 'Change theme', group: 'Page', run: nextTheme },
  { title: 'Sign out', group: 'Page', run: leave },
];

/** Returns the commands that match the text, and those that recall it as a question or open it as an id. */
function commandsFor(text: string, more: readonly Command[]): readonly Command[] {
  const wanted = text.trim().toLowerCase();
  const found = [...more, ...ALWAYS].filter(({ title }) => title.toLowerCase().includes(wanted));
  if (wanted === '') return found;
  return [
    ...found,
    { title: `Recall “${text.trim()}”`, group: 'Ask', run: () => go('recall', { q: text.trim() }) },
    { title: `Open the memory ${text.trim()}`, group: 'Id', run: () => go('memories', {}, text.trim()) },
  ];
}

export function Palette() {
  const open = useCell(isOpen);
  const more = useCell(ofView);
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        isOpen.set(!isOpen.get());
      }
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  // Before the first paint, so that keys typed at once reach the field.
  useLayoutEffect(() => {
    if (open) {
      setText('');
      setAt(0);
      dialog.current?.showModal();
    } else dialog.current?.close();
  }, [open]);
  const commands = open ? commandsFor(text, more) : [];
  useLayoutEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at, text]);
  const run = (command: Command | undefined) => {
    isOpen.set(false);
    command?.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Input methods, such as for Japanese, use these keys to choose words.
    if (event.isComposing) return;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((at + step + commands.length) % Math.max(1, commands.length));
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      run(commands[at]);
    }
    // Closed at once, because the palette may be opened again before the browser fires `close`.
    if (event.key === 'Escape') {
      event.preventDefault();
      isOpen.set(false);
    }
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Commands"
      // The browser fires this in a later task. By then the palette may be open again.
      onClose={() => dialog.current?.open || isOpen.set(false)}
      onClick={(event) => event.target === dialog.current && isOpen.set(false)}
    >
      {open && (
        <div onKeyDown={onKeyDown}>
          <input
            type="text"
            role="combobox"
            aria-expanded="true"
            aria-controls="palette-list"
            aria-activedescendant={commands.length > 0 ? `palette-${at}` : undefined}
            aria-label="Go to a view, ask, or open a memory by its id"
            placeholder="Go to a view, ask, or open a memory by its id"
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setAt(0);
            }}
          />
          <ul id="palette-list" role="listbox" aria-label="Commands">
            {commands.map((command, index) => (
              <li
                key={`${command.group} ${command.title}`}
                id={`palette-${index}`}
                role="option"
                aria-selected={index === at}
                // Only a moving pointer selects: a list that opens below a resting pointer fires this too.
                onMouseMove={({ movementX, movementY }) => (movementX || movementY) && setAt(index)}
                onClick={() => run(command)}
              >
                <span>{command.title}</span>
                <span class="quiet">{command.group}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </dialog>
  );
}
