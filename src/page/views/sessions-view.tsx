import '../styles/session.css';
import { useRef } from 'preact/hooks';
import type { SessionFigures, SessionListed } from '../../contracts/replies/session-reply.js';
import type { RequestInput } from '../../contracts/requests.js';
import { Ago, Button, FilterField, SelectField, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { Empty, MoreButton, QueryView } from '../components/states.js';
import { type GlobalViewProps, sessionHref, setParams } from '../route.js';
import { quoted } from '../session/needs-list.js';
import { NeedsYou } from '../session/needs-you.js';
import { usePages } from '../use-ask.js';
import { COMMANDS, counted, figure } from '../words.js';

const SHOWN = [
  { value: '', label: 'All but archived' },
  { value: 'open', label: 'Open' },
  { value: 'stalled', label: 'Stalled' },
  { value: 'quiet', label: 'Quiet for a week' },
  { value: 'completed', label: 'Completed' },
  { value: 'archived', label: 'Archived' },
] as const;
/** Largest page that the service returns. */
const LIMIT = 200;

const COLUMNS = ['Session', 'Project', 'Progress', 'Results', 'Works now', 'Last event'];

/** Lists what needs a person, then the sessions. */
export function SessionsView({ params }: GlobalViewProps) {
  const text = params.get('text') ?? '';
  const project = params.get('project') ?? '';
  const since = params.get('since') ?? '';
  const from = new Date(`${since}T00:00`);
  const shown = SHOWN.find(({ value }) => value === params.get('show'))?.value ?? '';
  const { query, sessions, total, projects } = useSessions({
    limit: LIMIT,
    text: text || undefined,
    project: project || undefined,
    since: Number.isNaN(from.getTime()) ? since || undefined : from.toISOString(),
    ...(shown === 'stalled' ? { stalled: true } : {}),
    ...(shown === 'quiet' ? { olderThan: '7d', status: 'open' } : {}),
    ...(shown === 'open' || shown === 'completed' || shown === 'archived' ? { status: shown } : {}),
  });
  const sorted = sessions.toSorted((a, b) => b.at.localeCompare(a.at));
  const isFiltered = [text, project, since, shown].some((value) => value !== '');
  const isEmpty = !isFiltered && query.reply !== undefined && sessions.length === 0;
  return (
    <>
      <PageHead title="Sessions">
        {query.reply === undefined || isEmpty ? null : (
          <span class="quiet figure">
            {counted(total, 'session')}
            {total > sessions.length ? `, ${figure(sessions.length)} of them loaded` : ''}
          </span>
        )}
      </PageHead>
      {isEmpty ? null : (
        <div class="tools">
          <div class="field-wide">
            <FilterField
              label="Words"
              placeholder="of a name, goal, question, task or file"
              value={text}
              onFilter={(value) => setParams({ text: value })}
            />
          </div>
          <FilterField
            label="Project"
            value={project}
            list={projects}
            onFilter={(value) => setParams({ project: value })}
          />
          <FilterField label="Since" value={since} date onFilter={(value) => setParams({ since: value })} />
          <SelectField<(typeof SHOWN)[number]['value']>
            label="Show"
            value={shown}
            choices={SHOWN}
            onChoose={(value) => setParams({ show: value })}
          />
        </div>
      )}
      <QueryView query={query} what="sessions">
        {() =>
          sessions.length === 0 ? (
            <NoSessions filtered={isFiltered} />
          ) : (
            <>
              <NeedsYou sessions={sessions} isFiltered={isFiltered} />
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard. */}
              <section class="table-scroll" aria-label="Sessions" tabIndex={0}>
                <table class="table">
                  <thead>
                    <tr>
                      {COLUMNS.map((name) => (
                        <th key={name} scope="col" class={WIDE.has(name) ? 'only-wide' : ''}>
                          {name}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {sorted.map((row) => (
                      <SessionRow key={row.session} listed={row} />
                    ))}
                  </tbody>
                </table>
              </section>
              {total > sessions.length ? (
                <MoreButton pages={query} shown={sessions.length} total={total} />
              ) : null}
            </>
          )
        }
      </QueryView>
    </>
  );
}

/** Columns that a phone does not show. */
const WIDE = new Set(['Project', 'Results', 'Works now']);

/** Returns the tasks of the plan that are done, or those of the board. */
function doneOf({ plan, board }: SessionFigures) {
  const { done, total } = plan ?? { done: board.done, total: board.open + board.done };
  return { done, total, share: total === 0 ? -1 : done / total };
}

/** Returns the task or file for which a session is in the list. */
function foundIn(figures: SessionFigures | undefined): string | undefined {
  const [task] = figures?.found?.tasks ?? [];
  return task === undefined ? figures?.found?.files[0] : `${task.id}: ${task.text}`;
}

function SessionRow({ listed }: { readonly listed: SessionListed }) {
  const figures = listed.brief ? undefined : listed;
  const { done, total, share } = figures === undefined ? { done: 0, total: 0, share: -1 } : doneOf(figures);
  const [claim, ...others] = figures?.working ?? [];
  const work = foundIn(figures) ?? figures?.last;
  return (
    <tr class="session-row">
      <td class="session-name">
        <div>
          <a class="one-line row-link" href={sessionHref(listed.session)}>
            {listed.session}
          </a>
          {figures?.status === 'completed' ? <Tag>completed</Tag> : null}
          {figures?.archived === undefined ? null : <Tag>archived</Tag>}
          <span class="quiet one-line">
            {work === undefined ? (figures?.title ?? figures?.goal) : quoted(work)}
          </span>
        </div>
      </td>
      <td class="only-wide quiet">{figures?.project}</td>
      <td class="figure quiet">
        {share < 0 ? null : (
          <span class="progress">
            {done}/{total}
            <progress class="share" aria-hidden="true" max={1} value={Math.min(1, share)} />
          </span>
        )}
      </td>
      <td class="only-wide figure quiet">
        {figures && figure(figures.results)}{' '}
        {figures?.rejected ? <span class="bad">{figures.rejected} rejected</span> : null}
      </td>
      <td class="only-wide quiet">
        {claim === undefined ? null : (
          <span title={`${claim.agent} since ${claim.since}`}>
            {claim.agent}: {claim.task} <Ago at={claim.since} />
            {others.length === 0 ? '' : ` + ${others.length}`}
          </span>
        )}
      </td>
      <td class="quiet">
        <Ago at={listed.at} />
      </td>
    </tr>
  );
}

function NoSessions({ filtered }: { readonly filtered: boolean }) {
  if (!filtered) {
    return (
      <Empty title="No sessions yet" command={COMMANDS.openSession()}>
        A session begins with its first result, task or goal. This command creates an empty session:
      </Empty>
    );
  }
  return (
    <Empty title="No session fits">
      <Button onClick={() => setParams({ text: '', project: '', since: '', show: '' })}>
        Show all sessions
      </Button>
    </Empty>
  );
}

/** Lists the sessions, each once: one that moved meanwhile may be on two pages. */
function useSessions(filter: RequestInput<'tool.session-list'>) {
  const query = usePages('tool.session-list', filter, 'event:change');
  const rows = new Map<string, SessionListed>();
  for (const page of query.pages)
    for (const row of page.sessions) if (!rows.has(row.session)) rows.set(row.session, row);
  const sessions = [...rows.values()];
  // Stays complete while one project is shown.
  const projects = useRef(new Set<string>()).current;
  for (const row of sessions) if (!row.brief && row.project !== undefined) projects.add(row.project);
  return {
    query,
    sessions,
    projects: [...projects].sort(),
    total: query.more === undefined ? sessions.length : (query.reply?.total ?? 0),
  };
}
