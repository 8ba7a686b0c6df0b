import { belongsElsewhere, EVENT_VERSION, jsonOf, type LogKind } from '../../contracts/event.js';
import { lifecycleRecord } from '../../contracts/lifecycle-record.js';
import {
  DISPATCH_STREAM,
  INDEX_BUCKET,
  isToken,
  LEARNING_SNAPSHOT_BUCKET,
  LEARNINGS_STREAM,
  LIFECYCLE_BUCKET,
  learningSubject,
  projectOfSubject,
  SNAPSHOT_BUCKET,
  sessionOfStream,
  sessionOfSubject,
  sessionSubject,
  shardOfStream,
  TELEMETRY_BUCKET,
  type Token,
  VECTOR_BUCKET,
} from '../../contracts/names.js';
import { isRetentionRecord } from '../../contracts/retention-record.js';
import type { StreamMessage } from '../jetstream/direct-get.js';
import { RAISED_KEY, raisedIn } from '../jetstream/raised-record.js';
import { entryIn } from '../stores/nats-session-index.js';
import { isDeletion, snapshotIn } from '../stores/nats-snapshot-store.js';
import { telemetryIn } from '../stores/nats-telemetry-store.js';
import { isVector } from '../stores/nats-vector-store.js';
import { foreignDispatch } from './foreign-marks.js';

/**
 * Describes a foreign message: one that no user with the right to publish to its stream published. Otherwise
 * `undefined`.
 */
export type Judge = (message: StreamMessage) => string | undefined;

/** How the messages of a stream are judged that is read by direct get; `undefined` for a stream that is not ours. */
export function judgeOf(stream: string): Judge | undefined {
  switch (stream) {
    case DISPATCH_STREAM:
      return ({ headers, data }) => foreignDispatch(headers, data, 'direct_get');
    case LEARNINGS_STREAM:
      return (message) => {
        const project = projectOfSubject(message.subject);
        return project === undefined ? ELSEWHERE : ofLog('project', project, learningSubject, message);
      };
    case `KV_${SNAPSHOT_BUCKET}`:
    case `KV_${LEARNING_SNAPSHOT_BUCKET}`:
      return (message) => ofBucket(message, snapshotIn(message) !== undefined, 'not a snapshot');
    case `KV_${TELEMETRY_BUCKET}`:
      return (message) => ofBucket(message, telemetryIn(message) !== undefined, 'not telemetry');
    case `KV_${INDEX_BUCKET}`:
      return (message) => ofBucket(message, entryIn(message) !== undefined, 'not an index entry');
    case `KV_${LIFECYCLE_BUCKET}`:
      return (message) => {
        const key = message.subject.split('.').slice(2).join('.');
        const json = jsonOf(message.data);
        const isRaised = key === RAISED_KEY && raisedIn(message.data) > 0;
        const isRecord = isRaised || isRetentionRecord(key, json) || lifecycleRecord(key, json) !== undefined;
        return ofBucket(message, isRecord, 'not a lifecycle record');
      };
    case `KV_${VECTOR_BUCKET}`:
      return (message) => ofBucket(message, isVector(message.data), 'not a vector');
  }
  if (shardOfStream(stream) !== undefined) {
    return (message) => {
      const session = sessionOfSubject(message.subject);
      return session === undefined ? ELSEWHERE : ofLog('session', session, sessionSubject, message);
    };
  }
  const session = sessionOfStream(stream);
  return session && ((message) => ofLog('session', session, sessionSubject, message));
}

const ELSEWHERE = 'under a subject that it does not belong to';

/** Returns the version of an event that this version of Throughline cannot read; `undefined` for any other message. */
export function unreadVersion(stream: string, { data }: StreamMessage): number | undefined {
  const isLog =
    stream === LEARNINGS_STREAM || (shardOfStream(stream) ?? sessionOfStream(stream)) !== undefined;
  const json = isLog ? jsonOf(data) : undefined;
  const { v }: { v?: unknown } = typeof json === 'object' && json !== null ? json : {};
  return typeof v === 'number' && v !== EVENT_VERSION ? v : undefined;
}

/** An event of another version, which this one cannot read, is not foreign: it has the envelope of events. */
function ofLog(
  kind: LogKind,
  key: Token,
  subjectOf: (key: Token, type: string) => string,
  { subject, data, foreign }: StreamMessage,
): string | undefined {
  if (foreign !== undefined) return foreign;
  const json = jsonOf(data);
  if (typeof json !== 'object' || json === null) return 'not an event';
  const { v, type, at }: { v?: unknown; type?: unknown; at?: unknown } = json;
  if (typeof v !== 'number' || typeof type !== 'string' || typeof at !== 'string') return 'not an event';
  if (belongsElsewhere(json, kind, key)) return `an event of another ${kind}`;
  return subject === subjectOf(key, type) ? undefined : ELSEWHERE;
}

function ofBucket(message: StreamMessage, isValue: boolean, what: string): string | undefined {
  if (message.foreign !== undefined) return message.foreign;
  if (!message.subject.split('.').slice(2).every(isToken)) return 'under an invalid key';
  return isValue || isDeletion(message) ? undefined : what;
}
