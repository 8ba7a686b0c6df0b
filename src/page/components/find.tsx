import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActivityReply } from '../../contracts/inspector-api.js';
import { ask, fetchOwn } from '../ask.js';
import { navigate, route, sessionHref, viewHref } from '../route.js';

interface Found {
  readonly kind: 'session' | 'task' | 'fact' | 'file' | 'learning';
  readonly text: string;
  readonly where: string;
  readonly href: string;
}

const TYPING_MS = 200;
const MOST = 6;
/** Projects whose learnings are searched, those with most of them. */
const PROJECTS = 8;

/** Finds a session, task, fact, file or learning, and opens it: Ctrl+K. */
export function Find({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Found[]>();
  const [at, setAt] = useState(0);
  const { session } = route.value;
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    setFound(undefined);
    setAt(0);
    if (text.trim() === '') return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      void find(text.trim(), session, abort.signal).then((all) => {
        if (!abort.signal.aborted) setFound(all);
      });
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, session]);
  const go = (href: string | undefined) => {
    if (href === undefined) return;
    onClose();
    navigate(href);
  };
  return (
    <dialog ref={dialog} class="dialog find" aria-label="Find" onClose={onClose}>
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
          } else if (event.key === 'Enter') go(found?.[at]?.href);
        }}
      />
      {found === undefined ? null : (
        <ul class="rows" aria-label="Found">
          {found.map(({ kind, text: said, where, href }, index) => (
            <li key={`${kind} ${href}`}>
              <a
                class="pick find-row"
                href={href}
                aria-current={index === at ? 'true' : undefined}
                onClick={onClose}
              >
                <span class="quiet small">{kind}</span>
                <span class="one-line">{said}</span>
                <span class="quiet small one-line">{where}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
      <p class="card-body quiet small" role="status">
        {found?.length === 0 ? 'Nothing fits. ' : ''}
        {session === undefined
          ? 'Facts and files are found within a session: open it first.'
          : `Facts and files are those of ${session}.`}
      </p>
    </dialog>
  );
}

/** Asks every place at once; one that fails adds nothing. */
async function find(text: string, session: string | undefined, abort: AbortSignal): Promise<Found[]> {
  const parts: Promise<Found[]>[] = [
    ask('tool.session-list', { text, archived: true, limit: MOST }, abort).then(({ sessions }) =>
      sessions.map((each) => ({
        kind: 'session',
        text: each.session,
        where: each.brief ? '' : (each.title ?? each.goal ?? each.project ?? ''),
        href: sessionHref(each.session),
      })),
    ),
    ...(session === undefined ? [] : inSession(text, session, abort)),
    learnings(text, abort),
    fetchOwn<ActivityReply>(`/api/activity?${new URLSearchParams({ text })}`).then(({ entries }) => {
      const tasks = new Map(entries.map((entry) => [`${entry.session} ${entry.task}`, entry]));
      return [...tasks.values()]
        .filter(({ task }) => task !== undefined)
        .slice(0, MOST)
        .map((entry) => ({
          kind: 'task',
          text: `${entry.task}: ${entry.summary}`,
          where: entry.session,
          href: sessionHref(entry.session, 'timeline', { task: entry.task }),
        }));
    }),
  ];
  return (await Promise.all(parts.map((part) => part.catch(() => [])))).flat();
}

function inSession(text: string, session: string, abort: AbortSignal): Promise<Found[]>[] {
  return [
    ask('tool.fact-find', { session, text, limit: MOST }, abort).then(({ facts }) =>
      facts.map(({ id, subject, object }) => ({
        kind: 'fact',
        text: object,
        where: subject,
        href: sessionHref(session, 'facts', { id }),
      })),
    ),
    ask('tool.file-list', { session, text, limit: MOST }, abort).then(({ files }) =>
      files.map(({ path, tasks }) => ({
        kind: 'file',
        text: path,
        where: tasks.join(', '),
        href: sessionHref(session, 'facts', { tab: 'files', file: path }),
      })),
    ),
  ];
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
