import { useEffect, useRef, useState } from 'preact/hooks';
import type { SessionListed } from '../../contracts/replies/session-reply.js';
import { ask } from '../ask.js';
import { navigate, sessionHref, viewHref } from '../route.js';
import { Pick } from './fields.js';

interface Found {
  readonly kind: 'session' | 'task' | 'fact' | 'file' | 'learning';
  readonly text: string;
  readonly where: string;
  readonly href: string;
}

const TYPING_MS = 100;
const MOST = 6;
/** Projects whose learnings are searched, those with most of them. */
const PROJECTS = 8;

/** Finds a session, task, fact, file or learning of any session, and opens it: Ctrl+K. */
export function Find({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Found[]>();
  const [at, setAt] = useState(0);
  const [remembering, setRemembering] = useState('sessions');
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    setFound(undefined);
    setAt(0);
    if (text.trim() === '') return;
    const abort = new AbortController();
    const timer = setTimeout(() => void find(text.trim(), abort.signal, setFound, setRemembering), TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  const go = (href: string | undefined) => {
    if (href === undefined) return;
    onClose();
    navigate(href);
  };
  return (
    <dialog ref={dialog} class="find" aria-label="Find" onClose={onClose}>
      <input
        type="search"
        class="find-text"
        aria-label="A session, task, fact, file or learning"
        placeholder="A session, task, fact, file or learning"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (by !== undefined) {
            event.preventDefault();
            setAt(Math.min((found?.length ?? 1) - 1, Math.max(0, at + by)));
          } else if (event.key === 'Enter' && !event.isComposing) go(found?.[at]?.href);
        }}
      />
      {found === undefined ? null : (
        <ul class="rows" aria-label="Found">
          {found.map(({ kind, text: label, where, href }, index) => (
            <li key={`${kind} ${href} ${label}`}>
              <Pick class="find-row" href={href} current={index === at} onClick={onClose}>
                <span class="quiet small">{kind}</span>
                <span class="one-line">{label}</span>
                <span class="quiet small one-line">{where}</span>
              </Pick>
            </li>
          ))}
        </ul>
      )}
      <p class="card-body quiet small" role="status">
        {found?.length === 0 ? 'Nothing fits. ' : ''}
        Searches learnings, what {remembering} remember, open tasks and the last changed files.
      </p>
    </dialog>
  );
}

/**
 * Asks the list of sessions, then all other places at once, and shows what has come so far: one process may answer all, and
 * the list is much the quickest. A place that fails adds nothing.
 */
async function find(
  text: string,
  abort: AbortSignal,
  show: (found: readonly Found[]) => void,
  remembering: (sessions: string) => void,
): Promise<void> {
  const found: Found[] = [];
  const add = async (part: Promise<Found[]>) => {
    found.push(...(await part.catch(() => [])));
    if (!abort.aborted && found.length > 0) show([...found]);
  };
  const listed = ask('tool.session-list', { text, archived: true, limit: 2 * MOST }, abort);
  await add(listed.then(({ sessions }) => inSessions(sessions, text)));
  if (abort.aborted) return;
  await Promise.all([remembered(text, abort, remembering), learnings(text, abort)].map(add));
  if (!abort.aborted) show(found);
}

/** Returns the open tasks and files that have the words, and the sessions that have them elsewhere. */
function inSessions(sessions: readonly SessionListed[], text: string): Found[] {
  const words = text.toLowerCase().split(/\s+/);
  const rows = sessions.flatMap((listed): Found[] => {
    const { session } = listed;
    const { title, goal, project, found } = listed.brief ? {} : listed;
    const names = [session, title, goal, project].join(' ').toLowerCase();
    const isNamed = found === undefined || words.every((word) => names.includes(word));
    const where = title ?? goal ?? project ?? '';
    const row = { kind: 'session' as const, text: session, where, href: sessionHref(session) };
    return [
      ...(isNamed ? [row] : []),
      ...(found?.tasks ?? []).map((task) => taskRow(task, session)),
      ...(found?.files ?? []).map((path) => fileRow(path, session)),
    ];
  });
  return KINDS.flatMap((kind) => rows.filter((row) => row.kind === kind).slice(0, MOST));
}

const KINDS = ['session', 'task', 'file'] as const;

function taskRow({ id, text }: { readonly id: string; readonly text: string }, session: string): Found {
  const href = sessionHref(session, 'timeline', { task: id });
  return { kind: 'task', text: `${id}: ${text}`, where: session, href };
}

function fileRow(path: string, session: string): Found {
  return { kind: 'file', text: path, where: session, href: sessionHref(session, 'timeline') };
}

/** Returns what sessions remember that fits the words or means the same, and says which were searched. */
async function remembered(
  query: string,
  abort: AbortSignal,
  remembering: (sessions: string) => void,
): Promise<Found[]> {
  const { items, searched, sessions } = await ask('tool.recall', { query, limit: MOST }, abort);
  remembering(searched < sessions ? `the newest ${searched} of ${sessions} sessions` : 'sessions');
  return items.map(({ id, session, task, text }) => ({
    kind: 'fact',
    text,
    where: `${session}, task ${task}`,
    href: sessionHref(session, 'session', { id }),
  }));
}

async function learnings(query: string, abort: AbortSignal): Promise<Found[]> {
  const { projects = [] } = await ask('proposal.list', { limit: 1, projects: true }, abort);
  const searched = projects
    .filter(({ active }) => active > 0)
    .sort((a, b) => b.active - a.active)
    .slice(0, PROJECTS)
    .map(async ({ project }) => {
      const { results, method } = await ask('learning.search', { project, query, maxResults: MOST }, abort);
      // Sorted by age, they have nothing to do with the words.
      return method === 'recency' ? [] : results.map(({ learning }) => ({ project, learning }));
    });
  return (await Promise.all(searched))
    .flat()
    .slice(0, MOST)
    .map(({ project, learning }) => ({
      kind: 'learning',
      text: learning.content,
      where: project,
      href: viewHref('learnings', { tab: 'active', project, id: learning.id }),
    }));
}
