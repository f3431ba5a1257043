import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { takeOver } from './focus.ts';

export interface Column<Row> {
  readonly name: string;
  readonly title: string;
  /** In rem. The first column takes the remaining width, but at least this much. */
  readonly width: number;
  readonly cell: (row: Row) => ComponentChildren;
  /** What the server sorts it by. */
  readonly sort?: string | undefined;
}

export interface TableSort {
  readonly by: string;
  readonly direction: 'asc' | 'desc';
}

const HEIGHT = 36;
/** In rem, as in the style of the table. */
const GAP = 0.75;

/**
 * A table of any length. Only the visible rows are rendered and fetched. Keys: the arrows, Page Up, Page Down, Home and
 * End move, Enter opens.
 */
export function VirtualTable<Row>({
  label,
  columns,
  count,
  rowAt,
  need,
  keyOf,
  open,
  selected,
  sort,
  onSort,
  scrollTo,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly count: number;
  /** Returns the row, or `undefined` if it has not been fetched yet. */
  readonly rowAt: (index: number) => Row | undefined;
  /** Told which rows are in sight. */
  readonly need: (first: number, last: number) => void;
  readonly keyOf: (row: Row) => string;
  readonly open: (row: Row) => void;
  readonly selected?: string | undefined;
  readonly sort?: TableSort | undefined;
  readonly onSort?: ((sort: TableSort) => void) | undefined;
  /** A row to scroll to. A new object scrolls again. */
  readonly scrollTo?: { readonly index: number } | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [, render] = useState(0);
  const [place, setAt] = useState(0);
  // There may be fewer rows by now.
  const at = Math.max(0, Math.min(count - 1, place));
  const virtual = useRef<Virtualizer<HTMLDivElement, HTMLDivElement> | undefined>(undefined);
  const options = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => HEIGHT,
    overscan: 12,
    // Otherwise the table head covers the first row when scrolling up to it.
    scrollPaddingStart: HEIGHT,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => render((times) => times + 1),
  };
  virtual.current ??= new Virtualizer(options);
  virtual.current.setOptions(options);
  const virtualizer = virtual.current;
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  // What was opened beside is closed.
  useLayoutEffect(() => takeOver(box.current), [selected]);
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (count > 0) need(first, last);
  }, [first, last, count, need]);
  const reached = useRef<typeof scrollTo>(undefined);
  // While the table is hidden or empty, nothing in it can be scrolled to.
  const isReady = count > 0 && (virtualizer.scrollRect?.height ?? 0) > 0;
  useEffect(() => {
    if (scrollTo === undefined || scrollTo === reached.current || !isReady) return;
    reached.current = scrollTo;
    setAt(scrollTo.index);
    virtualizer.scrollToIndex(scrollTo.index, { align: 'center' });
  }, [scrollTo, virtualizer, isReady]);
  const moveTo = (index: number) => {
    const next = Math.max(0, Math.min(count - 1, index));
    setAt(next);
    virtualizer.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? HEIGHT) / HEIGHT) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: count - 1,
    };
    const next = steps[event.key];
    if (next !== undefined) {
      event.preventDefault();
      moveTo(next);
    }
    const row = rowAt(at);
    if (event.key === 'Enter' && event.target === box.current && row !== undefined) open(row);
  };
  const [main, ...others] = columns.map(({ width }) => `${width}rem`);
  const sizes = {
    '--columns': [`minmax(${main}, 1fr)`, ...others].join(' '),
    // With the gaps between the columns and at both ends: rows of equal width keep their columns in line.
    '--least': `${columns.reduce((sum, { width }) => sum + width + GAP, GAP)}rem`,
  };
  return (
    <div
      ref={box}
      class="table"
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={columns.length}
      aria-activedescendant={items.some(({ index }) => index === at) ? `row-${at}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      style={sizes}
    >
      <div class="head" role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <div
            key={column.name}
            role="columnheader"
            aria-sort={column.sort && sort?.by === column.sort ? ORDER[sort.direction] : undefined}
          >
            {column.sort && onSort ? (
              <button type="button" onClick={() => onSort(turned(column.sort as string, sort))}>
                {column.title}
                {sort?.by === column.sort && (sort?.direction === 'asc' ? ' ↑' : ' ↓')}
              </button>
            ) : (
              column.title
            )}
          </div>
        ))}
      </div>
      <div class="rows" role="rowgroup" style={{ '--height': `${virtualizer.getTotalSize()}px` }}>
        {items.map(({ index, start }) => {
          const row = rowAt(index);
          const key = row === undefined ? undefined : keyOf(row);
          return (
            <div
              key={index}
              id={`row-${index}`}
              class={`line ${index === at ? 'at' : ''}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={key !== undefined && key === selected}
              style={{ '--start': `${start}px`, '--height': `${HEIGHT}px` }}
              onClick={() => {
                setAt(index);
                if (row !== undefined) open(row);
              }}
            >
              {columns.map((column) => (
                <div key={column.name} role="gridcell">
                  {row === undefined ? <span class="quiet">…</span> : column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const ORDER = { asc: 'ascending', desc: 'descending' } as const;

function turned(by: string, sort: TableSort | undefined): TableSort {
  return { by, direction: sort?.by === by && sort.direction === 'desc' ? 'asc' : 'desc' };
}
