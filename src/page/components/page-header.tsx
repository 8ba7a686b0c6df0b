import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { bound, type KeyBinding } from '../keys.js';
import { type GlobalViewName, route, type SessionViewName, sessionHref, viewHref } from '../route.js';
import { Button } from './fields.js';

const GLOBAL: readonly (readonly [view: GlobalViewName, label: string])[] = [
  ['sessions', 'Sessions'],
  ['learnings', 'Learnings'],
  ['rejected', 'Rejected'],
  ['health', 'Health'],
];

const OF_SESSION: readonly (readonly [view: SessionViewName, label: string])[] = [
  ['session', 'Overview'],
  ['timeline', 'Timeline'],
  ['prompt', 'Prompt'],
  ['facts', 'Facts'],
];

export function PageHeader(props: { readonly onHelp: () => void; readonly onFind: () => void }) {
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
        <div class="header-tools">
          <button
            type="button"
            class="icon-button"
            onClick={props.onFind}
            aria-label="Find"
            title="Find (Ctrl+K)"
          >
            ⌕
          </button>
          <button
            type="button"
            class="icon-button key-help-button"
            onClick={props.onHelp}
            aria-label="Keys"
            title="Keys (?)"
          >
            ?
          </button>
        </div>
      </div>
      {at.session === undefined ? null : (
        <div class="header-row header-session">
          <span class="header-name" title={at.session}>
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

/** Help on the keys of the current view. */
export function KeyHelp({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="key-help-title" onClose={onClose}>
      <div class="card-head dialog-head">
        <h2 id="key-help-title">Keys</h2>
        <Button small onClick={onClose}>
          Close
        </Button>
      </div>
      <dl class="keys">
        {bound.value
          .flat()
          .filter(isFirst)
          .map(({ keys, does }) => (
            <Fragment key={does}>
              <dt>
                {keys.map((each, index) => (
                  <Fragment key={each}>
                    {index === 0 ? null : <span class="quiet"> or </span>}
                    {each.split(' ').map((key) => (
                      <kbd key={key}>{KEY_NAMES[key] ?? key}</kbd>
                    ))}
                  </Fragment>
                ))}
              </dt>
              <dd>{does}</dd>
            </Fragment>
          ))}
      </dl>
    </dialog>
  );
}

const KEY_NAMES: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  Escape: 'Esc',
  PageDown: 'Page ↓',
  PageUp: 'Page ↑',
};

/** A binding of a view hides the page's binding of the same key. */
function isFirst(binding: KeyBinding, index: number, all: readonly KeyBinding[]): boolean {
  return all.findIndex(({ keys }) => keys.some((key) => binding.keys.includes(key))) === index;
}
