import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type GlobalViewName, route, type SessionViewName, sessionHref, viewHref } from '../route.js';
import { Button } from './fields.js';

const GLOBAL: readonly (readonly [view: GlobalViewName, label: string])[] = [
  ['sessions', 'Sessions'],
  ['learnings', 'Learnings'],
];

const OF_SESSION: readonly (readonly [view: SessionViewName, label: string])[] = [
  ['session', 'Overview'],
  ['timeline', 'Timeline'],
  ['prompt', 'Prompt'],
];

export function PageHeader(props: { readonly onFind: () => void }) {
  const at = route.value;
  return (
    <header class="header">
      <div class="header-row">
        <a class="brand" href={viewHref('sessions')} aria-label="Throughline">
          <Mark />
          <span class="brand-name">Throughline</span>
        </a>
        <nav class="nav" aria-label="Views">
          {GLOBAL.map(([view, label]) => (
            <NavLink
              key={view}
              href={viewHref(view)}
              current={at.view === view || (view === 'sessions' && at.session !== undefined)}
            >
              {label}
            </NavLink>
          ))}
        </nav>
        <Button small onClick={props.onFind}>
          Find<span class="only-wide quiet">Ctrl+K</span>
        </Button>
      </div>
      {at.session === undefined ? null : (
        <div class="header-row header-session">
          <span class="header-name one-line" title={at.session}>
            {at.session}
          </span>
          <nav class="nav" aria-label="Views of the session">
            {OF_SESSION.map(([view, label]) => (
              <NavLink key={view} href={sessionHref(at.session, view)} current={at.view === view}>
                {label}
              </NavLink>
            ))}
          </nav>
        </div>
      )}
    </header>
  );
}

function NavLink(props: {
  readonly href: string;
  readonly current: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <a class="nav-link" href={props.href} aria-current={props.current ? 'page' : undefined}>
      {props.children}
    </a>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
      <path d="M1 8h14" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
      <circle cx="8" cy="8" r="3" fill="currentColor" />
    </svg>
  );
}

/** Heading of a view, and title of the window; `of` is the session or project in that title. */
export function PageHead(props: {
  readonly title: string;
  readonly of?: string | undefined;
  readonly children?: ComponentChildren;
}) {
  useEffect(() => {
    document.title = [props.title, props.of, 'Throughline'].filter((part) => part !== undefined).join(' · ');
  }, [props.title, props.of]);
  return (
    <div class="page-head">
      <h1 tabIndex={-1}>{props.title}</h1>
      {props.children}
    </div>
  );
}
