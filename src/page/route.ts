import { signal } from '@preact/signals';

/** Which view the address names, and what it says beside that. */

const SESSION_VIEWS = ['session', 'timeline', 'prompt', 'diff', 'facts'] as const;
export type SessionViewName = (typeof SESSION_VIEWS)[number];
const GLOBAL_VIEWS = ['sessions', 'learnings', 'rejected', 'health'] as const;
export type GlobalViewName = (typeof GLOBAL_VIEWS)[number];

export type PageRoute = { readonly params: URLSearchParams } & (
  | { readonly view: GlobalViewName; readonly session?: undefined }
  | { readonly view: SessionViewName; readonly session: string }
  | { readonly view: 'nowhere'; readonly session?: undefined }
);

/** What a view of one session gets. */
export interface SessionViewProps {
  readonly session: string;
  readonly params: URLSearchParams;
}
/** What any other view gets. */
export interface GlobalViewProps {
  readonly params: URLSearchParams;
}

/** Values of a query: what is undefined or empty is left out. */
export type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>;

export const route = signal<PageRoute>({ view: 'nowhere', params: new URLSearchParams() });

/** The address of a view of a session. */
export function sessionHref(
  session: string,
  view: SessionViewName = 'session',
  query: QueryValues = {},
): string {
  const base = `/s/${encodeURIComponent(session)}`;
  return withQuery(view === 'session' ? base : `${base}/${view}`, query);
}

/** The address of any other view. */
export function viewHref(view: GlobalViewName, query: QueryValues = {}): string {
  return withQuery(view === 'sessions' ? '/' : `/${view}`, query);
}

/** Goes to an address of this page; `replace` leaves no entry in the history. */
export function navigate(address: string, how: { readonly replace?: boolean } = {}): void {
  if (how.replace === true) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  route.value = routeOf(location.pathname, location.search);
}

/** Changes values of the query and leaves the others: filters live in the address. No entry in the history. */
export function setParams(values: QueryValues): void {
  const params = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    const text = queryText(value);
    if (text === undefined) params.delete(name);
    else params.set(name, text);
  }
  const query = params.toString();
  navigate(location.pathname + (query === '' ? '' : `?${query}`), { replace: true });
}

/** A name that a session can have, as the services take it. */
const SESSION_NAME = /^[\w-]{1,64}$/;

/** The route of an address. */
function routeOf(path: string, search: string): PageRoute {
  const params = new URLSearchParams(search);
  const parts = path.split('/').filter((part) => part !== '');
  const [first = 'sessions', name, view = 'session', ...rest] = parts;
  const session = name === undefined ? undefined : decoded(name);
  if (
    first === 's' &&
    session !== undefined &&
    SESSION_NAME.test(session) &&
    rest.length === 0 &&
    isOneOf(SESSION_VIEWS, view)
  ) {
    return { view, session, params };
  }
  if (parts.length <= 1 && isOneOf(GLOBAL_VIEWS, first)) return { view: first, params };
  return { view: 'nowhere', params };
}

/** Follows the address bar, and clicks on links to this page. Returns what ends that. */
export function followAddress(): () => void {
  const read = () => {
    route.value = routeOf(location.pathname, location.search);
  };
  const clicked = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin) return;
    if (link.target !== '' || link.hasAttribute('download') || link.getAttribute('href')?.startsWith('#'))
      return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  };
  read();
  addEventListener('popstate', read);
  document.addEventListener('click', clicked);
  return () => {
    removeEventListener('popstate', read);
    document.removeEventListener('click', clicked);
  };
}

function withQuery(path: string, query: QueryValues): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const text = queryText(value);
    if (text !== undefined) params.set(name, text);
  }
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** `true` is written 1; what says nothing is left out. */
function queryText(value: QueryValues[string]): string | undefined {
  if (value === undefined || value === '' || value === false) return undefined;
  return value === true ? '1' : String(value);
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function isOneOf<Name extends string>(names: readonly Name[], name: string): name is Name {
  return names.some((each) => each === name);
}
