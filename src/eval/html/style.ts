/** The colours of the series, distinguishable with any type of colour vision. Source: Okabe and Ito, 2002. */
const LIGHT = ['#0072b2', '#d55e00', '#009e73', '#b8578c', '#2a8fc4', '#b87f00', '#5a5a5a', '#8a7400'];
const DARK = ['#56b4e9', '#ff8a3d', '#2ec79b', '#e79ac4', '#8ecbf0', '#f0b840', '#b0b0b0', '#e0cf4a'];

export const SERIES_COLOURS = LIGHT.length;

const series = (colours: readonly string[]): string =>
  colours.map((colour, at) => `--s${at}:${colour};`).join('');

export const STYLE = `
:root{color-scheme:light dark;--ink:#1d1f23;--dim:#5d636d;--line:#d5d8dd;--paper:#fff;--band:#f4f5f7;--good:#0b7a45;--bad:#b3261e;${series(LIGHT)}}
@media (prefers-color-scheme:dark){:root{--ink:#e7e9ec;--dim:#a3a9b3;--line:#3a3f47;--paper:#15171a;--band:#1e2126;--good:#5fd39b;--bad:#ff8b80;${series(DARK)}}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1.25rem;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;margin:0 0 .25rem}
h2{font-size:1.3rem;margin:2.5rem 0 .25rem;border-top:1px solid var(--line);padding-top:1.5rem}
h3{font-size:1.05rem;margin:1.75rem 0 .5rem}
p{margin:.35rem 0}
.dim,figcaption{color:var(--dim)}
svg .dim{fill:var(--dim)}
code,pre{font:.85rem/1.45 ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}
pre{background:var(--band);padding:.75rem;white-space:pre-wrap;border-radius:.4rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--dim);font-weight:600}
th.name,td.name{text-align:left}
.up{color:var(--good)}
.down{color:var(--bad)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1.5rem 2.5rem;align-items:start}
figure{margin:0}
figcaption{font-weight:600;margin:.5rem 0}
svg{display:block;width:100%;height:auto;max-width:36rem;font-size:15px;fill:var(--ink)}
.heading{font-weight:600}
.axis{stroke:var(--dim)}
.stroke{stroke-width:3}
.hollow{fill:var(--paper);stroke-width:2}
${LIGHT.map((_, at) => `.fill.s${at}{fill:var(--s${at})}.stroke.s${at},.hollow.s${at}{stroke:var(--s${at})}`).join('')}
ol.losses{padding-left:1.4rem}
ol.losses li{margin:.75rem 0}
ol.losses blockquote{margin:.25rem 0;padding-left:.75rem;border-left:3px solid var(--line);color:var(--dim)}
@media (max-width:40rem){body{padding:.9rem}th,td{padding:.25rem .45rem}}
`.trim();
