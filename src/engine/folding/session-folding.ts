import { isDeepStrictEqual } from 'node:util';
import { LEARNING_EVENTS, type LearningEvent } from '../../contracts/learning-events.js';
import { SESSION_EVENTS, type SessionEvent } from '../../contracts/session-events.js';
import { evolveLearnings } from '../../memory/learnings/evolve-learnings.js';
import { decodeLearnings, encodeLearnings } from '../../memory/learnings/learnings-snapshot.js';
import { emptyLearnings, type LearningState, learningBytes } from '../../memory/learnings/learnings-state.js';
import { evolve } from '../../memory/session/evolve-session.js';
import { decodeSnapshot, encodeSnapshot } from '../../memory/session/session-snapshot.js';
import {
  DEFAULT_LIMITS,
  emptyState,
  type SessionLimits,
  type SessionState,
  stateBytes,
} from '../../memory/session/session-state.js';
import type { Commander } from './commander.js';
import {
  type Folding,
  type Loaded,
  SnapshotWriter,
  type SnapshotWriterOptions,
  StateReader,
} from './state-reader.js';

export type SessionReader = StateReader<SessionState, SessionEvent>;
export type SessionSnapshotWriter = SnapshotWriter<SessionState>;
export type SessionCommander = Commander<SessionState, SessionEvent>;
export type LoadedSession = Loaded<SessionState>;

export type SessionReaderOptions = Omit<
  ConstructorParameters<typeof StateReader<SessionState, SessionEvent>>[0],
  'folding'
> & { readonly limits?: SessionLimits };

export function createSessionReader({
  limits = DEFAULT_LIMITS,
  ...options
}: SessionReaderOptions): SessionReader {
  return new StateReader({ ...options, folding: sessionFolding(limits) });
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
    bytes: stateBytes,
    dropViews: ({ dispatches }) => dispatches.dropCurrent(),
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
