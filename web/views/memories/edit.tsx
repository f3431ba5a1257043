import { useState } from 'preact/hooks';
import type { Memory, MemoryChanges } from '../../../src/index.ts';
import { codeOf } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { unsavedCount } from '../../kept.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { takeOver } from '../../parts/focus.ts';
import { useOnce } from '../../parts/once.ts';
import { withUndo } from '../../parts/undo.ts';
import { type Session, session, signedOutBecause } from '../../session.ts';

interface Draft {
  readonly content: string;
  readonly title: string;
  readonly type: string;
  readonly scope: string;
  readonly tags: string;
  readonly topicKey: string;
  readonly importance: number;
  readonly confidence: number;
}

function draftOf(memory: Memory): Draft {
  const { content, title = '', type, scope, tags, topicKey = '', importance, confidence } = memory;
  return { content, title, type, scope, tags: tags.join('\n'), topicKey, importance, confidence };
}

interface Editing {
  readonly before: Draft;
  readonly draft: Draft;
  /** The fields that were changed both here and by others meanwhile. `before` has the values of the others. */
  readonly both: readonly Field[];
}

type Field = keyof Draft;

/** Unsaved edits by memory id, so that leaving the view and coming back loses nothing. */
const unsaved = new Map<string, Editing>();
/** Whose memories these are. */
let spaceOfUnsaved: string | undefined;
session.subscribe(() => {
  const now = session.get();
  // A user whose session expired may sign in to the same space again and continue.
  const goesOn = now ? now.grant.space === spaceOfUnsaved : signedOutBecause.get() !== undefined;
  if (!goesOn) unsaved.clear();
  unsavedCount.set(unsaved.size);
});

export function isUnsaved(id: string): boolean {
  return unsaved.has(id);
}

function discard(id: string): void {
  unsaved.delete(id);
  unsavedCount.set(unsaved.size);
}

const TITLES: Readonly<Record<Field, string>> = {
  content: 'What it says',
  title: 'Title',
  type: 'Type',
  scope: 'Scope',
  tags: 'Tags, one on each line',
  topicKey: 'Topic',
  importance: 'Importance',
  confidence: 'Confidence',
};

/**
 * The form to edit a memory. Sends only changed fields, and never overwrites changes of others without showing them.
 */
