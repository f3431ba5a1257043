import { describe, expect, it } from 'vitest';
import { importAll, readContent, readSorted } from '../../test/import/import-text.ts';
import { dailyDate, inlineTags, readWikilinks, withoutComments } from './obsidian.ts';

describe('comments', () => {
  it.each([
    ['a %%secret%% b', 'a  b'],
    ['a\n%%\nsecret\nmore\n%%\nb', 'a\n\n\n\n\nb'],
    ['a\n%% never ended\nsecret', 'a\n\n'],
    ['- a\n  %% never ended\nsecret', '- a\n  \n'],
    ['- a\n  %%secret%%\n- b\n\t%%\n\tsecret\n\t%%\nc', '- a\n  \n- b\n\t\n\n\nc'],
    ['100%% sure', '100%% sure'],
    ['`a %%b%% c`', '`a %%b%% c`'],
    ['```\n%%b%%\n```\n%%c%%', '```\n%%b%%\n```\n'],
    ['---\nkey: "%%b%%"\n---\n%%c%%d', '---\nkey: "%%b%%"\n---\nd'],
    ['a `lonely\n\n%%secret%% ` b', 'a `lonely\n\n ` b'],
    ['```npm test``` runs them\n\n%%secret%%', '```npm test``` runs them\n\n'],
    ['- ```\n  a\n\n  %%b%%\n  ```\n%%c%%d', '- ```\n  a\n\n  %%b%%\n  ```\nd'],
    ['1. - ~~~\n     a\n\n     %%b%%\n     ~~~\n%%c%%d', '1. - ~~~\n     a\n\n     %%b%%\n     ~~~\nd'],
    ['Run:\n\n    for %%i in (*) do x %%i\n\n%%c%%d', 'Run:\n\n    for %%i in (*) do x %%i\n\nd'],
    ['Run:\n\n\t%%time\n\n# Next\nb', 'Run:\n\n\t%%time\n\n# Next\nb'],
    ['- a\n\n      %%time\n\nb', '- a\n\n      %%time\n\nb'],
    ['>     %%time\n\nb', '>     %%time\n\nb'],
    ['    ```\n\n%%c%%d', '    ```\n\nd'],
    ['- a\n\n    %%c%%d', '- a\n\n    d'],
    ['    a\n\n%%c%%d', '    a\n\nd'],
    ['    a\n\n> %%c%%d', '    a\n\n> d'],
    ['a\n%%\n\n    secret\n%%\nb', 'a\n\n\n\n\nb'],
  ])('%j is read as %j', (text, expected) => {
    expect(withoutComments(text)).toBe(expected);
  });

  it('are not stored, and lines keep their numbers', async () => {
    const { inputs } = await readSorted('note.md', 'Open\n%%\nthe password is tulip\n%%\n# Next\nMore\n');
    expect(inputs).toMatchObject([{ content: 'Open' }, { content: 'More', sourceRef: 'note.md#L5' }]);
    expect(JSON.stringify(inputs)).not.toContain('tulip');
  });
});

describe('wikilinks', () => {
  it.each([
    ['[[Note]]', 'Note', ['Note']],
    ['[[Note|an alias]]', 'an alias', ['Note']],
    ['| [[Note\\|alias]] |', '| alias |', ['Note']],
    ['[[Note#Head#Sub]]', 'Note > Head > Sub', ['Note#Head#Sub']],
    ['[[#Head]] [[Note#^id]]', 'Head Note > id', ['#Head', 'Note#^id']],
    ['![[Note]]', 'Note', ['Note']],
    ['`[[Note]]`', '`[[Note]]`', []],
    ['~~~\n[[Note]]\n~~~\n', '~~~\n[[Note]]\n~~~\n', []],
    ['a\n\n    if [[ -f x ]]; then\n\n[[N]]', 'a\n\n    if [[ -f x ]]; then\n\nN', ['N']],
    ['- a\n\n    [[N]] and [[M]]', '- a\n\n    N and M', ['N', 'M']],
    ['[[]] [a](b) [[a\nb]]', '[[]] [a](b) [[a\nb]]', []],
  ])('%j is read as %j', (text, plain, targets) => {
    expect(readWikilinks(text)).toEqual({ text: plain, targets });
  });
});

describe('tags in the text', () => {
  it.each([
    ['#one and #two/three, #vier_5', ['one', 'two/three', 'vier_5']],
    ['#2026 is none, #y2026 is, #日本 too', ['y2026', '日本']],
    ['#हिन्दी #cafe\u0301 #👩‍💻 #🌧️rain #👍🏽', ['हिन्दी', 'café', '👩‍💻', '🌧️rain', '👍🏽']],
    ['a#b [x](#c) `#d` http://e/#f # g', []],
    ['a\n\n    #include <stdio.h>\n\n- b\n\n    #c', ['c']],
    ['a\n\n    #include', []],
  ])('of %j are %j', (text, expected) => {
    expect(inlineTags(text)).toEqual(expected);
  });

  it('are those of the front matter, with or without the number sign', async () => {
    const { inputs } = await readSorted('n.md', '---\ntags: ["#a", b, "#"]\n---\nx #a #b #c\n');
    expect(inputs.map(({ tags }) => tags)).toEqual([['a', 'b', 'c']]);
  });

  it('join those of the note and the import, up to as many as a memory may have', async () => {
    const { inputs } = await readSorted('n.md', '---\ntags: [a]\n---\nx #b #a\n# H\ny\n', { tags: ['c'] });
    expect(inputs.map(({ tags }) => tags)).toEqual([
      ['a', 'b', 'c'],
      ['a', 'c'],
    ]);
    const many = Array.from({ length: 80 }, (_, at) => `#t${at}`).join(' ');
    const { inputs: full } = await readSorted('n.md', many, { tags: ['c'] });
    expect(full[0]?.tags).toHaveLength(64);
    expect(full[0]?.tags).toContain('c');
  });

  it('of a note that are too many or too long are left out and counted', async () => {
    const noteTags = [...Array.from({ length: 70 }, (_, at) => `t${at}`), 'l'.repeat(129)];
    const file = `---\ntags: [${noteTags.join(', ')}]\n---\nOiled the pump #late\n`;
    const { items } = await readContent('n.md', file, { tags: ['c'] });
    const lost = items.filter((item) => item.kind === 'left-out');
    expect(lost).toEqual(Array(9).fill({ kind: 'left-out', what: 'tags' }));
    const { memories } = await importAll('n.md', [file], { tags: ['c'] });
    expect(memories.map(({ tags }) => tags)).toEqual([[...noteTags.slice(0, 63), 'c']]);
  });
});

describe('a daily note', () => {
  it('is as old as its name says, unless its front matter says otherwise', async () => {
    const { inputs } = await readSorted('2026-01-31.md', 'Oiled the pump\n');
    expect(inputs).toMatchObject([{ createdAt: '2026-01-31' }]);
    const dated = await readSorted('2026-01-31.md', '---\ndate: 2026-02-01\n---\nOiled the pump\n');
    expect(dated.inputs).toMatchObject([{ createdAt: '2026-02-01' }]);
  });

  it.each(['2026-02-31.md', '2026-01-31 plan.md', 'x2026-01-31.md', '2026-13-01.md'])('is not %s', (name) => {
    expect(dailyDate(name)).toBeUndefined();
  });
});
