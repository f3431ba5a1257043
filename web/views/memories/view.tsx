import './memories.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { VERBS } from '../../../src/domain/verbs.ts';
import type { ListOptions, Memory } from '../../../src/index.ts';
import { look, refresh } from '../../api.ts';
import { useCell } from '../../cell.ts';
import { BusyButton } from '../../parts/busy-button.tsx';
import { CopyAs } from '../../parts/copy-as.tsx';
import { takeOver } from '../../parts/focus.ts';
import { useOnce } from '../../parts/once.ts';
import { Empty, Failure } from '../../parts/states.tsx';
import { type Column, type TableSort, VirtualTable } from '../../parts/table.tsx';
import { ago, moment } from '../../parts/time.ts';
import { tellFailure } from '../../parts/toast.tsx';
import { TypedInput } from '../../parts/typed-input.tsx';
import { Unread } from '../../parts/unread.tsx';
import { go, setParams, useRoute } from '../../router.ts';
import { session } from '../../session.ts';
import { BulkForget } from './bulk-forget.tsx';
import { Detail } from './detail.tsx';
import { FILTERS, type FilterField, filterOf, isUnread } from './filter.ts';
import { useRows } from './pages.ts';

const time = (value: string | undefined) =>
  value === undefined ? <span class="quiet">never</span> : <time title={moment(value)}>{ago(value)}</time>;
const share = (value: number) => <span class="number">{value.toFixed(2)}</span>;

const { sort: SORT, direction: DIRECTION } = VERBS.list.arguments;
const SORTS = SORT.enum;
const DIRECTIONS = DIRECTION.enum;

const COLUMNS: readonly Column<Memory>[] = [
  {
    name: 'content',
    title: 'Memory',
    width: 18,
    cell: ({ title, content }) => <bdi>{title ? `${title}: ${content}` : content}</bdi>,
  },
  { name: 'type', title: 'Type', width: 7, cell: ({ type }) => <span class="tag">{type}</span> },
  { name: 'scope', title: 'Scope', width: 8, cell: ({ scope }) => <bdi>{scope}</bdi> },
  {
    name: 'updated',
    title: 'Updated',
    width: 6.5,
    sort: 'updated',
    cell: ({ updatedAt }) => time(updatedAt),
  },
  {
    name: 'created',
    title: 'Created',
    width: 6.5,
    sort: 'created',
    cell: ({ createdAt }) => time(createdAt),
  },
  {
    name: 'accessed',
    title: 'Recalled',
    width: 6.5,
    sort: 'accessed',
    cell: ({ lastAccessedAt }) => time(lastAccessedAt),
  },
  {
    name: 'uses',
    title: 'Uses',
    width: 3.5,
    sort: 'accessCount',
    cell: ({ accessCount }) => accessCount,
  },
  {
    name: 'importance',
    title: 'Importance',
    width: 6,
    sort: 'importance',
    cell: (each) => share(each.importance),
  },
  {
    name: 'confidence',
    title: 'Confidence',
    width: 6,
    sort: 'confidence',
    cell: (each) => share(each.confidence),
  },
  {
    name: 'usefulness',
    title: 'Usefulness',
    width: 6,
    sort: 'usefulness',
    cell: (each) => share(each.usefulness),
  },
  {
    name: 'stability',
    title: 'Stability',
    width: 5.5,
    sort: 'stability',
    cell: (each) => share(each.stability),
  },
  { name: 'tier', title: 'Tier', width: 4, cell: ({ tier }) => tier },
  { name: 'source', title: 'Source', width: 6, cell: ({ source }) => source },
  { name: 'author', title: 'Author', width: 7, cell: ({ author }) => <bdi>{author}</bdi> },
];

