import { describe, expect, it } from 'vitest';
import { namedAuthors } from './names.ts';

describe('namedAuthors', () => {
  it.each([
    ['What did Ann say?', ['Ann Lee', 'Bob Lee'], ['Ann Lee']],
    ["ann's plan", ['Ann Lee'], ['Ann Lee']],
    ['ANN’S PLAN', ['Ann Lee'], ['Ann Lee']],
    ["What did O'Brien say?", ['O’Brien', 'OʼNeill'], ['O’Brien']],
    ['O’Brien’s plan', ["Pat O'Brien"], ["Pat O'Brien"]],
    ['‘Ann’ and OʼNeill', ['Ann Lee', 'O‘Neill'], ['Ann Lee', 'O‘Neill']],
    ['What does Lee want?', ['Ann Lee', 'Bob Lee'], ['Ann Lee', 'Bob Lee']],
    ['Annabel and a banana', ['Ann'], []],
    ['Will you come?', ['Will'], []],
    ['Ann asks. Will you come?', ['Will'], []],
    ['What did Will say?', ['Will'], ['Will']],
    ['what did will say?', ['Will'], []],
    ['I, Rose, said so', ['Rose'], ['Rose']],
    ['a rose for mark', ['Rose', 'Mark'], []],
    ['Is Zoë here?', ['Zoë'], ['Zoë']],
    ['東京はどうだった', ['東京'], ['東京']],
    ['plan B', ['B'], []],
    ['', ['Ann'], []],
    ['Ann?', [], []],
  ])('%s of %j', (query, authors, named) => {
    expect(namedAuthors(query, authors)).toEqual(named);
  });
});
