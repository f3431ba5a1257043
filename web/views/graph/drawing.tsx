import cytoscape, { type Core } from 'cytoscape';
import { useEffect, useRef } from 'preact/hooks';
import { useCell } from '../../cell.ts';
import { coloursOf } from '../../parts/colours.ts';
import { theme } from '../../theme.ts';
import { colourAt, type GraphEdge, type GraphNode } from './around.ts';

const LABEL = 28;
const MARGIN = 24;
const LARGEST = 1.4;
/** So many memories are pulled into shape by their edges; more are put in circles, which takes no time. */
const MOST_SPRUNG = 120;

/** The drawing of a graph. Whoever shows it shows a list of the same too. */
export default function Drawing({
  nodes,
  edges,
  open,
}: {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly open: (id: string) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<Core | undefined>(undefined);
  const look = useCell(theme);
  useEffect(() => {
    const place = box.current;
    if (!place) return undefined;
    const graph = draw(place, nodes, edges);
    graph.on('tap', 'node', (event) => open(event.target.data('memory')));
    drawn.current = graph;
    const watch = new ResizeObserver(() => {
      graph.resize();
      showAll(graph);
    });
    watch.observe(place);
    return () => {
      watch.disconnect();
      graph.destroy();
    };
  }, [nodes, edges, look]);
  const zoom = (factor: number) => {
    const graph = drawn.current;
    if (!graph) return;
    const middle = { x: graph.width() / 2, y: graph.height() / 2 };
    graph.zoom({ level: graph.zoom() * factor, renderedPosition: middle });
  };
  return (
    <div class="drawing card">
      {/* Cytoscape adds a style of its own unless there is one of this name; the policy of the page would refuse it. */}
      <i id="__________cytoscape_stylesheet" hidden />
      <div ref={box} class="canvas" role="img" aria-label="The graph; the list shows the same" />
      <div class="row drawing-buttons">
        <button type="button" aria-label="Larger" onClick={() => zoom(1.3)}>
          +
        </button>
        <button type="button" aria-label="Smaller" onClick={() => zoom(1 / 1.3)}>
          −
        </button>
        <button type="button" onClick={() => drawn.current && showAll(drawn.current)}>
          Fit
        </button>
      </div>
    </div>
  );
}

function draw(place: HTMLElement, nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Core {
  const colour = coloursOf(place);
  const { fontFamily } = getComputedStyle(place);
  // Ids of memories are any text, of which a selector would be made: nodes are called by their number.
  const numbers = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  const graph = cytoscape({
    container: place,
    elements: [
      ...nodes.map(({ id, label, type, depth }) => ({
        data: {
          id: numbers.get(id) as string,
          memory: id,
          label: label.length > LABEL ? `${label.slice(0, LABEL - 1)}…` : label,
          depth,
          colour: colour(depth === 0 ? '--accent' : type === 'entity' ? '--text' : '--part-7'),
          size: depth === 0 ? 26 : type === 'entity' ? 18 : 12,
          shape: type === 'entity' ? 'round-rectangle' : 'ellipse',
        },
      })),
      ...edges.map((edge, index) => ({
        data: {
          id: `e${index}`,
          source: numbers.get(edge.from) as string,
          target: numbers.get(edge.to) as string,
          label: edge.isRelation ? edge.name : '',
          colour: colour(`--part-${colourAt(edge)}`),
          width: 1 + 3 * edge.weight,
          arrow: edge.isRelation ? 'triangle' : 'none',
        },
      })),
    ],
    style: [
      {
        selector: 'node',
        style: {
          label: 'data(label)',
          'background-color': 'data(colour)',
          width: 'data(size)',
          height: 'data(size)',
          shape: 'data(shape)' as 'ellipse',
          color: colour('--text'),
          'font-family': fontFamily,
          'font-size': 11,
          'text-margin-y': -4,
          'text-outline-color': colour('--surface'),
          'text-outline-width': 2,
          'min-zoomed-font-size': 6,
        },
      },
      {
        selector: 'edge',
        style: {
          label: 'data(label)',
          width: 'data(width)',
          'line-color': 'data(colour)',
          'target-arrow-color': 'data(colour)',
          'target-arrow-shape': 'data(arrow)' as 'triangle',
          'curve-style': 'bezier',
          color: colour('--text-quiet'),
          'font-family': fontFamily,
          'font-size': 9,
          'text-rotation': 'autorotate',
          'text-background-color': colour('--surface'),
          'text-background-opacity': 0.85,
          'min-zoomed-font-size': 7,
        },
      },
    ],
    layout: {
      name: 'concentric',
      concentric: (node) => 10 - Number(node.data('depth')),
      levelWidth: () => 1,
      minNodeSpacing: 40,
      animate: false,
    },
    userZoomingEnabled: false,
    boxSelectionEnabled: false,
    autounselectify: true,
  });
  if (nodes.length > 2 && nodes.length <= MOST_SPRUNG) {
    graph
      .layout({
        name: 'cose',
        animate: false,
        randomize: false,
        nodeRepulsion: () => 90_000,
        idealEdgeLength: () => 90,
        padding: MARGIN,
      })
      .run();
  }
  showAll(graph);
  return graph;
}

/** All of it in sight, a small one not enlarged beyond what is good to read. */
function showAll(graph: Core): void {
  graph.fit(undefined, MARGIN);
  if (graph.zoom() <= LARGEST) return;
  graph.zoom(LARGEST);
  graph.center();
}
