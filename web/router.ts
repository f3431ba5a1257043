import { cell, useCell } from './cell.ts';
import { session } from './session.ts';

/**
 * Where the page is: `#/recall?space=alice&q=coffee`. It stands in the fragment, which browsers send to nobody, so that no
 * log of a server or a proxy holds what was asked; and it never holds a credential.
 */
export interface Route {
  readonly view: string;
  /** The rest of the path, decoded: of `#/memories/some-id` it is `some-id`. */
  readonly rest: string;
  readonly params: URLSearchParams;
}

export type Params = Readonly<Record<string, string | undefined>>;

const route = cell<Route>(parse(location.hash));
/** The address that the route was last taken from, or written to: the browser tells of changes later, in a task. */
let known = location.hash;
let writing: ReturnType<typeof setTimeout> | undefined;
/** The address that follows when the hand rests. */
let next: string | undefined;

addEventListener('hashchange', () => {
  if (location.hash === known) return;
  take(location.hash);
});
// Before a link leads on: the page that is left keeps its parameters, and nothing is written over the new one.
addEventListener('click', write, { capture: true });

/** For what is no component; components follow with `useRoute`. */
export function currentRoute(): Route {
  return route.get();
}

export function useRoute(): Route {
  return useCell(route);
}

/** The address of a view, for links. */
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
  history.replaceState(null, '', next);
  known = location.hash;
  next = undefined;
}

/**
 * Changes parameters of the present view. What is typed or dragged is no step of the browser's history, and browsers take
 * so many changes of the address a second and no more: it follows when the hand rests.
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
  return { view, rest: decode(rest.join('/')), params: new URLSearchParams(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
