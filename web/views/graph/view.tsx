import './graph.css';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Neighbourhood } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { All } from '../../parts/all.tsx';
import { CopyAs } from '../../parts/copy-as.tsx';
import { beginningOf } from '../../parts/cut.ts';
import { takeOver } from '../../parts/focus.ts';
import { lazy } from '../../parts/lazy.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { Unread } from '../../parts/unread.tsx';
import { go, href, setParams, useRoute } from '../../router.ts';
import { recallSettings } from '../recall/request.ts';
import { colourAt, EDGE_KINDS, type GraphEdge, type GraphNode, graphOf } from './around.ts';
import { Chains, litBy, useChains } from './chains.tsx';

const Drawing = lazy('drawing', () => import('./drawing.tsx'));

/** The number of memories shown at first, and the most. */
const PAGE = 200;
const MOST = 10_000;
const DEPTHS = [1, 2, 3] as const;
/** How many entities are listed where none is in the middle. */
const ENTITIES = 100;

/** The neighbourhood of one memory: its relations and links, and those that lead on from there. */
export default function GraphView() {
  const { rest: centre, params } = useRoute();
  const depth = DEPTHS.find((each) => String(each) === params.get('depth')) ?? 2;
  const most = mostOf(params.get('most'));
  const limit = most === 'unread' ? PAGE : most;
  const fields = { entity: centre, depth, limit, links: params.get('links') !== 'none', texts: true };
  const { answer, error, pending, reload } = useAsk(
    centre === ''
      ? undefined
      : (memory, signal) => {
          const { entity, ...options } = fields;
          return memory.neighbours(entity, { ...options, signal });
        },
    [JSON.stringify(fields)],
  );
  return (
    <div class="stack graph">
      <div class="view-head">
        <h1>Graph</h1>
        {centre !== '' && <CopyAs verb="neighbours" fields={fields} answer={answer} />}
      </div>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const text = new FormData(event.currentTarget).get('centre');
          if (typeof text === 'string' && text.trim() !== '') go('graph', own(params), text.trim());
        }}
      >
        <input
          key={centre}
          name="centre"
          type="search"
          class="centre"
          aria-label="In the middle: the name of an entity, or the id of a memory"
          placeholder="The name of an entity, or the id of a memory"
          defaultValue={centre}
        />
        <button type="submit">Show</button>
        {centre !== '' && (
          <>
            <label class="row">
              Steps
              <select
                value={String(depth)}
                onChange={(event) => setParams({ depth: event.currentTarget.value })}
              >
                {DEPTHS.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </label>
            <label class="row">
              <input
                type="checkbox"
                checked={fields.links}
                onChange={(event) => setParams({ links: event.currentTarget.checked ? undefined : 'none' })}
              />
              Links too
            </label>
          </>
        )}
      </form>
      <Unread what="depth" value={params.get('depth')} known={DEPTHS.map(String)} instead={String(depth)} />
      <Unread what="choice of links" value={params.get('links')} known={['none', 'all']} instead="all" />
      {most === 'unread' && (
        <p class="failure-text" role="alert">
          In the address: most={params.get('most')} is not a whole number from 1 to{' '}
          {MOST.toLocaleString('en')}. Until it is changed, {PAGE} memories are shown.
        </p>
      )}
      {centre === '' ? (
        <Beginnings />
      ) : error ? (
        <Failure error={error} retry={reload} />
      ) : answer ? (
        <Around around={answer} pending={pending} limit={limit} params={params} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

/** Returns how many memories to show. In the address `limit` is that of the recall. */
function mostOf(text: string | null): number | 'unread' {
  if (!text) return PAGE;
  const most = Number(text);
  return Number.isInteger(most) && most >= 1 && most <= MOST ? most : 'unread';
}

/** Returns the settings of the view that stay when another memory becomes the central one. */
function own(params: URLSearchParams): Readonly<Record<string, string | undefined>> {
  const of = (name: string) => params.get(name) ?? undefined;
  return { ...recallSettings(params), depth: of('depth'), links: of('links') };
}

function Around({
  around,
  pending,
  limit,
  params,
}: {
  readonly around: Neighbourhood;
  readonly pending: boolean;
  readonly limit: number;
  readonly params: URLSearchParams;
}) {
  const { nodes, edges } = useMemo(() => graphOf(around), [around]);
  const chains = useChains(params);
  const lit = useMemo(() => litBy(chains.answer, edges), [chains.answer, edges]);
  const labels = new Map(nodes.map(({ id, label }) => [id, label]));
  const kinds = new Set(edges.map(colourAt));
  const heading = useRef<HTMLHeadingElement>(null);
  // The link that was followed is no longer in the list.
  useLayoutEffect(() => takeOver(heading.current), [around.entity.id]);
  return (
    <div class="graph-columns outdated" aria-busy={pending}>
      <div class="stack">
        <Drawing nodes={nodes} edges={edges} lit={lit} open={(id) => go('graph', own(params), id)} />
        <div class="legend">
          {EDGE_KINDS.map(
            (kind, index) =>
              kinds.has(index) && (
                <span key={kind} class="row">
                  <i class={`p${index}`} />
                  {kind === 'relation' ? 'relation' : `link: ${kind}`}
                </span>
              ),
          )}
          <span class="quiet">
            Thicker is stronger. Point at a memory to read its name; click it to put it in the middle.
          </span>
        </div>
      </div>
      <section class="stack">
        <h2 ref={heading} tabIndex={-1} class="row spread">
          <span class="stored clamp">{nodes[0]?.label}</span>
          <a class="open" href={href('memories', {}, around.entity.id)}>
            Open
          </a>
        </h2>
        <Chains asked={chains} labels={labels} />
        {nodes.length === 1 && <p class="quiet">Nothing is related to it or linked with it.</p>}
        {DEPTHS.map((depth) => {
          const there = nodes.filter((node) => node.depth === depth);
          if (there.length === 0) return null;
          return (
            <div key={depth}>
              <h3>
                {depth === 1 ? 'One step away' : `${depth} steps away`} · {there.length}
              </h3>
              <ul class="lines heaped graph-list">
                {there.map((node) => (
                  <li key={node.id} class={lit?.has(node.id) ? 'lit' : ''}>
                    <NodeLine node={node} params={params} />
                    <EdgeLines node={node} edges={edges} labels={labels} />
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
        {around.truncated && limit < MOST ? (
          <button type="button" onClick={() => setParams({ most: String(Math.min(MOST, limit * 2)) })}>
            Show more than {limit}
          </button>
        ) : (
          (around.truncated || limit > PAGE) && <All most={around.truncated ? MOST : undefined} />
        )}
      </section>
    </div>
  );
}

/** How many edges of a memory are listed at first. */
const EDGES = 8;

/** Lists the edges between a memory and other shown memories, strongest first. */
function EdgeLines({
  node,
  edges,
  labels,
}: {
  readonly node: GraphNode;
  readonly edges: readonly GraphEdge[];
  readonly labels: ReadonlyMap<string, string>;
}) {
  const [all, setAll] = useState(false);
  const own = edges.filter(({ from, to }) => from === node.id || to === node.id);
  const more = own.length - EDGES;
  return (
    <>
      {(all ? own : own.slice(0, EDGES)).map((edge) => {
        const other = edge.from === node.id ? edge.to : edge.from;
        const arrow = !edge.isRelation ? '–' : edge.from === node.id ? '→' : '←';
        return (
          <span key={edge.key} class="edge quiet">
            <i class={`swatch p${colourAt(edge)}`} />
            <span class="stored">
              <bdi>{edge.name}</bdi> {arrow} <bdi>{beginningOf(labels.get(other) ?? '', 60)}</bdi>
            </span>
            <span class="number">{edge.weight.toFixed(2)}</span>
          </span>
        );
      })}
      {more > 0 && (
        <button type="button" class="small ghost" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show ${more} more`}
        </button>
      )}
    </>
  );
}

function NodeLine({ node, params }: { readonly node: GraphNode; readonly params: URLSearchParams }) {
  return (
    <span class="row">
      <a class="stored clamp" href={href('graph', own(params), node.id)}>
        {node.label}
      </a>
      <span class="tag">{node.type}</span>
    </span>
  );
}

/** Starting points: entities, or else the latest memories. */
function Beginnings() {
  const { answer, error, reload } = useAsk(async (memory, signal) => {
    const [entities, { memories }] = await Promise.all([
      memory.entities(undefined, { limit: ENTITIES + 1, signal }),
      memory.list({ limit: 20, typesExclude: ['entity'], count: false, signal }),
    ]);
    return { entities, memories };
  }, []);
  if (error) return <Failure error={error} retry={reload} />;
  if (!answer) return <Loading />;
  const groups = [
    ['Entities', answer.entities.slice(0, ENTITIES)],
    ['Written last', answer.memories],
  ] as const;
  if (groups.every(([, memories]) => memories.length === 0)) {
    return (
      <Empty title="Nothing is remembered yet">
        <p>Entities, what relates them, and links between memories are shown here.</p>
        <code>salience remember 'An engineer' --type entity --title Ada</code>
      </Empty>
    );
  }
  return (
    <div class="beginnings">
      {groups.map(
        ([title, memories]) =>
          memories.length > 0 && (
            <section key={title} class="stack">
              <h2>{title}</h2>
              <ul class="lines heaped graph-list">
                {memories.map(({ id, title: name, content, kind, type }) => (
                  <li key={id}>
                    <span class="row">
                      <a class="stored clamp" href={href('graph', {}, id)}>
                        {name ?? content}
                      </a>
                      <span class="tag">{kind ?? type}</span>
                    </span>
                  </li>
                ))}
              </ul>
              {memories.length < answer.entities.length && title === 'Entities' && (
                <p class="quiet">These {ENTITIES} were changed last. Write the name of another one above.</p>
              )}
            </section>
          ),
      )}
    </div>
  );
}
