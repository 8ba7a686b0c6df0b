import { ThroughlineError } from '../../contracts/errors.js';
import type { MovingLayout } from '../../contracts/session-layout.js';
import { counted } from '../../shared/counted.js';

/** What is said of another number of shards while sessions are moved. */
export function movingTo({ shards, towards }: MovingLayout, wanted: number): ThroughlineError {
  return new ThroughlineError(
    'config_invalid',
    towards === 'per-session'
      ? `sessions are being moved back to a stream each: end that first, with "throughline layout migrate --back", and move them to ${counted(wanted, 'shard')} then`
      : `sessions are being moved to ${counted(shards, 'shard')}: leave out --shards to go on with that, or "throughline layout migrate --back" takes it back, and then they can be moved to ${wanted}`,
  );
}
