import type { Trace } from '../../../src/index.ts';
import { formatDateRange } from '../../../src/text/dates/shown.ts';

/** The stages of a recall in order, each with its input, output and time. */
export function Waterfall({ trace }: { readonly trace: Trace }) {
  let passed = 0;
  const total = Math.max(
    trace.totalMs,
    trace.stages.reduce((sum, { durationMs }) => sum + durationMs, 0),
    0.001,
  );
  return (
    <div class="stack">
      <div class="waterfall">
        {trace.stages.map(({ name, candidates, survivors, atMost, durationMs, reason }) => {
          const start = passed;
          passed += durationMs;
          const place = { left: `${(start / total) * 100}%`, width: `${(durationMs / total) * 100}%` };
          return [
            <span key={`${name} n`} title={reason}>
              {name}
              {reason && <span class="quiet"> — {reason}</span>}
            </span>,
            <span key={`${name} t`} class="track">
              <i style={place} />
            </span>,
            <span key={`${name} c`} class="number quiet">
              {atMost === 'candidates' && '≤ '}
              {candidates} → {atMost === 'survivors' && '≤ '}
              {survivors}
            </span>,
            <span key={`${name} d`} class="number">
              {durationMs.toFixed(2)} ms
            </span>,
          ];
        })}
      </div>
      <dl class="facts-list">
        <dt>In all</dt>
        <dd class="number">{trace.totalMs.toFixed(1)} ms</dd>
        <dt>Searched</dt>
        <dd class="row">
          {trace.arms.map(({ name, status, reason }) => (
            <span key={name} class={`tag ${status === 'failed' ? 'bad' : ''}`} title={reason}>
              {name}: {status}
            </span>
          ))}
        </dd>
        <dt>Formula</dt>
        <dd>
          <code>{trace.profileHash.slice(0, 16)}</code>
        </dd>
        <dt>As of write</dt>
        <dd class="number">{trace.sequence}</dd>
        {trace.spelling?.map(({ word, standIns }) => [
          <dt key={`${word} t`}>Unknown word</dt>,
          <dd key={`${word} d`} class="stored">
            {word}:{' '}
            {standIns.map(({ term, weight }) => `${term} ${weight}`).join(', ') || 'nothing stands for it'}
          </dd>,
        ])}
        {trace.dates?.map((date) => [
          <dt key={`${date.text} t`}>Date</dt>,
          <dd key={`${date.text} d`} class="stored">
            {date.text}: {formatDateRange(date)}
          </dd>,
        ])}
      </dl>
    </div>
  );
}
