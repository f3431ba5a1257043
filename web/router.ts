import { cell, useCell } from './cell.ts';
import { session } from './session.ts';

/**
 * The location in the page: `#/recall?space=alice&q=coffee`. It is in the fragment, which browsers do not send, so that
 * no log of a server or proxy contains queries. It never contains a credential.
 */
export interface Route {
  readonly view: string;
  /** The rest of the path, decoded: of `#/memories/some-id` it is `some-id`. */
  readonly rest: string;
  readonly params: URLSearchParams;
}

export type Params = Readonly<Record<string, string | undefined>>;

const route = cell<Route>(parse(location.hash));
/** The address that the route was last read from or written to. */
let known = location.hash;
let writing: ReturnType<typeof setTimeout> | undefined;
/** The address to write after a pause in the input. */
let next: string | undefined;

// Not on `hashchange`, which the browser fires in a later task: the view before might be painted in between, and what else
// listens to `popstate` would take it for the new one.
addEventListener('popstate', () => {
  if (location.hash === known) return;
  take(location.hash);
});
// Before a link is followed, pending parameters are written: to the page being left, not over the new one.
addEventListener('click', write, { capture: true });

/** Returns the current route. Components use `useRoute` instead. */
export function currentRoute(): Route {
  return route.get();
}

export function useRoute(): Route {
  return useCell(route);
}

/** Returns the address of a view, for links. */
export function href(view: string, params: Params = {}, rest = ''): string {
  const query = new URLSearchParams();
  const space = session.get()?.grant.space;
  for (const [name, value] of Object.entries({ space, ...params })) {
    if (value !== undefined && value !== '') query.set(name, value);
  }
  const path = rest === '' ? view : `${view}/${encodeURIComponent(rest)}`;
  return `#/${path}${query.size === 0 ? '' : `?${query}`}`;
}

export function go(view: string, params?: Params, rest?: string): void {
  write();
  location.hash = href(view, params, rest);
  take(location.hash);
}

function take(hash: string): void {
  clearTimeout(writing);
  next = undefined;
  known = hash;
  route.set(parse(hash));
}

function write(): void {
  clearTimeout(writing);
  if (next === undefined) return;
  history.replaceState(history.state, '', next);
  known = location.hash;
  next = undefined;
}

/**
 * Changes parameters of the current view without a new step in the browser's history. The address is written after a
 * pause in the input, because browsers limit how often it may change.
 */
export function setParams(changes: Params): void {
  const { view, rest, params } = route.get();
  next = href(view, { ...Object.fromEntries(params), ...changes }, rest);
  route.set(parse(next));
  clearTimeout(writing);
  writing = setTimeout(write, 200);
}

function parse(hash: string): Route {
  const [, path = '', query = ''] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const [view = '', ...rest] = path.split('/');
  // Of a repeated name the last value holds, as where the address is changed.
  const params = new URLSearchParams(Object.fromEntries(new URLSearchParams(query)));
  return { view, rest: decode(rest.join('/')), params };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