/** The list of all memories, with sorting and filters, and the opened memory beside it. */
export default function MemoriesView() {
  const { rest: opened, params } = useRoute();
  const signedIn = useCell(session);
  const [jump, setJump] = useState<{ readonly index: number }>();
  /** Ends the jump that waits for the server, once another text is typed or a memory is opened. */
  const jumping = useRef(new AbortController());
  const [forgetting, setForgetting] = useState(false);
  const summary = useRef<HTMLElement>(null);
  const sort: TableSort = {
    by: SORTS.find((each) => each === params.get('sort')) ?? 'updated',
    direction: DIRECTIONS.find((each) => each === params.get('direction')) ?? 'desc',
  };
  const filter = filterOf(params);
  const listed: ListOptions = { ...filter, sort: sort.by as 'updated', direction: sort.direction };
  const { total, error, pending, rowAt, need } = useRows(listed);
  const names = Object.keys(filter);
  const unread = FILTERS.filter((field) => isUnread(params, field));
  const isFiltered = names.length + unread.length > 0;
  const [unfolded, setUnfolded] = useState(isFiltered);
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Whoever empties the last field is still in it.
    setUnfolded(isFiltered || fields.current?.contains(document.activeElement) === true);
  }, [isFiltered]);
  const open = (id: string) => {
    jumping.current.abort();
    go('memories', Object.fromEntries(params), id);
  };
  useEffect(() => {
    // The list begins at the memory that is open already, on Back or after a reload. If it is not in the list, the list
    // begins at the top; what is wrong with the memory is told beside it.
    const { signal } = jumping.current;
    if (opened !== '') {
      look((memory) => memory.list({ ...listed, around: opened, limit: 1, signal })).then(
        ({ position }) => position !== undefined && !signal.aborted && setJump({ index: position }),
        () => undefined,
      );
    }
    return () => jumping.current.abort();
  }, []);
  const [jumpTo, isJumping] = useOnce(async (text: string) => {
    const place = Number(text);
    if (/^\d+$/.test(text) && place >= 1 && place <= (total ?? 0)) return setJump({ index: place - 1 });
    jumping.current = new AbortController();
    const { signal } = jumping.current;
    await look((memory) => memory.list({ ...listed, around: text, limit: 1, signal })).then(
      ({ position }) => {
        if (signal.aborted) return;
        if (position !== undefined) setJump({ index: position });
        open(text);
      },
      (error) => signal.aborted || tellFailure(error),
    );
  });
  return (
    <div class={`memories master ${opened === '' ? '' : 'with-detail'}`}>
      <section class="memories-list stack" aria-busy={pending}>
        <div class="view-head">
          <h1>
            Memories <span class="quiet count">{total?.toLocaleString('en')}</span>
          </h1>
          <div class="row">
            <form
              class="row"
              onSubmit={(event) => {
                event.preventDefault();
                const text = new FormData(event.currentTarget).get('place');
                if (typeof text === 'string' && text.trim() !== '') jumpTo(text.trim());
              }}
            >
              <input
                name="place"
                type="text"
                size={14}
                placeholder="Row or id"
                aria-label="Jump to a row or an id"
                onInput={() => jumping.current.abort()}
              />
              <BusyButton type="submit" busy={isJumping !== undefined}>
                Jump
              </BusyButton>
            </form>
            <CopyAs verb="list" fields={{ ...listed }} />
            {signedIn?.canWrite && (
              <button
                type="button"
                class="danger"
                // A filter that cannot be parsed would not protect the memories it is meant to exclude.
                disabled={unread.length > 0}
                onClick={() => setForgetting(true)}
              >
                Forget these…
              </button>
            )}
          </div>
        </div>
        <details class="filters" open={unfolded} onToggle={(event) => setUnfolded(event.currentTarget.open)}>
          <summary ref={summary}>
            Filter {names.length > 0 && <span class="tag">{names.length}</span>}
          </summary>
          <div ref={fields} class="filter-fields">
            {FILTERS.map((field) => (
              <FilterInput key={field.name} field={field} value={params.get(field.name) ?? ''} />
            ))}
          </div>
          <p id="filter-days" class="quiet">
            Days are those of UTC.
          </p>
          <button
            type="button"
            disabled={!isFiltered}
            onClick={() => {
              // With nothing to clear, this button is disabled and the fields are closed.
              summary.current?.focus();
              setParams(Object.fromEntries(FILTERS.map(({ name }) => [name, undefined])));
            }}
          >
            Clear
          </button>
        </details>
        {unread.map(({ name, title, kind }) => (
          <p key={name} class="failure-text" role="alert">
            {kind === 'where'
              ? `${title}: this is not a JSON object, and does not narrow the list. Write it like {"status":"open"}.`
              : `${title}: “${params.get(name)}” is neither true nor false, and does not narrow the list.`}
          </p>
        ))}
        <Unread what="sort" value={params.get('sort')} known={SORTS} instead={sort.by} />
        <Unread
          what="direction"
          value={params.get('direction')}
          known={DIRECTIONS}
          instead={sort.direction}
        />
        {error && <Failure error={error} retry={refresh} />}
        {error && !total ? null : total === 0 ? (
          <Empty title={names.length > 0 ? 'No memory matches' : 'Nothing is remembered yet'}>
            <p>
              {names.length > 0 ? 'Take a filter out.' : 'An agent remembers by itself; by hand: '}
              {names.length === 0 && <code>salience remember “…”</code>}
            </p>
          </Empty>
        ) : (
          <VirtualTable
            label="Memories"
            columns={opened === '' ? COLUMNS : COLUMNS.slice(0, 2)}
            count={total ?? 0}
            rowAt={rowAt}
            need={need}
            keyOf={({ id }) => id}
            open={({ id }) => open(id)}
            selected={opened}
            sort={sort}
            onSort={({ by, direction }) => setParams({ sort: by, direction })}
            scrollTo={jump}
          />
        )}
      </section>
      {opened !== '' && (
        <Detail key={opened} id={opened} close={() => go('memories', Object.fromEntries(params))} />
      )}
      {forgetting && <BulkForget filter={filter} close={() => setForgetting(false)} />}
    </div>
  );
}

function FilterInput({ field, value }: { readonly field: FilterField; readonly value: string }) {
  const { name, title, kind, choices = [], hint } = field;
  const set = (text: string) => setParams({ [name]: text || undefined });
  const onChange = (event: Event & { readonly currentTarget: HTMLInputElement | HTMLSelectElement }) =>
    set(event.currentTarget.value);
  const id = `filter-${name}`;
  // A field for days would look empty, though the time in the address filters.
  const isMoment = value !== '' && !/^\d{4}-\d\d-\d\d$/.test(value);
  return (
    <div class="field">
      <label for={id}>{title}</label>
      {kind === 'choice' ? (
        <select id={id} value={value} onChange={onChange}>
          <option value="">any</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : kind === 'date' && !isMoment ? (
        <input
          ref={takeOver}
          id={id}
          type="date"
          aria-describedby="filter-days"
          value={value}
          onChange={onChange}
        />
      ) : (
        <TypedInput id={id} value={value} placeholder={hint} take={(text) => set(text.trim())} />
      )}
    </div>
  );
}
