import type { MovingLayout } from '../../contracts/session-layout.js';
import { counted } from '../../shared/counted.js';
import type { MovingStreams } from '../jetstream/moving-streams.js';
import { type Finding, warn } from './finding.js';

/** That sessions are being moved: what runs works, but each read asks first where its session is. */
export async function moveFindings(
  moving: Pick<MovingStreams, 'own'>,
  { shards, towards }: MovingLayout,
): Promise<Finding[]> {
  const streams = await moving.own.list();
  const inShards = streams.filter(({ place }) => place === 'moved' || place === 'returning').length;
  const where = `${inShards} of ${counted(streams.length, 'session')} are in ${counted(shards, 'shard')}`;
  if (towards === 'per-session') {
    const message = `sessions are being moved back to a stream each: ${where}`;
    return [warn('layout', message, 'go on until it is done: throughline layout migrate --back')];
  }
  const fix = 'throughline layout migrate --finish, or --back';
  return [warn('layout', `a move of sessions to shards is not finished: ${where}`, fix)];
}
