import '../styles/session.css';
import { Command, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { AskedView, Empty } from '../components/states.js';
import { type SessionViewProps, viewHref } from '../route.js';
import { BoardTasks, PlanTasks } from '../session/board-tasks.js';
import { Inbox, Iterations, Notes } from '../session/notes.js';
import { Results, SessionFiguresStrip } from '../session/results.js';
import { Stalled } from '../session/stalled.js';
import { useAsk } from '../use-ask.js';

/** A session: what it is for, what is stuck, and board, plan and results beside each other. */
export function SessionView({ session }: SessionViewProps) {
  const of = { session };
  const shown = useAsk('tool.session-show', of, session);
  const board = useAsk('tool.task-list', of, session);
  const plan = useAsk('tool.plan-show', of, session);
  const ledgers = useAsk('tool.ledger-list', of, session);
  const iterations = useAsk('tool.iteration-list', of, session);
  const notes = useAsk('tool.note-list', of, session);
  const inbox = useAsk('tool.inbox-list', { session, all: true }, session);
  return (
    <AskedView asked={shown} what="the session">
      {({ session: view }) => (
        <>
          <PageHead title={session}>
            {view.sequence === 0 || view.archived !== undefined ? null : (
              <Tag tone={view.status === 'completed' ? 'good' : 'info'}>{view.status}</Tag>
            )}
            {view.archived === undefined ? null : <Tag>archived</Tag>}
            {view.project === undefined ? null : <span class="quiet">project {view.project}</span>}
          </PageHead>
          {view.title === undefined ? null : <p>{view.title}</p>}
          {view.goal === undefined ? null : <p class="goal">{view.goal}</p>}
          {view.completed_reason === undefined ? null : (
            <p class="quiet">Completed: {view.completed_reason}</p>
          )}
          {view.archived === undefined ? null : (
            <div class="archived-note">
              <p class="quiet">
                Archived{view.archived.reason === undefined ? '' : `: ${view.archived.reason}`}. It takes no
                results until it is reopened:
              </p>
              <Command text={`throughline session reopen ${session}`} />
            </div>
          )}
          <SessionFiguresStrip session={view} />
          {view.sequence === 0 ? (
            <Empty
              title="Nothing has happened in this session"
              command={`throughline task add --session ${session} "The first task"`}
            >
              No session of this name has events; see{' '}
              <a href={viewHref('sessions')}>the sessions that have</a>. A first task, result or goal begins
              this one:
            </Empty>
          ) : (
            <>
              {ledgers.reply === undefined ? null : (
                <Stalled
                  session={session}
                  ledgers={ledgers.reply}
                  plan={plan.reply}
                  board={board.reply?.tasks ?? []}
                />
              )}
              <div class="columns">
                <section class="card" aria-labelledby="board-title">
                  <AskedView asked={board} what="the board">
                    {({ tasks }) => <BoardTasks session={session} tasks={tasks} />}
                  </AskedView>
                </section>
                <section class="card" aria-labelledby="plan-title">
                  <AskedView asked={plan} what="the plan">
                    {(reply) => <PlanTasks session={session} shown={reply} />}
                  </AskedView>
                </section>
                <section class="card" aria-labelledby="results-title">
                  <AskedView asked={ledgers} what="results">
                    {({ tasks }) => <Results session={session} tasks={tasks} />}
                  </AskedView>
                </section>
              </div>
              <div class="columns columns-short">
                <section class="card" aria-labelledby="iterations-title">
                  <AskedView asked={iterations} what="iterations">
                    {(reply) => <Iterations session={session} iterations={reply.iterations} />}
                  </AskedView>
                </section>
                <section class="card" aria-labelledby="notes-title">
                  <AskedView asked={notes} what="notes">
                    {(reply) => <Notes session={session} notes={reply.notes} />}
                  </AskedView>
                </section>
                <section class="card" aria-labelledby="inbox-title">
                  <AskedView asked={inbox} what="the inbox">
                    {({ messages }) => <Inbox session={session} messages={messages} />}
                  </AskedView>
                </section>
              </div>
            </>
          )}
        </>
      )}
    </AskedView>
  );
}
