import { type DocumentFormat, partsOfList, partsOfOther } from './document-format.ts';
import {
  type Fields,
  fieldsOf,
  idOf,
  isFields,
  isThere,
  listOf,
  metadataOf,
  textOf,
  timeOf,
} from './fields.ts';
import { foreignStatements, type ImportItem, type SourceOptions, stableId, unusable } from './item.ts';

/**
 * Our types by those of engram. Here only sessions write the type `summary`, so the summary of a session is an event.
 */
const types: ReadonlyMap<string, string> = new Map([
  ['architecture', 'decision'],
  ['bugfix', 'learning'],
  ['config', 'fact'],
  ['decision', 'decision'],
  ['discovery', 'discovery'],
  ['learning', 'learning'],
  ['passive', 'learning'],
  ['pattern', 'pattern'],
  ['preference', 'preference'],
  ['session_summary', 'event'],
  ['tool_use', 'event'],
  ['file_change', 'event'],
  ['command', 'event'],
  ['file_read', 'event'],
  ['search', 'event'],
]);

/**
 * The output of `engram export`: sessions, observations and prompts, as in ExportData of
 * github.com/Gentleman-Programming/engram, internal/store/store.go. The records of a project go into the scope of that
 * project, below the scope of the import.
 */
export const engram: DocumentFormat = {
  holds: 'the export of engram, with "sessions", "observations" and "prompts"',
  recognises: (document) => {
    const fields = fieldsOf(document);
    return ['sessions', 'observations', 'prompts'].every((each) => each in fields);
  },
  partsOf(document) {
    const { sessions, observations, prompts } = fieldsOf(document);
    // engram writes null if there are none.
    if (observations !== null && !Array.isArray(observations)) return undefined;
    return [
      ...partsOfList(listOf(observations), 'observations', readObservation),
      ...partsOfOther(sessions, 'sessions', readSession),
      ...partsOfOther(prompts, 'prompts', readPrompt),
    ];
  },
};

function readObservation(value: unknown, where: string, options: SourceOptions): readonly ImportItem[] {
  if (!isFields(value)) return [unusable(where, 'is not an object')];
  if (textOf(value['deleted_at']) !== undefined) return [{ kind: 'left-out', what: 'deleted records' }];
  const content = textOf(value['content']);
  if (content === undefined) return [unusable(where, 'has no content')];
  const own = textOf(value['type']);
  const type = types.get(own ?? '') ?? 'fact';
  return foreignStatements(
    {
      ...common(value, 'observation', where, options),
      type,
      role: 'assistant',
      title: textOf(value['title']),
      content,
      tags: [
        ...(own === undefined || own === type || own === 'manual' ? [] : [own]),
        ...(value['pinned'] === true ? ['pinned'] : []),
      ],
      ...metadataOf({
        project: value['project'],
        tool: value['tool_name'],
      }),
      topicKey: textOf(value['topic_key']),
      sessionId: idOf(value['session_id']),
      createdAt: timeOf(value['created_at']),
      updatedAt: timeOf(value['updated_at']),
      expiresAt: timeOf(value['expires_at']),
    },
    options,
  );
}

function readSession(value: unknown, where: string, options: SourceOptions): readonly ImportItem[] {
  if (!isFields(value)) return [unusable(where, 'is not an object')];
  const { summary } = value;
  const content = textOf(summary);
  if (content === undefined) {
    return isThere(summary) && typeof summary !== 'string'
      ? [unusable(where, 'has a summary that is not a string')]
      : [];
  }
  const id = idOf(value['id']);
  return foreignStatements(
    {
      ...common(value, 'session', where, options),
      type: 'event',
      role: 'assistant',
      content,
      tags: ['session_summary'],
      ...metadataOf({ project: value['project'] }),
      sessionId: id,
      createdAt: timeOf(value['ended_at']) ?? timeOf(value['started_at']),
    },
    options,
  );
}

function readPrompt(value: unknown, where: string, options: SourceOptions): readonly ImportItem[] {
  if (!isFields(value)) return [unusable(where, 'is not an object')];
  const content = textOf(value['content']);
  if (content === undefined) return [unusable(where, 'has no content')];
  return foreignStatements(
    {
      ...common(value, 'prompt', where, options),
      type: 'event',
      role: 'user',
      content,
      tags: ['prompt'],
      ...metadataOf({ project: value['project'] }),
      sessionId: idOf(value['session_id']),
      createdAt: timeOf(value['created_at']),
    },
    options,
  );
}

/** Prefers the sync id, which is the same on every machine. A plain id is only unique on one machine. */
function common(value: Fields, kind: string, where: string, options: SourceOptions) {
  const id = textOf(value['sync_id']) ?? idOf(value['id']);
  return {
    system: 'engram',
    where,
    key: textOf(value['sync_id'])
      ? [kind, id]
      : [kind, id ?? textOf(value['content']), idOf(value['session_id']), textOf(value['created_at'])],
    reference: id && `${kind}/${id}`,
    scope: scopeOf(value, options),
  };
}

const LONGEST_SLUG = 64;

/** Returns the scope of a record: that of its project, unless engram gives it another scope, such as `personal`. */
function scopeOf(value: Fields, options: SourceOptions): string | undefined {
  const name = textOf(value['project']);
  if (name === undefined || /^\.{1,2}$/.test(name)) return options.scope;
  const slug = name.slice(0, LONGEST_SLUG).replace(/[^A-Za-z0-9._-]+/g, '-');
  // Names in other scripts, and long names with the same beginning, would get the same slug.
  const isWhole = name.length <= LONGEST_SLUG && /^[A-Za-z0-9._ -]+$/.test(name);
  const project = isWhole ? slug : `${slug}-${stableId('engram', [name]).slice(-8)}`;
  if ((textOf(value['scope']) ?? 'project') !== 'project') return options.scope;
  const above = options.scope === undefined || options.scope === 'global' ? '' : `${options.scope}/`;
  return `${above}project:${project}`;
}