export function Edit({ memory, close }: { readonly memory: Memory; readonly close: () => void }) {
  const { id } = memory;
  // Compared with the memory at the start of editing: later changes by others are not changes of the draft.
  const [editing, setEditing] = useState<Editing>(unsaved.get(id) ?? begun(draftOf(memory)));
  const { before, draft, both } = editing;
  const changes = changesOf(draft, before);
  const keep = (next: Editing) => {
    unsaved.set(id, next);
    spaceOfUnsaved = session.get()?.grant.space;
    unsavedCount.set(unsaved.size);
    setEditing(next);
  };
  const set = (part: Partial<Draft>) => keep({ ...editing, draft: { ...draft, ...part } });
  const take = (name: Field) =>
    keep({ before, draft: { ...draft, [name]: before[name] }, both: both.filter((each) => each !== name) });
  const end = () => {
    discard(id);
    close();
  };
  /** Continues after an answer: from the version of others, or from the saved one if more was typed meanwhile. */
  const goOn = (met?: Editing) => {
    const now = unsaved.get(id);
    // The edit was cancelled meanwhile, and perhaps started again.
    if (now?.before !== before) return;
    const typed = fieldsOf(now.draft).filter(([name, value]) => value !== draft[name]);
    const { draft: from, ...next } = met ?? begun(draft);
    if (met || typed.length > 0) keep({ ...next, draft: { ...from, ...Object.fromEntries(typed) } });
    else end();
  };
  const [save, saving] = useOnce(async () => {
    const here = session.get();
    if (!here) return;
    const saved = await withUndo(
      id,
      'update',
      (met: Editing | undefined) => {
        if (met) goOn(met);
        return met ? undefined : 'Changed.';
      },
      () => update(here, id, editing),
    );
    if (saved) goOn();
  });
  const text = (name: 'title' | 'type' | 'scope' | 'topicKey') => (
    <label class="field">
      <span>{TITLES[name]}</span>
      <input
        type="text"
        value={draft[name]}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    </label>
  );
  const lines = (name: 'content' | 'tags', rows: number) => (
    <label class="field">
      <span>{TITLES[name]}</span>
      <textarea
        ref={name === 'content' ? takeOver : null}
        rows={rows}
        value={draft[name]}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    </label>
  );
  const share = (name: 'importance' | 'confidence') => (
    <label class="field">
      <span>
        {TITLES[name]} <b class="number">{draft[name].toFixed(2)}</b>
      </span>
      <input
        type="range"
        min="0"
        max="1"
        step="0.01"
        value={draft[name]}
        onInput={(event) => set({ [name]: event.currentTarget.valueAsNumber })}
      />
    </label>
  );
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {lines('content', 4)}
      <div class="edit-fields">
        {text('title')}
        {text('type')}
        {text('scope')}
        {lines('tags', 2)}
        {text('topicKey')}
        {share('importance')}
        {share('confidence')}
      </div>
      {both.length > 0 && (
        <div class="notice stack" role="alert">
          <p>
            The memory was changed meanwhile, and nothing is saved yet. Below is what it says now. “Save”
            writes what you typed in its place.
          </p>
          {both.map((name) => (
            <div key={name} class="stack">
              <b>{TITLES[name]}</b>
              <p class="stored statement">{before[name] === '' ? 'nothing' : before[name]}</p>
              <div class="row">
                <button
                  type="button"
                  class="small"
                  aria-label={`Take this: ${TITLES[name]}`}
                  onClick={() => take(name)}
                >
                  Take this
                </button>
              </div>
            </div>
          ))}
        </div>
      )}
      <div class="row">
        <BusyButton
          type="submit"
          busy={saving !== undefined}
          class="primary"
          disabled={Object.keys(changes).length === 0}
        >
          Save
        </BusyButton>
        <button type="button" onClick={end}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** Shows the unsaved edit of a memory that was forgotten meanwhile, to copy it. */
export function Unsaved({ id }: { readonly id: string }) {
  useCell(unsavedCount);
  const editing = unsaved.get(id);
  if (!editing) return null;
  const { before, draft } = editing;
  return (
    <div class="notice stack" role="alert">
      <p>The memory was forgotten before your changes were saved. This is what you typed:</p>
      {fieldsOf(draft).map(
        ([name, value]) =>
          value !== before[name] && (
            <div key={name} class="stack">
              <b>{TITLES[name]}</b>
              <p class="stored statement">{value === '' ? 'nothing' : value}</p>
            </div>
          ),
      )}
      <div>
        <button type="button" onClick={() => discard(id)}>
          Discard it
        </button>
      </div>
    </div>
  );
}

function fieldsOf(draft: Draft) {
  return Object.entries(draft) as [Field, Draft[Field]][];
}

function begun(before: Draft): Editing {
  return { before, draft: before, both: [] };
}

/** How often a write is tried while others keep changing the memory between reading and writing. */
const ATTEMPTS = 5;

/**
 * Writes the changed fields. If others have changed the same fields meanwhile, writes nothing and returns the state to
 * continue editing with.
 */
async function update(
  { transport }: Session,
  id: string,
  { before, draft }: Editing,
): Promise<Editing | undefined> {
  const changed = (Object.keys(draft) as Field[]).filter((name) => draft[name] !== before[name]);
  for (let attempt = 1; ; attempt++) {
    let ifMatch: string | undefined;
    const tagged = (etag: string) => {
      ifMatch = etag;
    };
    const now = draftOf(await transport.ask<Memory>('get', { id }, { tagged }));
    const both = changed.filter((name) => now[name] !== before[name] && now[name] !== draft[name]);
    if (both.length > 0) {
      const mine = Object.fromEntries(changed.map((name) => [name, draft[name]]));
      return { before: now, draft: { ...now, ...mine }, both };
    }
    try {
      await transport.ask('update', { id, ...changesOf(draft, before) }, { ifMatch });
      return undefined;
    } catch (error) {
      // Changed between reading and writing, so it is read again.
      if (codeOf(error) !== 'precondition_failed' || attempt === ATTEMPTS) throw error;
    }
  }
}

function changesOf(draft: Draft, before: Draft): MemoryChanges {
  const changed = Object.entries(draft).filter(([name, value]) => before[name as keyof Draft] !== value);
  return Object.fromEntries(
    changed.map(([name, value]) => {
      if (name === 'tags')
        return [
          name,
          String(value)
            .split('\n')
            .map((tag) => tag.trim())
            .filter(Boolean),
        ];
      // An empty optional field is removed.
      return [name, value === '' && (name === 'title' || name === 'topicKey') ? null : value];
    }),
  );
}
