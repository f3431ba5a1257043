import { useState } from 'preact/hooks';
import type { Memory, MemoryChanges } from '../../../src/index.ts';
import { useOnce } from '../../parts/once.ts';
import { withUndo } from '../../parts/undo.ts';
import { session } from '../../session.ts';

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

/** What was typed by id, and neither saved nor cancelled: going elsewhere and back loses nothing. */
const unsaved = new Map<string, { readonly before: Draft; readonly draft: Draft }>();
session.subscribe(() => unsaved.clear());

export function isUnsaved(id: string): boolean {
  return unsaved.has(id);
}

/** Changes what a memory says. Only what was changed is sent. */
export function Edit({ memory, close }: { readonly memory: Memory; readonly close: () => void }) {
  const { id } = memory;
  // Not the memory as it is now: what others write meanwhile is no change of the draft.
  const [before] = useState(unsaved.get(id)?.before ?? draftOf(memory));
  const [draft, setDraft] = useState(unsaved.get(id)?.draft ?? before);
  const changes = changesOf(draft, before);
  const set = (part: Partial<Draft>) => {
    const next = { ...draft, ...part };
    unsaved.set(id, { before, draft: next });
    setDraft(next);
  };
  const end = () => {
    unsaved.delete(id);
    close();
  };
  const save = useOnce(async () => {
    const saved = await withUndo(
      id,
      'update',
      () => 'Changed.',
      (engine) => engine.update(id, changes),
    );
    if (saved) end();
  });
  const text = (name: 'title' | 'type' | 'scope' | 'topicKey', title: string) => (
    <label class="field">
      <span>{title}</span>
      <input
        type="text"
        value={draft[name]}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    </label>
  );
  const lines = (name: 'content' | 'tags', title: string, rows: number) => (
    <label class="field">
      <span>{title}</span>
      <textarea
        rows={rows}
        value={draft[name]}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    </label>
  );
  const share = (name: 'importance' | 'confidence', title: string) => (
    <label class="field">
      <span>
        {title} <b class="number">{draft[name].toFixed(2)}</b>
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
      {lines('content', 'What it says', 4)}
      <div class="edit-fields">
        {text('title', 'Title')}
        {text('type', 'Type')}
        {text('scope', 'Scope')}
        {lines('tags', 'Tags, one on each line', 2)}
        {text('topicKey', 'Topic')}
        {share('importance', 'Importance')}
        {share('confidence', 'Confidence')}
      </div>
      <div class="row">
        <button type="submit" class="primary" disabled={Object.keys(changes).length === 0}>
          Save
        </button>
        <button type="button" onClick={end}>
          Cancel
        </button>
      </div>
    </form>
  );
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
      // An empty optional field is taken away.
      return [name, value === '' && (name === 'title' || name === 'topicKey') ? null : value];
    }),
  );
}
