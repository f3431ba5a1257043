import { expect, it } from 'vitest';
import { live } from '../../testing/live-memory.ts';

const strange = JSON.parse('{"__proto__": {"user": "bob"}}');

it('a property __proto__ of metadata is refused, when it is kept and when it is asked for', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('tea', { id: 'a', metadata: { user: 'ann' } });
  const refused = { code: 'invalid_argument', details: { field: 'metadata.__proto__' } };
  await expect(memory.remember('coffee', { metadata: strange })).rejects.toMatchObject(refused);
  await expect(memory.update('a', { metadata: strange })).rejects.toMatchObject(refused);
  await expect(memory.recall('tea', { metadata: strange })).rejects.toMatchObject(refused);
  await expect(memory.list({ metadata: strange })).rejects.toMatchObject(refused);
  await expect(memory.remember('coffee', { metadata: { deep: [strange] } })).rejects.toMatchObject({
    details: { field: 'metadata.deep[0].__proto__' },
  });
  expect((await memory.list()).memories).toHaveLength(1);
});

it('names that every object has are properties like others', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('tea', { id: 'a', metadata: { constructor: 'x', toString: 1 } as never });
  await memory.remember('tea and milk', { id: 'b' });
  const found = async (metadata: object) =>
    (await memory.list({ metadata: metadata as never })).memories.map(({ id }) => id);
  expect(await found({ constructor: 'x' })).toEqual(['a']);
  expect(await found({ toString: { exists: true } })).toEqual(['a']);
  expect(await found({ toString: { exists: false } })).toEqual(['b']);
});

it.each([
  [{ ok: '\ud800' }, 'metadata.ok'],
  [{ ok: ['x', { deep: 'a\udc00b' }] }, 'metadata.ok[1].deep'],
  [{ 'k\ud800': 1 }, 'metadata'],
])('half of a surrogate pair in metadata is refused', async (metadata, field) => {
  const { memory } = await live({ embedder: 'none' });
  const refused = { code: 'invalid_text', details: { field } };
  await expect(memory.remember('tea', { metadata: metadata as never })).rejects.toMatchObject(refused);
  expect((await memory.list()).memories).toHaveLength(0);
});

it.each([
  [new Date(0), 'Date cannot be kept as JSON; give its ISO string'],
  [new Map([['a', 1]]), 'Map cannot be kept as JSON; give a text, a number, a list or a plain object'],
  [new Set(['a']), 'Set cannot'],
  [/tea/, 'RegExp cannot'],
  [new Error('tea'), 'Error cannot'],
  [new URL('https://tea.example'), 'URL cannot'],
  [new Number(3), 'Number cannot'],
  [Uint8Array.of(1), 'Uint8Array cannot'],
])(
  'an object whose content is in no fields is refused in metadata, not kept as an empty one',
  async (value, said) => {
    const { memory } = await live({ embedder: 'none' });
    const kept = memory.remember('tea', { metadata: { ok: 1, deep: [value] } as never });
    await expect(kept).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field: 'metadata.deep[0]' },
      message: expect.stringContaining(said),
    });
    await expect(memory.remember('tea', { metadata: value as never })).rejects.toThrow(said);
    expect((await memory.list()).memories).toHaveLength(0);
  },
);

it('the fields of an instance are kept', async () => {
  class Place {
    readonly city = 'Rome';
  }
  const { memory } = await live({ embedder: 'none' });
  const { id } = await memory.remember('tea', {
    metadata: { place: new Place(), bare: Object.create(null) } as never,
  });
  expect((await memory.get(id))?.metadata).toEqual({ place: { city: 'Rome' }, bare: {} });
});
