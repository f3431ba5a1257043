import { redactPrivate } from '../domain/redaction.ts';
import { type GitCommit, readGitHistory } from '../files/git-history.ts';
import { splitLong } from '../files/plain-text.ts';
import { fitAuthor, fitText, fitTitle } from './fit.ts';
import {
  type ImportItem,
  type ImportSource,
  joinTags,
  MAX_CONTENT_BYTES,
  type SourceOptions,
  stableId,
} from './item.ts';

/** How many of its files the memory of a commit lists. */
const MAX_FILES = 50;

/**
 * Opens the history of the checked-out branch, newest first, as one memory per commit with the id `git:` and the hash.
 * A commit that is too long for one memory becomes several.
 */
export function openGitHistory(directory: string, options: SourceOptions): ImportSource {
  const items = async function* (): AsyncGenerator<ImportItem, void> {
    for await (const commit of readGitHistory(directory, { signal: options.signal })) {
      yield* commitItems(commit, options);
    }
  };
  return { items: items(), share: () => undefined };
}

function commitItems(commit: GitCommit, options: SourceOptions): readonly ImportItem[] {
  const whole = `git:${commit.hash}`;
  const lost: ImportItem[] = [];
  const described = fitText(describe(commit), (what) => lost.push({ kind: 'left-out', what }));
  const pieces = splitLong(redactPrivate(described), MAX_CONTENT_BYTES);
  const statements = pieces.map(
    (content, part): ImportItem => ({
      kind: 'statement',
      where: `commit ${commit.hash.slice(0, 12)}`,
      input: {
        id: part === 0 ? whole : stableId('git', [commit.hash, part]),
        title: fitTitle(fitText(commit.subject, () => {})),
        content,
        type: 'event',
        scope: options.scope,
        tags: joinTags([], options.tags),
        createdAt: commit.at,
        author: fitAuthor(fitText(commit.author, () => {})),
        source: 'imported',
        sourceRef: whole,
      },
    }),
  );
  return [...statements, ...lost];
}

function describe({ hash, subject, body, files }: GitCommit): string {
  const named = files.slice(0, MAX_FILES).join(', ');
  const more = files.length > MAX_FILES ? ` and ${files.length - MAX_FILES} more` : '';
  const parts = [subject, body, files.length > 0 ? `Files: ${named}${more}` : ''].filter(
    (part) => part !== '',
  );
  return parts.length > 0 ? parts.join('\n\n') : `Commit ${hash}`;
}
