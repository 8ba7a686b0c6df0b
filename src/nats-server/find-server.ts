import { cachedBinary } from './cached-binary.js';
import { goInstall } from './go-install.js';
import { namedBinary } from './named-binary.js';
import { pathBinary } from './path-binary.js';
import { releaseArchive } from './release-archive.js';
import { type FailedPlace, serverMissing } from './server-missing.js';
import type { FindOptions, NatsServerSource, Place } from './server-search.js';

/** In order: what the user named, what is there already, what can be built or downloaded. */
const PLACES: readonly Place[] = [namedBinary, pathBinary, cachedBinary, goInstall, releaseArchive];

/**
 * Finds a nats-server that `startNatsServer` can start, and installs the pinned one into `cacheDir` when there
 * is none. A place that has nothing is not an error: its reason is kept, and the search goes on.
 *
 * Throws `server_missing` when every place failed, and `config_invalid` or `server_unsupported` when
 * `NATS_SERVER_BIN` names a server that does not work. A server that runs already (`NATS_URL`) is the caller's
 * business.
 */
export async function findNatsServer(options: FindOptions): Promise<NatsServerSource> {
  const tried: FailedPlace[] = [];
  for (const place of PLACES) {
    const attempt = await place.look(options);
    if ('found' in attempt) return attempt.found;
    tried.push({ place: place.name, reason: attempt.reason });
  }
  throw serverMissing(tried);
}
