import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { eventsOf } from '../../engine/folding/log-copy.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { SessionActivity, SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import type { Charter } from '../../memory/session/charter.js';
import { evolve } from '../../memory/session/evolve-session.js';
import { emptyState } from '../../memory/session/session-state.js';
import { archivedSince, importDone, type OwnsRecord } from '../common/archived-record.js';
import { importing } from '../common/forgotten-results.js';
import type { Archiver } from './archive-session.js';

export interface NewSessionPorts {
  readonly log: Pick<SessionLog, 'read'> & Pick<SessionActivity, 'newest'>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten' | 'change'>;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly archiver: Pick<Archiver, 'settle'>;
}

/**
 * Requires that a name is free: no events, no snapshot, no record.
 *
 * @param fix advice in the error
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
 * Turns an import into a session: archived if its events say so, atomically, so that no result gets in between.
 *
 * @returns `false` if the record does not belong to the import: another process has done it, or the session was forgotten
 */
export async function becomeSession(
  ports: NewSessionPorts,
  session: Token,
  ownsRecord: OwnsRecord,
): Promise<boolean> {
  const { lifecycle, archiver } = ports;
  const before = lifecycle.forgotten(session);
  const archived = await archivedIn(ports, session);
  const archiving = archived && { ...archived, at: archivedSince(before, archived.at) };
  const isDone = await lifecycle.change(session, importDone(ownsRecord, archiving));
  if (isDone && archiving !== undefined) await archiver.settle(session);
  return isDone;
}

const SAYING_ARCHIVED: ReadonlySet<string> = new Set([
  'session.checkpoint',
  'session.archived',
  'session.reopened',
]);

/** Folds only the events that archive: the log may be long, and is not a session yet. */
async function archivedIn(
  { log }: Pick<NewSessionPorts, 'log'>,
  session: Token,
): Promise<Charter['archived']> {
  // A read by type may be served by a lagging replica; after this call reads are up to date.
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
