import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { eventsOf } from '../../engine/folding/log-copy.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { SessionActivity, SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import type { Charter } from '../../memory/session/charter.js';
import { evolve } from '../../memory/session/evolve-session.js';
import { emptyState } from '../../memory/session/session-state.js';
import { archivedSince, asSession, type IsMine } from '../common/archived-record.js';
import { importing } from '../common/forgotten-results.js';
import type { Archiver } from './archive-session.js';

/** How a name becomes a session whose events come from a file. */
export interface NewSessionPorts {
  readonly log: Pick<SessionLog, 'read'> & Pick<SessionActivity, 'newest'>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten' | 'change'>;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly archiver: Pick<Archiver, 'settle'>;
}

/**
 * Makes sure that a name is free: without events, a snapshot that stands for some, or a record.
 *
 * @param fix what to do where it is not
 * @throws ThroughlineError `session_exists`, `session_importing`, `session_forgotten` while it is being forgotten
 */
export async function requireFree(
  { log, lifecycle, reader }: Pick<NewSessionPorts, 'log' | 'lifecycle' | 'reader'>,
  session: Token,
  fix: string,
): Promise<void> {
  const record = lifecycle.archived(session);
  if (record?.importing !== undefined) throw importing(session);
  if (record !== undefined || (await log.newest(session)) > 0) throw exists(session, fix);
  if ((await reader.load(session)).folded.state.sequence > 0) throw exists(session, fix);
}

/**
 * From now on it is a session: archived, where its events say so, so that no result ever comes in between.
 *
 * @param isMine whether the record is still that of the import that asks
 * @returns `false` where it is not: another process has done it, or the session was forgotten
 */
export async function becomeSession(
  ports: NewSessionPorts,
  session: Token,
  isMine: IsMine,
): Promise<boolean> {
  const { lifecycle, archiver } = ports;
  const before = lifecycle.forgotten(session);
  const archived = await archivedIn(ports, session);
  const archiving = archived && { ...archived, at: archivedSince(before, archived.at) };
  const isDone = await lifecycle.change(session, asSession(isMine, archiving));
  if (isDone && archiving !== undefined) await archiver.settle(session);
  return isDone;
}

const SAYING_ARCHIVED: ReadonlySet<string> = new Set([
  'session.checkpoint',
  'session.archived',
  'session.reopened',
]);

/** Whether its events say that it is archived: of these alone, since it may be long, and is not to be read as a session yet. */
async function archivedIn(
  { log }: Pick<NewSessionPorts, 'log'>,
  session: Token,
): Promise<Charter['archived']> {
  // Events of one type alone may be read from a replica that lags behind; after this the others are not.
  await log.newest(session);
  const state = emptyState(session);
  for await (const stored of eventsOf(log, session))
    if (SAYING_ARCHIVED.has(stored.event.type)) evolve(state, stored);
  return state.charter.archived;
}

export function exists(session: Token, fix: string): ThroughlineError {
  return new ThroughlineError('session_exists', `session ${session} exists already: ${fix}`, {
    details: { session },
  });
}
