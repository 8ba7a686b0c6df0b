import { ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/requests.js';
import type { EventOf, SessionEvent } from '../../contracts/session-events.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import { generationOf, type SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { SessionActivity, SessionLog } from '../../engine/ports/session-log.js';
import { evolve } from '../../memory/session/evolve-session.js';
import { emptyState } from '../../memory/session/session-state.js';
import type { Asked } from '../common/service-shell.js';
import type { Archiver } from './archive-session.js';

interface ImportOptions {
  readonly log: Pick<SessionLog, 'read' | 'append'> & Pick<SessionActivity, 'newest'>;
  readonly lifecycle: Pick<SessionLifecycle, 'forgotten' | 'change'>;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly archiver: Pick<Archiver, 'settle'>;
}

/**
 * Answers `session-import`. The first request makes the session: its log begins with a checkpoint of the state that the caller has
 * folded from a file, in one append to an empty log. Later ones add the events of the file as history, which changes nothing: an
 * import that is cut off there has lost only lines of the timeline.
 */
export function createSessionImport({ log, lifecycle, reader, archiver }: ImportOptions) {
  async function begin(session: Token, checkpoint: EventOf<'session.checkpoint'>): Promise<void> {
    // Refreshes this process' view of the record, and refuses a session that is being forgotten.
    await lifecycle.change(session, (there) => there);
    generationOf(lifecycle, session);
    requireSettled(session, checkpoint);
    const isFree =
      (await log.newest(session)) === 0 && (await reader.load(session)).folded.state.sequence === 0;
    if (isFree) await log.append(session, checkpoint, { expectedSequence: 0 });
  }

  /** Returns the sequence of the checkpoint that this import has stored, also if the answer to that request was lost. */
  async function beginningOf(session: Token, id: string): Promise<number> {
    const [first] = (await log.read(session, { after: 0, limit: 1 })).events;
    if (first?.event.type === 'session.checkpoint' && first.event.id === id) return first.sequence;
    throw new ThroughlineError(
      'session_exists',
      `session ${session} exists already: import the file under another name, with --as NAME`,
      { details: { session } },
    );
  }

  return async ({
    session,
    id,
    checkpoint,
    history,
    from,
  }: Asked<'tool.session-import'>): Promise<ToolReply<'session-import'>> => {
    if (checkpoint !== undefined) await begin(session, { ...checkpoint, id });
    let sequence = await beginningOf(session, id);
    // A process that was killed behind the append has not recorded that the session is archived.
    if (checkpoint !== undefined) await archiver.settle(session);
    for (const [index, event] of history.entries()) {
      // The server discards an event of a request that is repeated.
      const appended = await log.append(session, asHistory(event), { messageId: `${id}:${from + index}` });
      if (appended.outcome === 'appended') sequence = appended.sequence;
    }
    return { session, sequence };
  };
}

function asHistory(event: SessionEvent): SessionEvent {
  if (event.type === 'session.history') return event;
  return { v: EVENT_VERSION, type: 'session.history', at: event.at, data: { event: { ...event } } };
}

/** @throws ThroughlineError `schema_invalid` if the state cannot be read, or names dispatches that new results could be taken for */
function requireSettled(session: Token, event: EventOf<'session.checkpoint'>): void {
  const { dispatches } = evolve(emptyState(session), { sequence: 1, event });
  if (dispatches.recent().length === 0 && dispatches.newest() <= 0) return;
  throw new ThroughlineError(
    'schema_invalid',
    'checkpoint: has results that are not settled: use "throughline session import", which settles them',
  );
}
