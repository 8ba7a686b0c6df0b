import { signal } from '@preact/signals';

const SESSION_VIEWS = ['session', 'timeline', 'prompt'] as const;
export type SessionViewName = (typeof SESSION_VIEWS)[number];
const GLOBAL_VIEWS = ['sessions', 'learnings'] as const;
export type GlobalViewName = (typeof GLOBAL_VIEWS)[number];

export type PageRoute = { readonly params: URLSearchParams } & (
  | { readonly view: GlobalViewName; readonly session?: undefined }
  | { readonly view: SessionViewName; readonly session: string }
  | { readonly view: 'nowhere'; readonly session?: undefined }
);

export interface SessionViewProps {
  readonly session: string;
  readonly params: URLSearchParams;
}
export interface GlobalViewProps {
  readonly params: URLSearchParams;
}

/** Query parameters: undefined, empty and false values are left out, and true is written as 1. */
export type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>;

export const route = signal<PageRoute>({ view: 'nowhere', params: new URLSearchParams() });

export function sessionHref(
  session: string,
  view: SessionViewName = 'session',
  query: QueryValues = {},
): string {
  const base = `/s/${session}`;
  return withQuery(view === 'session' ? base : `${base}/${view}`, query);
}

export function viewHref(view: GlobalViewName, query: QueryValues = {}): string {
  return withQuery(view === 'sessions' ? '/' : `/${view}`, query);
}

/** Navigates within the page; `replace` adds no history entry. */
export function navigate(address: string, how: { readonly replace?: boolean } = {}): void {
  if (how.replace === true) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  route.value = routeOf(location.pathname, location.search);
}

/** Changes some query parameters, which hold the filters, without a history entry. */
export function setParams(values: QueryValues): void {
  navigate(withQuery(location.pathname, values, location.search), { replace: true });
}

const OF_SESSION = /^\/s\/([\w-]{1,64})(?:\/(\w+))?\/?$/;

function routeOf(path: string, search: string): PageRoute {
  const params = new URLSearchParams(search);
  const [, session, view = 'session'] = OF_SESSION.exec(path) ?? [];
  if (session !== undefined && isOneOf(SESSION_VIEWS, view)) return { view, session, params };
  const name = path.replace(/^\/|\/$/g, '') || 'sessions';
  return { view: isOneOf(GLOBAL_VIEWS, name) ? name : 'nowhere', params };
}

/** Follows the address bar, and clicks on links to this page. */
export function followAddress(): void {
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
}

function withQuery(path: string, query: QueryValues, before = ''): string {
  const params = new URLSearchParams(before);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '' || value === false) params.delete(name);
    else params.set(name, value === true ? '1' : String(value));
  }
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

function isOneOf<Name extends string>(names: readonly Name[], name: string): name is Name {
  return names.some((known) => known === name);
}
