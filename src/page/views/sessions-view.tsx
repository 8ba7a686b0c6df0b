import '../styles/sessions.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SessionFigures, SessionListed } from '../../contracts/replies/session-reply.js';
import { type AskBody, ask } from '../ask.js';
import { Ago, Button, FilterField, SelectField, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { AskedView, Empty, MoreButton } from '../components/states.js';
import { Progress } from '../components/table.js';
import { isFigures, onLive, throttled } from '../live.js';
import { type GlobalViewProps, sessionHref, setParams } from '../route.js';
import { NeedsYou } from '../session/needs-you.js';
import { AGAIN_MS, usePages } from '../use-ask.js';
import { counted, figure } from '../words.js';

const SHOWN = [
  { value: '', label: 'All but archived' },
  { value: 'open', label: 'Open' },
  { value: 'stalled', label: 'Stalled' },
  { value: 'quiet', label: 'Quiet for a week' },
  { value: 'completed', label: 'Completed' },
  { value: 'archived', label: 'Archived' },
] as const;
type Shown = (typeof SHOWN)[number]['value'];

/** Largest page that the service returns. */
const LIMIT = 200;

/** Lists what needs a person, then the sessions, the newest first. */
export function SessionsView({ params }: GlobalViewProps) {
  const text = params.get('text') ?? '';
  const shown = SHOWN.find(({ value }) => value === params.get('show'))?.value ?? '';
  const { asked, sessions, total } = useSessions({
    limit: LIMIT,
    text: text || undefined,
    ...(shown === 'stalled' ? { stalled: true } : {}),
    ...(shown === 'quiet' ? { olderThan: '7d', status: 'open' } : {}),
    ...(shown === 'open' || shown === 'completed' || shown === 'archived' ? { status: shown } : {}),
  });
  return (
    <>
      <PageHead title="Sessions">
        {asked.reply === undefined ? null : <span class="quiet figure">{counted(total, 'session')}</span>}
      </PageHead>
      <div class="tools">
        <div class="field-wide">
          <FilterField
            label="Name, title, project or goal"
            value={text}
            onFilter={(value) => setParams({ text: value })}
          />
        </div>
        <SelectField<Shown>
          label="Show"
          value={shown}
          choices={SHOWN}
          onChoose={(value) => setParams({ show: value })}
        />
      </div>
      <AskedView asked={asked} what="sessions">
        {() =>
          sessions.length === 0 ? (
            <NoSessions filtered={text !== '' || shown !== ''} />
          ) : (
            <>
              <NeedsYou sessions={sessions} />
              <ul class="card rows session-list">
                {sessions.map((each) => (
                  <SessionRow key={each.session} listed={each} />
                ))}
              </ul>
              {total > sessions.length ? (
                <MoreButton pages={asked} shown={sessions.length} total={total} />
              ) : null}
            </>
          )
        }
      </AskedView>
    </>
  );
}

function SessionRow({ listed }: { readonly listed: SessionListed }) {
  return (
    <li class="session-row">
      <div class="session-main">
        <div class="session-name">
          <a class="one-line row-link" data-row href={sessionHref(listed.session)}>
            {listed.session}
          </a>
          {listed.brief ? null : (
            <>
              {listed.status === 'completed' ? <Tag>completed</Tag> : null}
              {listed.archived === undefined ? null : <Tag>archived</Tag>}
              {listed.project === undefined ? null : <span class="quiet one-line">{listed.project}</span>}
              <span class="quiet one-line session-goal">{listed.title ?? listed.goal}</span>
            </>
          )}
        </div>
      </div>
      {listed.brief ? <div class="session-work" /> : <Figures listed={listed} />}
      <div class="session-age quiet">
        <Ago at={listed.at} />
      </div>
    </li>
  );
}

function Figures({ listed }: { readonly listed: SessionFigures }) {
  const { board, plan, results, rejected, working } = listed;
  const [claim, ...others] = working;
  const tasks = board.open + board.done;
  return (
    <>
      <div class="session-work">
        {plan !== undefined ? (
          <Progress label="Plan" done={plan.done} total={plan.total} />
        ) : tasks > 0 ? (
          <Progress label="Board" done={board.done} total={tasks} />
        ) : null}
      </div>
      <div class="session-figures quiet figure">
        {claim === undefined ? (
          counted(results, 'result')
        ) : (
          <span class="one-line" title={`${claim.agent} since ${claim.since}`}>
            {claim.task} {claim.agent} <Ago at={claim.seen} />
            {others.length === 0 ? '' : ` + ${others.length}`}
          </span>
        )}
        {rejected === 0 ? null : <span class="bad"> {figure(rejected)} rejected</span>}
      </div>
    </>
  );
}

function NoSessions({ filtered }: { readonly filtered: boolean }) {
  if (!filtered) {
    return (
      <Empty title="No sessions yet" command="throughline session open demo --goal &quot;A first try&quot;">
        A session begins with its first result, task or goal. This command creates an empty session:
      </Empty>
    );
  }
  return (
    <Empty title="No session fits">
      <Button onClick={() => setParams({ text: '', show: '' })}>Show all sessions</Button>
    </Empty>
  );
}

/** Follows the list of sessions, the newest first: those with events are asked for by name, at most every two seconds. */
function useSessions(filter: AskBody<'tool.session-list'>) {
  const asked = usePages('tool.session-list', filter, 'event:lost');
  const first = asked.reply;
  /** The rows that changed since the pages were loaded; undefined for one that no longer fits. */
  const [changed, hold] = useState<Changes>({ of: first, rows: new Map() });
  const newest = useRef(first);
  newest.current = first;
  const key = JSON.stringify(filter);
  useEffect(() => {
    const names = new Set<string>();
    const change = (rows: ReadonlyMap<string, SessionListed | undefined>) =>
      hold(({ of, rows: old }) => ({
        of: newest.current,
        rows: new Map([...(of === newest.current ? old : []), ...rows]),
      }));
    const again = throttled(async () => {
      if (newest.current === undefined) return again.soon();
      const wanted = [...names].slice(0, LIMIT);
      for (const name of wanted) names.delete(name);
      // An error is shown by the next load of the pages: the stream breaks as well.
      const reply = await ask('tool.session-list', { ...filter, names: wanted }).catch(() => undefined);
      if (reply === undefined) return;
      const found = new Map(reply.sessions.map((each) => [each.session, each]));
      change(new Map(wanted.map((name) => [name, found.get(name)])));
      if (names.size > 0) again.soon();
    }, AGAIN_MS);
    const off = onLive((event) => {
      if (!isFigures(event)) return;
      names.add(event.session);
      again.soon();
    });
    return () => {
      off();
      again.stop();
    };
  }, [key]);
  const rows = new Map<string, SessionListed>();
  for (const page of asked.pages)
    for (const each of page.sessions) if (!rows.has(each.session)) rows.set(each.session, each);
  for (const [name, row] of changed.of === first ? changed.rows : []) {
    if (row === undefined) rows.delete(name);
    else rows.set(name, row);
  }
  const sessions = [...rows.values()].sort((a, b) => b.at.localeCompare(a.at));
  return { asked, sessions, total: asked.more === undefined ? sessions.length : (first?.total ?? 0) };
}

interface Changes {
  readonly of: unknown;
  readonly rows: ReadonlyMap<string, SessionListed | undefined>;
}
