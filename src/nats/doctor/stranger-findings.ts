import type { JetStreamManager } from 'nats';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  DISPATCH_STREAM,
  DISPATCH_SUBJECTS,
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  REJECTED_STREAM,
  REJECTED_SUBJECTS,
  sessionOfStream,
  shardOfStream,
} from '../../contracts/names.js';
import { counted } from '../../shared/counted.js';
import { KEEP_APART, toThroughlineError } from '../connection/nats-errors.js';
import { strangersOn } from '../jetstream/topology.js';
import { type Finding, fail, ok } from './finding.js';

const OURS: readonly (readonly [subjects: string, isOurs: (stream: string) => boolean])[] = [
  [DISPATCH_SUBJECTS, (name) => name === DISPATCH_STREAM],
  [REJECTED_SUBJECTS, (name) => name === REJECTED_STREAM],
  [LEARNINGS_SUBJECTS, (name) => name === LEARNINGS_STREAM],
  [ALL_SESSIONS, (name) => sessionOfStream(name) !== undefined],
  [ALL_SHARDS, (name) => shardOfStream(name) !== undefined],
];

/** Streams of other applications on our subjects: they take results from us, or keep our streams from being made. */
export async function strangerFindings(jsm: JetStreamManager): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [subjects, isOurs] of OURS) {
    try {
      const strangers = await strangersOn(jsm, subjects, isOurs);
      if (strangers.length === 0) continue;
      const message = `${subjects} is taken in whole or in part by ${counted(strangers.length, 'stream')} of another application: ${strangers.slice(0, 10).join(', ')}`;
      found.push(fail('subjects', message, KEEP_APART));
    } catch (error) {
      throw toThroughlineError(error, `looking who takes ${subjects}`);
    }
  }
  return found.length > 0 ? found : [ok('subjects', 'no other stream takes subjects of Throughline')];
}
