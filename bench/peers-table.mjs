// Formats bench/results/peers.json as Markdown tables, for the terminal and for docs/benchmarks.md.
import { table } from './table.mjs';

export function peersTables({ command, machine, date, load, nice, results }) {
  const source = `\`${command}\`, ${date}, ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; one-minute load ${load[0]} before and ${load[1]} after, at priority ${nice}.`;
  const who = results.at(-1).peers.map(({ name, version, what }) => [name, version ?? '–', what ?? '–']);
  return [
    table(['', 'version', 'what it does here'], who, source),
    ...results.map(({ memories, peers }) => atSize(memories, peers)),
  ].join('\n\n');
}

function atSize(memories, peers) {
  const titles = [
    `${memories.toLocaleString('en')} memories`,
    'written/s',
    'open, ms',
    'recall p50 · p99, ms (n)',
    'CPU a recall, ms',
    'p50 ÷ that of Salience just before',
    'vectors alone p50, ms',
    'RSS, MiB',
    'disk, MiB',
    'as `hybrid` ranks',
    'nearest 10',
  ];
  const missing = peers.filter((peer) => peer.missing);
  return table(
    titles,
    peers.map((peer) => [peer.name, ...cells(peer)].map((cell) => String(cell ?? '–'))),
    missing.length === 0
      ? 'All ran to the end.'
      : `Dashes: ${missing.map(({ name, missing }) => `${name}, because ${missing}`).join('; ')}.`,
  );
}

function cells(peer) {
  const { recallMs, nearestMs } = peer;
  return [
    peer.ingestPerSecond?.toLocaleString('en'),
    peer.openMs,
    recallMs && `${recallMs.p50} · ${recallMs.p99} (${recallMs.n})`,
    recallMs?.cpu,
    peer.recallOverSalience,
    nearestMs?.p50 ?? (peer.ranksByVector ? recallMs?.p50 : undefined),
    peer.rssMiB,
    peer.diskMiB,
    peer.composite?.toFixed(3),
    peer.vectors?.toFixed(3),
  ];
}
