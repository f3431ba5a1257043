import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { REDACTED, redactMetadata, redactPrivate } from './redaction.ts';

/** A secret that no other part of a text can make. */
const SECRET = '🜏';
const words = fc.string({
  unit: fc.constantFrom('a', ' ', '\n', '>', '"', '=', 'é', '<b>', '</b>', '<', '&lt;'),
});
const cased = (tag: string) =>
  fc
    .array(fc.boolean(), { minLength: tag.length, maxLength: tag.length })
    .map((upper) => [...tag].map((each, at) => (upper[at] ? each.toUpperCase() : each)).join(''));
const blank = fc.constantFrom('', ' ', '\t', '\n ');
const attributes = fc.constantFrom('', ' ', ' reason="x"', ' a=b c', '\n', ' note="a<b"', '-note');
const opening = fc
  .tuple(blank, cased('private'), attributes)
  .map(([gap, name, rest]) => `<${gap}${name}${rest}>`);
const closing = fc
  .tuple(blank, blank, cased('private'), fc.constantFrom('', ' '))
  .map(([before, after, name, rest]) => `<${before}/${after}${name}${rest}>`);
// Inside there may be anything but tags that change the depth.
const inside = words.map((each) => `${each}${SECRET}${each}`);
const element: fc.Arbitrary<string> = fc.letrec<{ element: string }>((tie) => ({
  element: fc
    .tuple(
      opening,
      fc.array(fc.oneof({ depthSize: 'small' }, inside, tie('element')), { maxLength: 3 }),
      closing,
    )
    .map(([open, parts, close]) => `${open}${SECRET}${parts.join('')}${close}`),
})).element;
// A `<` just before an element would be a tag that is not the one meant.
const outside = words.map((each) => `${each}.`);

describe('what is private', () => {
  it('goes, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(outside, element)), outside, (parts, last) => {
        const text = `${parts.flat().join('')}${last}`;
        expect(redactPrivate(text)).toBe(`${parts.map(([before]) => before + REDACTED).join('')}${last}`);
      }),
    );
  });

  it('goes to the end when it is not closed, in its tag or after it', () => {
    const unclosed = fc.oneof(
      opening.map((open) => `${open}${SECRET}`),
      fc.constantFrom('<private', '< PRIVATE x="', '<private <private').map((open) => `${open} ${SECRET}`),
      fc.tuple(opening, element).map(([open, whole]) => `${open}${whole}${SECRET}`),
    );
    fc.assert(
      fc.property(outside, unclosed, (before, rest) => {
        expect(redactPrivate(before + rest)).toBe(before + REDACTED);
      }),
    );
  });

  it('is never there after any text, and what was redacted stays as it is', () => {
    const piece = fc.oneof(
      opening,
      closing,
      words,
      fc.constantFrom('<private/>', '</private', '<private', '/'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const redacted = redactPrivate(pieces.join(''));
        expect(redactPrivate(redacted)).toBe(redacted);
        expect(redactPrivate(`${pieces.join('')}<private>${SECRET}</private>`)).not.toContain(SECRET);
      }),
    );
  });

  it.each([
    ['a <private>b</private> c', 'a [REDACTED] c'],
    ['a <PRIVATE reason="x > y">b</Private > c', 'a [REDACTED] c'],
    ['<private>a<private>b</private>c</private>d', '[REDACTED]d'],
    ['a <private>b', 'a [REDACTED]'],
    ['a <private b', 'a [REDACTED]'],
    ['a </private> b', 'a </private> b'],
    ['a </private b', 'a </private b'],
    ['<private>a</private', '[REDACTED]'],
    ['a <private/> b <private x /> c', 'a <private/> b <private x /> c'],
    [
      '<privateer>a</privateer> <my-private>b</my-private>',
      '<privateer>a</privateer> <my-private>b</my-private>',
    ],
    ['a </private <private>b</private> c', 'a </private [REDACTED] c'],
    ['a <private <private>b</private> c', 'a [REDACTED]'],
    ['a <private <private/>b</private> c', 'a [REDACTED] c'],
    ['a <private </private>b</private> c', 'a [REDACTED] c'],
    ['<private>a</private <private>b</private> c', '[REDACTED][REDACTED] c'],
    // As Japanese and Chinese keyboards write it.
    ['暗証番号は＜private＞4711＜/private＞です', '暗証番号は[REDACTED]です'],
    ['暗証番号は＜ｐｒｉｖａｔｅ＞４７１１＜／ＰＲＩＶＡＴＥ＞です！', '暗証番号は[REDACTED]です！'],
    ['a <private＞b<／private＞ c', 'a [REDACTED] c'],
    ['ａ ＜private>b</private＞ ｃ <private>d', 'ａ [REDACTED] ｃ [REDACTED]'],
    ['a ﹤private﹥b﹤/private﹥ ＜ｂ＞', 'a [REDACTED] ＜ｂ＞'],
    ['＜ｂ＞ ｐｒｉｖａｔｅ', '＜ｂ＞ ｐｒｉｖａｔｅ'],
    ['1 < 2 and private > public', '1 < 2 and private > public'],
    ['', ''],
  ])('%j becomes %j', (text, expected) => {
    expect(redactPrivate(text)).toBe(expected);
  });
});

describe('the work of redaction', () => {
  // Each was quadratic for some plausible way of looking for tags; in a megabyte that would never end.
  it.each([
    ['spaces', `<${' '.repeat(1 << 20)}x`],
    ['heads', '<private'.repeat(1 << 17)],
    ['ends that never end', '</private'.repeat(1 << 17)],
    ['tags that never end, after one that does', `<private>${'</private'.repeat(1 << 17)}`],
    ['brackets', '<'.repeat(1 << 20)],
    ['openings', '<private>'.repeat(1 << 17)],
    ['openings and attributes', `<private ${'<private '.repeat(1 << 17)}>`],
    ['pairs', '<private></private>'.repeat(1 << 16)],
  ])('grows with the text: %s', (_, text) => {
    const search = String.prototype.indexOf;
    let walked = 0;
    const spy = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (
      this: string,
      ...[wanted, from = 0]: Parameters<typeof search>
    ) {
      const at = search.call(this, wanted, from);
      if (this.length === text.length) walked += (at === -1 ? text.length : at) - from;
      return at;
    });
    onTestFinished(() => spy.mockRestore());
    redactPrivate(text);
    expect(walked).toBeLessThanOrEqual(text.length);
  });
});

describe('metadata', () => {
  it('is redacted at every depth, in names too, and otherwise kept', () => {
    const secret = `<private>${SECRET}</private>`;
    const metadata = { [`k${secret}`]: [secret, { deep: { er: `x${secret}` } }], n: 1, no: null, yes: true };
    expect(redactMetadata(metadata)).toEqual({
      'k[REDACTED]': [REDACTED, { deep: { er: 'x[REDACTED]' } }],
      n: 1,
      no: null,
      yes: true,
    });
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const plain = JSON.parse(JSON.stringify({ value })) as { readonly value: string };
        expect(redactMetadata(plain)).toEqual(plain);
      }),
    );
  });
});
