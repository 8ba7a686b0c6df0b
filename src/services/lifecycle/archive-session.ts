import { randomUUID } from 'node:crypto';
import { ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { Archived, Forgotten } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { EventOf } from '../../contracts/session-events.js';
import type { SessionReader, SessionSnapshotWriter } from '../../engine/folding/session-folding.js';
import { systemClock } from '../../engine/ports/clients.js';
import type { DecideArchived, SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { EventRemoval, RemovalOptions, SessionLog } from '../../engine/ports/session-log.js';
import { Jobs, type JobsOptions, RESUME_EVERY_MS } from '../../engine/runtime/jobs.js';
import { checkpointOf } from '../../memory/session/checkpoint.js';
import type { SessionState } from '../../memory/session/session-state.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import { LATE, withinDeadline } from '../../shared/backoff.js';
import type { Serving, Sessions } from '../common/service-context.js';

/**
 * Archives sessions after their event, in steps: record it, so that extractors reject results; append a checkpoint with the
 * whole state, expecting nothing in between; write the snapshot; remove the events before the checkpoint. Reopening removes the
 * record.
 *
 * All but the first step is a resumable job with idempotent steps; nothing is removed before its replacement is stored. If
 * sessions share files, removal takes milliseconds per event, so a caller waits only a few seconds and can ask for progress.
 */
interface ArchiverOptions extends JobsOptions {
  readonly log: SessionLog & EventRemoval;
  readonly reader: SessionReader;
  readonly writer: Pick<SessionSnapshotWriter, 'write'>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'archiving' | 'forgotten' | 'change'>;
  readonly maxEventBytes: () => number;
}

export interface Archiver {
  /** @throws ThroughlineError `too_large` if the state does not fit one message: then nothing may be removed */
  requireCheckpointFits(session: Token): Promise<void>;
  /**
   * Brings the record and the log in line with the session's events. Does not touch an import in progress.
   *
   * @returns the progress, if it continues in the background
   * @throws ThroughlineError as the ports do; can be repeated
   */
  settle(session: Token): Promise<Removing | undefined>;
  /** Stops soon; another process resumes the rest. */
  stop(): Promise<void>;
}

/** Progress of removing events one by one. */
interface Removing {
  readonly removed: number;
  readonly of: number;
}

/** Less than a client's timeout. */
const ANSWER_MS = 3000;

/** An archived session rarely changes. */
const MAX_ATTEMPTS = 50;
const CONFIRM_EVERY_MS = 1000;
const REST_BYTES = 1024;

export function createArchiver(options: ArchiverOptions): Archiver {
  const { log, reader, writer, lifecycle } = options;

  async function stateOf(session: Token): Promise<SessionState> {
    return (await reader.load(session)).folded.state;
  }

  /** Appends a checkpoint of everything up to the archiving event, unless there is one; returns its sequence. */
  async function checkpointAfter(session: Token, archivedAt: number): Promise<number> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const state = await stateOf(session);
      if (state.checkpoint > archivedAt) return state.checkpoint;
      const event = checkpointEvent(options, state);
      const appended = await log.append(session, event, { expectedSequence: state.sequence });
      if (appended.outcome === 'appended') return appended.sequence;
    }
    throw new ThroughlineError('conflict', `session ${session} changes too fast to be archived; try again`);
  }

  const removing = new Map<Token, Removing>();
  const jobs = new Jobs(
    {
      name: 'archive',
      failed: 'a session is not archived to the end yet: it is tried again soon',
      unfinished: () => lifecycle.archiving(),
      async run(job, { confirm: mayGoOn }) {
        const session = job as Token;
        const at = lifecycle.archived(session)?.at;
        if (at === undefined) return;
        const onRemoved = (removed: number, of: number) => removing.set(session, { removed, of });
        try {
          await compact(session, { mayGoOn: confirmedNowAndThen(mayGoOn), onRemoved });
          await lifecycle.change(session, archivingDone(at));
        } finally {
          removing.delete(session);
        }
      },
    },
    options,
  );

  async function compact(session: Token, removal: RemovalOptions): Promise<void> {
    const { events } = await log.read(session, { after: 0, type: 'session.archived' });
    const archived = events.at(-1);
    let checkpoint: number;
    if (archived === undefined) {
      // The event was removed with the rest before the checkpoint; that removal may be incomplete.
      checkpoint = (await stateOf(session)).checkpoint;
    } else {
      checkpoint = await checkpointAfter(session, archived.sequence);
      await writer.write((await reader.load(session)).folded);
    }
    if (checkpoint > 0) await log.removeBefore(session, checkpoint, removal);
  }

  return {
    async requireCheckpointFits(session) {
      const state = await stateOf(session);
      if (state.charter.archived === undefined && state.sequence > 0) checkpointEvent(options, state);
    },
    async settle(session) {
      const forgotten = lifecycle.forgotten(session);
      const { archived } = (await stateOf(session)).charter;
      if (archived === undefined) {
        await lifecycle.change(session, reopened);
        return undefined;
      }
      await lifecycle.change(session, archiving({ ...archived, at: archivedSince(forgotten, archived.at) }));
      const ended = jobs.finish(session);
      ended.catch(() => {});
      const isLate = (await withinDeadline(ANSWER_MS, ended)) === LATE;
      return isLate ? (removing.get(session) ?? { removed: 0, of: 0 }) : undefined;
    },
    stop: () => jobs.stop(),
  };
}

