import { useAsk } from '../../api.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { href } from '../../router.ts';

/** Statistics of the space. */
export function Overview() {
  const { answer, error, reload } = useAsk((memory, signal) => memory.stats({ signal }), []);
  if (error) return <Failure error={error} retry={reload} />;
  if (!answer) return <Loading />;
  const { memories, links, pendingPairs, sequence, byType, byTier } = answer;
  const numbers = [
    ['memories', memories],
    ['links', links],
    ['to decide', pendingPairs],
    ['writes', sequence],
  ] as const;
  return (
    <div class="stack">
      <dl class="numbers">
        {numbers.map(([name, value]) => (
          <div key={name} class="card pad">
            <dd>{value.toLocaleString('en')}</dd>
            <dt class="quiet">{name}</dt>
          </div>
        ))}
      </dl>
      <div class="row">
        {Object.entries(byType)
          .sort(([, a], [, b]) => b - a)
          .map(([type, count]) => (
            <a key={type} class="tag" href={href('memories', { types: type })}>
              {type} {count.toLocaleString('en')}
            </a>
          ))}
        {Object.entries(byTier).map(([tier, count]) => (
          <a key={tier} class="tag" href={href('memories', { tier })}>
            {tier} {count.toLocaleString('en')}
          </a>
        ))}
      </div>
    </div>
  );
}
