import type { Memory } from '../../src/index.ts';
import { href } from '../router.ts';
import { ago, moment } from './time.ts';

/** Shows the facts of a memory beside its text: type, scope, age, source, author, and anything unusual. */
export function MemoryFacts({ memory }: { readonly memory: Memory }) {
  const { id, type, scope, updatedAt, source, author, tier, core, invalidatedAt, tags } = memory;
  return (
    <div class="row facts">
      <span class="tag">{type}</span>
      {scope !== 'global' && <span class="tag">{scope}</span>}
      {core && <span class="tag">core</span>}
      {tier !== 'hot' && <span class="tag warn">{tier}</span>}
      {invalidatedAt && <span class="tag bad">invalidated</span>}
      {tags.map((tag) => (
        <span key={tag} class="tag">
          #{tag}
        </span>
      ))}
      <time class="quiet" dateTime={updatedAt} title={moment(updatedAt)}>
        {ago(updatedAt)}
      </time>
      <span class="quiet">{source}</span>
      {author && <span class="quiet">by {author}</span>}
      <a class="id" href={href('memories', {}, id)} title={id}>
        <code>{id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id}</code>
      </a>
    </div>
  );
}
