import '../styles/sessions.css';
import type { SessionFigures, SessionListed } from '../../contracts/replies/session-reply.js';
import { needRank, stallText } from '../../shared/person-needed.js';
import { Ago, Button, FilterField, SelectField, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { AskedView, Empty, MoreButton } from '../components/states.js';
import { Progress } from '../components/table.js';
import { type GlobalViewProps, sessionHref, setParams } from '../route.js';
import { usePages } from '../use-ask.js';
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

/** The sessions: stalled ones first, then those that need a person, then the others. */
export function SessionsView({ params }: GlobalViewProps) {
  const text = params.get('text') ?? '';
  const shown = SHOWN.find(({ value }) => value === params.get('show'))?.value ?? '';
  const asked = usePages(
    'tool.session-list',
    {
      limit: LIMIT,
      text: text || undefined,
      ...(shown === 'stalled' ? { stalled: true } : {}),
      ...(shown === 'quiet' ? { olderThan: '7d', status: 'open' } : {}),
      ...(shown === 'open' || shown === 'completed' || shown === 'archived' ? { status: shown } : {}),
    },
    '*',
  );
  return (
    <>
      <PageHead title="Sessions">
        {asked.reply === undefined ? null : (
          <span class="quiet figure">{counted(asked.reply.total, 'session')}</span>
        )}
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
        {({ total }) => {
          const sessions = distinct(asked.pages.flatMap((page) => page.sessions));
          return sessions.length === 0 ? (
            <NoSessions filtered={text !== '' || shown !== ''} />
          ) : (
            <>
              {groupsOf(sessions).map(({ name, members }, index, groups) => (
                <section key={name} class="session-group" aria-labelledby={`group-${name}`}>
                  <h2 id={`group-${name}`}>
                    {name}{' '}
                    {total > sessions.length && index === groups.length - 1 ? null : (
                      <span class="quiet figure">{members.length}</span>
                    )}
                  </h2>
                  <ul class="card rows session-list">
                    {members.map((each) => (
                      <SessionRow key={each.session} listed={each} />
                    ))}
                  </ul>
                </section>
              ))}
              {total > sessions.length ? (
                <MoreButton pages={asked} shown={sessions.length} total={total} />
              ) : null}
            </>
          );
        }}
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
            </>
          )}
        </div>
        {listed.brief ? null : <About listed={listed} />}
      </div>
      {listed.brief ? <div class="session-work" /> : <Figures listed={listed} />}
      <div class="session-age quiet">
        <Ago at={listed.at} />
      </div>
    </li>
  );
}

function About({ listed }: { readonly listed: SessionFigures }) {
  const { stalled, waiting, title, goal } = listed;
  return (
    <>
      {title === undefined ? null : <p class="session-goal">{title}</p>}
      {stalled.map(({ task, reason }) => (
        <p key={`${task} ${reason}`} class="session-reason">
          <Tag tone="bad">stalled</Tag>
          <span class="reason-text">
            task <span class="mono">{task}</span> {stallText(reason)}
          </span>
        </p>
      ))}
      {waiting.map((reason) => (
        <p key={reason} class="session-reason">
          <Tag tone="warn">waiting</Tag>
          <span class="reason-text">{reason}</span>
        </p>
      ))}
      {goal === undefined ? null : <p class="session-goal quiet">{goal}</p>}
    </>
  );
}

function Figures({ listed }: { readonly listed: SessionFigures }) {
  const { board, plan, results, rejected, facts } = listed;
  const tasks = board.open + board.done;
  return (
    <>
      <div class="session-work">
        {tasks === 0 ? null : <Progress label="Board" done={board.done} total={tasks} />}
        {plan === undefined ? null : <Progress label="Plan" done={plan.done} total={plan.total} />}
      </div>
      <dl class="session-figures">
        {Object.entries({ results, rejected, facts }).map(([name, value]) => (
          <div key={name} class={name !== 'rejected' ? '' : value > 0 ? 'bad' : 'quiet'}>
            <dt>{name}</dt>
            <dd>{figure(value)}</dd>
          </div>
        ))}
      </dl>
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

/** Removes duplicates: a session that moved up since a later page was loaded is in both. */
function distinct(sessions: readonly SessionListed[]): SessionListed[] {
  const names = new Set<string>();
  return sessions.filter(({ session }) => !names.has(session) && names.add(session));
}

/** Returns the groups that are not empty. */
function groupsOf(sessions: readonly SessionListed[]) {
  const groups: { readonly name: string; readonly members: SessionListed[] }[] = [
    { name: 'Stalled', members: [] },
    { name: 'Waiting', members: [] },
    { name: 'Others', members: [] },
  ];
  for (const each of sessions) {
    const place = each.brief ? 2 : needRank(each);
    groups[place]?.members.push(each);
  }
  const filled = groups.filter(({ members }) => members.length > 0);
  return filled.length === 1 && filled[0]?.name === 'Others'
    ? [{ name: 'All', members: filled[0].members }]
    : filled;
}