function checkpointEvent(
  { clock, newId, maxEventBytes }: ArchiverOptions,
  state: SessionState,
): EventOf<'session.checkpoint'> {
  const data = checkpointOf(state, 'archived');
  const most = maxEventBytes() - REST_BYTES;
  if (data.state.length > most) {
    throw new ThroughlineError(
      'too_large',
      `the state of session ${state.session} takes ${data.state.length} bytes packed, and a message holds ${most}: raise max_payload of the NATS server`,
      { details: { session: state.session, bytes: data.state.length, limit: most } },
    );
  }
  let at = clock();
  if (at < state.lastEventAt) at = state.lastEventAt;
  return { v: EVENT_VERSION, type: 'session.checkpoint', at, id: newId(), data };
}

/** Confirms the lease at most once per second: before each of many removals it would double the time. */
function confirmedNowAndThen(confirm: () => Promise<void>): () => Promise<void> | undefined {
  let at = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - at < CONFIRM_EVERY_MS) return undefined;
    at = performance.now();
    return confirm();
  };
}

/** Decisions for `SessionLifecycle.change`. A record of an import in progress is changed only by that import. */

export type OwnsRecord = (there: Archived | undefined) => boolean;

type Archiving = Pick<Archived, 'at' | 'reason' | 'idle_since'>;

/** Archives a session whose log must still be compacted. A record of the same archiving stays. */
export function archiving(archiving: Archiving): DecideArchived {
  return (there) => {
    if (there?.importing !== undefined || there?.at === archiving.at) return 'keep';
    return { ...archiving, pending: true };
  };
}

export function archivedAgain(archiving: Archiving): DecideArchived {
  return (there) => (there === undefined ? { ...archiving, pending: true } : 'keep');
}

export function archivingDone(at: string): DecideArchived {
  return (there) => {
    if (there?.at !== at || there.pending === undefined) return 'keep';
    const { v: _, status: __, pending: ___, ...fields } = there;
    return fields;
  };
}

export const reopened: DecideArchived = (there) => (there?.importing === undefined ? 'remove' : 'keep');

/** Ends an import: the name becomes a session, archived or not. */
export function importDone(ownsRecord: OwnsRecord, archiving: Archiving | undefined): DecideArchived {
  return (there) => {
    if (!ownsRecord(there)) return 'keep';
    return archiving === undefined ? 'remove' : { ...archiving, pending: true };
  };
}

export function releaseName(ownsRecord: OwnsRecord): DecideArchived {
  return (there) => (ownsRecord(there) ? 'remove' : 'keep');
}

/** Marks an import as ready for events: all processes know that the name is reserved, and nothing is stored under it. */
export function importReady(ownsRecord: OwnsRecord): DecideArchived {
  return (there) => {
    if (there?.importing === undefined || !ownsRecord(there)) return 'keep';
    const { v: _, status: __, ...fields } = there;
    return { ...fields, importing: { ...there.importing, ready: true } };
  };
}

/**
 * Returns the time to record for an archived session. The event of an imported file may be older than the tombstone of the
 * name: with that time it would belong to the forgotten session.
 *
 * @param before the tombstone at the time when the events were read
 */
export function archivedSince(before: Forgotten | undefined, at: string): string {
  if (before === undefined || at > before.at) return at;
  return new Date(Date.parse(before.at) + 1).toISOString();
}

/** Used if the server does not announce its maximum payload. */
const USUAL_PAYLOAD = 1024 * 1024;
/** Size of subject and headers. */
const ENVELOPE_BYTES = 4096;

export function openArchiver(
  nats: NatsPorts,
  { reader, writer }: Pick<Sessions, 'reader' | 'writer'>,
  { lifecycle, logger }: Pick<Serving, 'lifecycle' | 'logger'>,
): Archiver {
  return createArchiver({
    ...{ log: nats.log, leases: nats.leases, reader, writer, lifecycle, logger },
    clock: systemClock,
    newId: randomUUID,
    everyMs: RESUME_EVERY_MS,
    maxEventBytes: () => (nats.connection.info?.max_payload ?? USUAL_PAYLOAD) - ENVELOPE_BYTES,
  });
}
