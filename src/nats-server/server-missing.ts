import { ThroughlineError } from '../contracts/errors.js';
import { NATS_SERVER_PIN } from './server-pin.js';

/** One place that was looked in, and why nothing came of it. */
export interface FailedPlace {
  readonly place: string;
  readonly reason: string;
}

/**
 * The end of a search without a server: `server_missing`, with every place that was tried and what to
 * install.
 */
export function serverMissing(tried: readonly FailedPlace[]): ThroughlineError {
  const { version, minimum, goModule, image, releasePage } = NATS_SERVER_PIN;
  const lines = [
    'no NATS server could be found or installed. Tried, in order:',
    ...tried.map(({ place, reason }) => `  - ${place}: ${reason}`),
    `Install one, ${minimum} or newer (${version} is what Throughline is tested with), and try again:`,
    '  macOS           brew install nats-server',
    '  Debian, Ubuntu  their own package is too old: use the release archive (below), or go install',
    '  Windows         scoop install nats-server',
    `  with Go         go install ${goModule}@v${version}`,
    `  with Docker     docker run -p 127.0.0.1:4222:4222 ${image} -js, then NATS_URL=nats://127.0.0.1:4222`,
    `  any platform    ${releasePage}, then NATS_SERVER_BIN=<path of nats-server>`,
    'or use a server that is already running: NATS_URL=nats://<host>:4222',
  ];
  return new ThroughlineError('server_missing', lines.join('\n'), { details: { tried } });
}
