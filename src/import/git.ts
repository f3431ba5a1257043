import { redactPrivate } from '../domain/redaction.ts';
import { type GitCommit, readGitHistory } from '../files/git-history.ts';
import { splitLong } from '../files/plain-text.ts';
import { fitAuthor, fitTitle } from './fit.ts';
import {
  type ImportItem,
  type ImportSource,
  joinTags,
  MAX_CONTENT_BYTES,
  type SourceOptions,
} from './item.ts';

/** A commit names so many of its files. */
const MAX_FILES = 50;

/** One memory a commit of the checked-out branch, newest first; its id is `git:` and the hash. */
export function openGitHistory(directory: string, options: SourceOptions): ImportSource {
  const items = async function* (): AsyncGenerator<ImportItem, void> {
    for await (const commit of readGitHistory(directory, { signal: options.signal })) {
      yield commitItem(commit, options);
    }
  };
  return { items: items(), share: () => undefined };
}

function commitItem(commit: GitCommit, options: SourceOptions): ImportItem {
  const id = `git:${commit.hash}`;
  const [content = ''] = splitLong(redactPrivate(describe(commit)), MAX_CONTENT_BYTES);
  return {
    kind: 'statement',
    where: `commit ${commit.hash.slice(0, 12)}`,
    input: {
      id,
      title: fitTitle(commit.subject),
      content,
      type: 'event',
      scope: options.scope,
      tags: joinTags([], options.tags),
      createdAt: commit.at,
      author: fitAuthor(commit.author),
      source: 'imported',
      sourceRef: id,
    },
  };
}

function describe({ hash, subject, body, files }: GitCommit): string {
  const named = files.slice(0, MAX_FILES).join(', ');
  const more = files.length > MAX_FILES ? ` and ${files.length - MAX_FILES} more` : '';
  const parts = [subject, body, files.length > 0 ? `Files: ${named}${more}` : ''].filter(
    (part) => part !== '',
  );
  return parts.length > 0 ? parts.join('\n\n') : `Commit ${hash}`;
}
