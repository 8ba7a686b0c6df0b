import { isDeepStrictEqual } from 'node:util';
import { LEARNING_EVENTS, type LearningEvent } from '../../contracts/learning-events.js';
import type { Token } from '../../contracts/names.js';
import { SESSION_EVENTS, type SessionEvent } from '../../contracts/session-events.js';
import { evolveLearnings } from '../../memory/learnings/evolve-learnings.js';
import { decodeLearnings, encodeLearnings } from '../../memory/learnings/learnings-snapshot.js';
import { emptyLearnings, type LearningState, learningBytes } from '../../memory/learnings/learnings-state.js';
import { evolve } from '../../memory/session/evolve-session.js';
import { decodeSnapshot, encodeSnapshot } from '../../memory/session/session-snapshot.js';
import {
  DEFAULT_LIMITS,
  emptyState,
  forkedState,
  type SessionLimits,
  type SessionState,
  stateBytes,
} from '../../memory/session/session-state.js';
import type { Logger } from '../ports/clients.js';
import type { SessionLog, SnapshotStore } from '../ports/session-log.js';
import type { Commander } from './commander.js';
import type { Folding } from './folding.js';
import { SnapshotWriter, type SnapshotWriterOptions } from './snapshot-writer.js';
import { type Folded, type Loaded, StateReader } from './state-reader.js';

export type SessionReader = StateReader<SessionState, SessionEvent>;
export type SessionSnapshotWriter = SnapshotWriter<SessionState>;
export type SessionCommander = Commander<SessionState, SessionEvent>;
type FoldedSession = Folded<SessionState>;
export type LoadedSession = Loaded<SessionState>;

export interface SessionReaderOptions {
  readonly log: SessionLog;
  readonly snapshots: SnapshotStore;
  /** Limits of the fold. Default: `DEFAULT_LIMITS`. */
  readonly limits?: SessionLimits;
  readonly logger: Logger;
  /** Cached sessions. */
  readonly maxSessions: number;
  /** Approximate memory of the cached sessions in bytes. Default: unlimited. */
  readonly maxBytes?: number;
  /** Called after each load that folded something. */
  readonly onFolded?: (folded: FoldedSession) => void;
  /** Returns the session's generation; throws while it must not be read. Default: a single generation. */
  readonly generationOf?: (session: Token) => string;
}

export function createSessionReader(options: SessionReaderOptions): SessionReader {
  const { limits = DEFAULT_LIMITS, maxSessions, ...ports } = options;
  return new StateReader({ ...ports, maxCached: maxSessions, folding: sessionFolding(limits) });
}

export function createSnapshotWriter(
  options: Omit<SnapshotWriterOptions<SessionState>, 'folding'>,
): SessionSnapshotWriter {
  return new SnapshotWriter({ ...options, folding: { format: SESSION_EVENTS, encode: encodeSnapshot } });
}

/** Returns the fold of sessions under these limits; a snapshot made under other limits is ignored. */
function sessionFolding(limits: SessionLimits): Folding<SessionState, SessionEvent> {
  return {
    format: SESSION_EVENTS,
    empty: (session) => emptyState(session, limits),
    evolve,
    fork: forkedState,
    bytes: stateBytes,
    encode: encodeSnapshot,
    decode(session, text) {
      const decoded = decodeSnapshot(session, text);
      if (!decoded.ok || isDeepStrictEqual(decoded.state.limits, limits)) return decoded;
      return { ok: false, reason: 'it was made under other limits' };
    },
  };
}

export type ProjectReader = StateReader<LearningState, LearningEvent>;
export type ProjectCommander = Commander<LearningState, LearningEvent>;

export const PROJECT_FOLDING: Folding<LearningState, LearningEvent> = {
  format: LEARNING_EVENTS,
  empty: emptyLearnings,
  evolve: evolveLearnings,
  bytes: learningBytes,
  encode: encodeLearnings,
  decode: decodeLearnings,
};
