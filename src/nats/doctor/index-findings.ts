import { INDEX_BUCKET, type Token } from '../../contracts/names.js';
import type { SessionIndex } from '../../engine/ports/session-index.js';
import { hasLeader, type SessionActivity } from '../../engine/ports/session-lifecycle.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import { counted } from '../../shared/text.js';
import { type Finding, ok, warn } from './finding.js';

/** A running keeper has compared the index with the logs by then: it does so every ten minutes. */
const COMPARED_WITHIN_MS = 15 * 60_000;
/** Logs that are read: a log may advance by a message that is not an event, which its entry need not reflect. */
const MAX_READ = 100;
const SHOWN = 3;
const CHECK = 'session index';

interface IndexExamined {
  readonly index: Pick<SessionIndex, 'read'>;
  readonly log: Pick<SessionActivity, 'activity'> & Pick<SessionLog, 'read'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Finds index entries that disagree with the logs. */
export async function indexFindings({ index, log, now }: IndexExamined): Promise<Finding[]> {
  const entries = new Map<string, number>();
  // Before the logs: an entry written meanwhile must not seem to be ahead.
  for await (const part of index.read(0))
    for (const { sequence, figures } of part.entries) entries.set(figures.session, sequence);
  const all = await log.activity();
  const there = new Set<string>(all.map(({ session }) => session));
  // The position of leaderless logs is unknown.
  const logs = all.filter(hasLeader);
  const reached = new Map<string, number>(logs.map(({ session, sequence }) => [session, sequence]));

  const ahead = [...entries].filter(([session, sequence]) => sequence > (reached.get(session) ?? sequence));
  const gone = [...entries.keys()].filter((session) => !there.has(session));
  const quiet = logs.filter(
    ({ session, sequence, at }) =>
      sequence > (entries.get(session) ?? 0) && now - Date.parse(at) > COMPARED_WITHIN_MS,
  );
  const behind: Token[] = [];
  for (const { session } of quiet.slice(0, MAX_READ)) {
    const tail = await log.read(session, { after: entries.get(session) ?? 0 });
    if (tail.events.length > 0) behind.push(session);
  }

  const found = [
    ...differing(
      ahead.map(([session]) => session),
      AHEAD,
    ),
    ...differing(gone, GONE),
    ...differing(behind, BEHIND),
  ];
  return found.length > 0
    ? found
    : [
        ok(
          CHECK,
          `${counted(entries.size, 'entry', 'entries')}, as the logs have it${waiting(all.length - entries.size)}${unseen(all.length - logs.length)}`,
        ),
      ];
}

/** @param sessions number without an entry */
function waiting(sessions: number): string {
  if (sessions <= 0) return '';
  return `; ${counted(sessions, 'session gets its', 'sessions get theirs')} when no results have come for a while`;
}

/** @param sessions number of logs without a leader */
function unseen(sessions: number): string {
  return sessions === 0 ? '' : `; not compared: ${counted(sessions, 'session')} without a leader`;
}

interface Difference {
  readonly what: string;
  readonly fix: string;
}

const AHEAD: Difference = {
  what: 'further than their logs, which were restored from an earlier backup: lists show what is no longer there',
  fix: `remove the index, which the keeper makes again from the logs: nats kv del ${INDEX_BUCKET} --force`,
};
const KEEPER = 'see with "throughline admin health" that the keeper answers, and what its log says';
const GONE: Difference = { what: 'left of sessions that have no log', fix: KEEPER };
const BEHIND: Difference = {
  what: 'missing or older than the logs, which have been quiet for long: lists have to read those',
  fix: KEEPER,
};

function differing(sessions: readonly string[], { what, fix }: Difference): Finding[] {
  if (sessions.length === 0) return [];
  const more = sessions.length > SHOWN ? ', …' : '';
  const names = sessions.slice(0, SHOWN).join(', ');
  return [
    warn(CHECK, `${counted(sessions.length, 'entry is', 'entries are')} ${what} (${names}${more})`, fix),
  ];
}
