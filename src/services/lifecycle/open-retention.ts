import { randomUUID } from 'node:crypto';
import { clockBy, systemClock } from '../../engine/ports/clients.js';
import { pause } from '../../engine/runtime/batched.js';
import { RESUME_EVERY_MS } from '../../engine/runtime/jobs.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { KnownSessions } from '../common/open-sessions.js';
import type { Serving, Sessions } from '../common/service-context.js';
import { type Archiver, createArchiver } from './archive-session.js';
import type { RetentionPorts } from './follow-retention.js';
import type { LearningsPorts } from './forget-learnings.js';

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
    log: nats.log,
    reader,
    writer,
    lifecycle,
    clock: systemClock,
    newId: randomUUID,
    leases: nats.leases,
    logger,
    everyMs: RESUME_EVERY_MS,
    maxEventBytes: () => (nats.connection.info?.max_payload ?? USUAL_PAYLOAD) - ENVELOPE_BYTES,
  });
}

export function openRetention(
  nats: NatsPorts,
  sessions: Pick<Sessions, 'reader' | 'writer'>,
  projects: Pick<LearningsPorts, 'projects' | 'command'>,
  {
    table,
    feed,
    now,
  }: Pick<KnownSessions, 'table' | 'now'> & { readonly feed: { catchUp(): Promise<void> } },
  { lifecycle, logger }: Pick<Serving, 'lifecycle' | 'logger'>,
): RetentionPorts & { readonly archiver: Archiver } {
  return {
    ...projects,
    table,
    caughtUp: () => feed.catchUp(),
    lifecycle,
    aged: nats.aged,
    eraser: nats.eraser,
    index: nats.index,
    learnings: nats.learnings,
    store: nats.retention,
    leases: nats.leases,
    reader: sessions.reader,
    log: nats.log,
    archiver: openArchiver(nats, sessions, { lifecycle, logger }),
    clock: clockBy(now),
    newId: randomUUID,
    now,
    pause,
    logger,
  };
}
