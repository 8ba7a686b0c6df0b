import type { LedgerListed } from '../../contracts/replies/ledger-reply.js';
import { publishCommand } from '../components/command.js';
import { Empty } from '../components/empty.js';
import { Tag } from '../components/tag.js';
import { counted, nextText } from '../words.js';
import { Outcome } from './outcome.js';
import { ColumnHead, TaskRow } from './task-row.js';

/** What came of each task, the one heard of last at the top. */
export function Results({
  session,
  tasks,
}: {
  readonly session: string;
  readonly tasks: readonly LedgerListed[];
}) {
  return (
    <>
      <ColumnHead id="results-title" title="Results">
        {tasks.length === 0 ? null : counted(tasks.length, 'task')}
      </ColumnHead>
      {tasks.length === 0 ? (
        <Empty title="No results yet" command={publishCommand(session)} />
      ) : (
        <ul class="task-list">
          {tasks.toReversed().map((each) => (
            <TaskRow
              key={each.task}
              session={session}
              task={each.task}
              tags={
                <>
                  {each.stalled ? <Tag tone="bad">stalled</Tag> : null}
                  <Outcome outcome={each.last_outcome} />
                </>
              }
            >
              <p>{resultText(each)}</p>
            </TaskRow>
          ))}
        </ul>
      )}
    </>
  );
}

/** Such as `7 results, sent back 3 times, 4 open findings, next: the fixes`. */
function resultText(listed: LedgerListed): string {
  return [
    counted(listed.dispatches, 'result'),
    listed.rounds === 0 ? '' : `sent back ${counted(listed.rounds, 'time')}`,
    listed.findings === 0 ? '' : counted(listed.findings, 'open finding'),
    listed.blockers === 0 ? '' : counted(listed.blockers, 'blocker'),
    `next: ${nextText(listed.next_action)}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}
