import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { beginningOf } from '../../parts/cut.ts';
import { colourAt, type GraphEdge, type GraphNode } from './around.ts';
import { placeLabels } from './labels.ts';
import { bends, layOut, lineBetween, type Place } from './layout.ts';

const LABEL = 28;
const MARGIN = 40;
const LARGEST = 1.4;
/** The size of a label in pixels, and the height of its line. Labels grow with an enlarged drawing, and never shrink. */
const FONT = 11;
const LINE = 15;
/** Names of relations smaller than this, in pixels, are left out. */
const READABLE = 6;
/** How far a pressed pointer must move, in pixels, to drag instead of click. */
const DRAG = 4;

interface Window extends Place {
  readonly zoom: number;
}

/** A drag of a node, or of the whole drawing. */
interface Drag {
  readonly node: string | undefined;
  readonly from: Place;
  readonly start: Place;
  moved: boolean;
}

/** The drawing of a graph. Callers must also show its content as a list. */
export default function Drawing({
  nodes,
  edges,
  lit,
  open,
}: {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** The ids of highlighted nodes and the keys of highlighted edges; `undefined` for no highlighting. */
  readonly lit: ReadonlySet<string> | undefined;
  readonly open: (id: string) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const drag = useRef<Drag | undefined>(undefined);
  const laid = useMemo(() => layOut(nodes, edges), [nodes, edges]);
  const aside = useMemo(() => bends(edges), [edges]);
  const [moved, setMoved] = useState<ReadonlyMap<string, Place>>(new Map());
  const [window, setWindow] = useState<Window>({ x: 0, y: 0, zoom: 1 });
  const radii = useMemo(() => new Map(nodes.map((node) => [node.id, radiusOf(node)])), [nodes]);
  const placeOf = (id: string) => moved.get(id) ?? laid.get(id);
  /** The size of labels in units of the drawing. */
  const font = FONT / Math.min(1, window.zoom);
  const widths = useMemo(() => widthsOf(nodes), [nodes]);
  const labels = useMemo(() => {
    const isFirst = ({ id, depth }: GraphNode) => depth === 0 || lit?.has(id) === true;
    const inOrder = nodes.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
    const sized = inOrder.flatMap((node) => {
      const place = placeOf(node.id);
      const width = ((widths.get(node.id) ?? 0) * font) / FONT;
      return place ? [{ id: node.id, ...place, radius: radiusOf(node), width }] : [];
    });
    return placeLabels(sized, (LINE * font) / FONT);
  }, [nodes, widths, laid, moved, font, lit]);
  const showAll = () => box.current && setWindow(windowOver([...laid.values()], box.current));
  // Before the first paint, because a node that is not in its place yet cannot be pressed.
  useLayoutEffect(() => {
    setMoved(new Map());
    showAll();
    const watch = new ResizeObserver(showAll);
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, [laid]);
  const zoom = (factor: number) => setWindow((before) => ({ ...before, zoom: before.zoom * factor }));
  const press = (event: PointerEvent, node?: string) => {
    event.stopPropagation();
    if (event.button !== 0) return;
    const start = node === undefined ? window : placeOf(node);
    if (start) drag.current = { node, start, from: { x: event.clientX, y: event.clientY }, moved: false };
  };
  const move = (event: PointerEvent) => {
    const held = drag.current;
    if (!held) return;
    const [dx, dy] = [event.clientX - held.from.x, event.clientY - held.from.y];
    if (!held.moved && Math.hypot(dx, dy) < DRAG) return;
    held.moved = true;
    box.current?.setPointerCapture(event.pointerId);
    const { node, start } = held;
    const at = { x: start.x + dx / window.zoom, y: start.y + dy / window.zoom };
    if (node !== undefined) setMoved((before) => new Map([...before, [node, at]]));
    else setWindow({ ...window, x: start.x - dx / window.zoom, y: start.y - dy / window.zoom });
  };
  const release = () => {
    const held = drag.current;
    drag.current = undefined;
    if (held?.node !== undefined && !held.moved) open(held.node);
  };
  const { clientWidth = 0, clientHeight = 0 } = box.current ?? {};
  const at = `translate(${clientWidth / 2} ${clientHeight / 2}) scale(${window.zoom}) translate(${-window.x} ${-window.y})`;
  return (
    <div class="drawing card">
      <div
        ref={box}
        class={`canvas ${lit ? 'lighting' : ''}`}
        onPointerDown={press}
        onPointerMove={move}
        onPointerUp={release}
        onPointerCancel={release}
      >
        <svg role="img" aria-label="The graph; the list shows the same">
          <g transform={at}>
            {edges.map((edge, index) => {
              const [from, to] = [placeOf(edge.from), placeOf(edge.to)];
              const radius = radii.get(edge.to);
              if (!from || !to || radius === undefined) return null;
              const width = 1 + 1.5 * edge.weight;
              const line = lineBetween(from, to, radius, aside[index] ?? 0, width);
              return (
                <g
                  key={edge.key}
                  class={`link ${lit?.has(edge.key) ? 'lit' : ''}`}
                  style={{ '--colour': `var(--part-${colourAt(edge)})` }}
                >
                  <path d={line.path} stroke-width={width} />
                  {edge.isRelation && <polygon points={line.arrow} />}
                  {edge.isRelation && window.zoom * 9 >= READABLE && (
                    <text
                      x={line.x}
                      y={line.y}
                      dy="-5"
                      transform={`rotate(${line.turn} ${line.x} ${line.y})`}
                    >
                      {edge.name}
                    </text>
                  )}
                </g>
              );
            })}
            {nodes.map((node) => {
              const { id, label, type, depth } = node;
              const below = labels.get(id);
              const place = placeOf(id);
              if (!place) return null;
              const radius = radiusOf(node);
              return (
                <g
                  key={id}
                  class={`node ${depth === 0 ? 'middle' : type === 'entity' ? 'entity' : ''} ${lit?.has(id) ? 'lit' : ''}`}
                  transform={`translate(${place.x} ${place.y})`}
                  data-id={id}
                  onPointerDown={(event) => press(event, id)}
                >
                  <rect
                    x={-radius}
                    y={-radius}
                    width={2 * radius}
                    height={2 * radius}
                    rx={type === 'entity' ? radius / 3 : radius}
                  />
                  {below !== undefined && (
                    <text y={below} font-size={font}>
                      {shortened(label)}
                    </text>
                  )}
                  <title>{label}</title>
                </g>
              );
            })}
          </g>
        </svg>
      </div>
      <div class="row drawing-buttons">
        <button type="button" aria-label="Larger" onClick={() => zoom(1.3)}>
          +
        </button>
        <button type="button" aria-label="Smaller" onClick={() => zoom(1 / 1.3)}>
          −
        </button>
        <button type="button" onClick={showAll}>
          Fit
        </button>
      </div>
    </div>
  );
}

function radiusOf({ depth, type }: GraphNode): number {
  return depth === 0 ? 13 : type === 'entity' ? 9 : 6;
}

function shortened(label: string): string {
  return label.length > LABEL ? `${beginningOf(label, LABEL - 1)}…` : label;
}

/** Returns the widths of the labels by node, in pixels at the size of `FONT`. */
function widthsOf(nodes: readonly GraphNode[]): ReadonlyMap<string, number> {
  const pen = document.createElement('canvas').getContext('2d');
  if (!pen) return new Map();
  pen.font = `${FONT}px ${getComputedStyle(document.body).fontFamily}`;
  return new Map(nodes.map(({ id, label }) => [id, pen.measureText(shortened(label)).width]));
}

/** Returns a window that shows all places. A small graph is not enlarged beyond a readable size. */
function windowOver(places: readonly Place[], { clientWidth, clientHeight }: HTMLElement): Window {
  const xs = places.map(({ x }) => x);
  const ys = places.map(({ y }) => y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  return {
    x: (left + right) / 2,
    y: (top + bottom) / 2,
    zoom: Math.min(
      LARGEST,
      zoomFor(clientWidth, right - left, 2 * MARGIN),
      zoomFor(clientHeight, bottom - top, MARGIN),
    ),
  };
}

/** Labels stand beside and above their nodes, and do not shrink with the drawing: neither does the margin for them. */
function zoomFor(room: number, length: number, margin: number): number {
  const zoom = room / (length + 2 * margin);
  return zoom >= 1 ? zoom : Math.max(room / 2, room - 2 * margin) / length;
}
