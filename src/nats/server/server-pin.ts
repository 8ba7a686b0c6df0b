const VERSION = '2.15.0';
const REPOSITORY = 'https://github.com/nats-io/nats-server';

/**
 * The nats-server that Throughline installs and is tested with, and the oldest supported one. `docker-compose.yml` repeats the
 * image; a test compares the two.
 */
export const NATS_SERVER_PIN = {
  version: VERSION,
  /** Batch direct get and the stream features in use are stable since then. */
  minimum: '2.12.0',
  image: `nats:${VERSION}`,
  goModule: 'github.com/nats-io/nats-server/v2',
  releaseBaseUrl: `${REPOSITORY}/releases/download/v${VERSION}`,
  releasePage: `${REPOSITORY}/releases/tag/v${VERSION}`,
  /** SHA-256 of `nats-server-v<version>-<key>.tar.gz` in hex, by `<os>-<arch>`. */
  releaseChecksums: {
    'linux-amd64': '5d2c51caca950333aba84911df7d377f826f3a59ec36061c6539105084f65c92',
    'linux-arm64': 'cdc208f5a3f42963a52b6ab06ef65626bb870315dc936e26ba571780c6351112',
    'darwin-amd64': '5bd8b59ca5bf93fab3da2c5843cf564cd6e2e291e22ae3b861746e7ebe259b95',
    'darwin-arm64': 'e1c4e22d70bd44abfa0bcb3c16f7cf0c66f648c2e728c58924e8a1ce88913cc8',
  },
} as const;

/** Returns the name of the release archive for a target such as `linux-amd64`, without `.tar.gz`; also its only folder. */
export function releaseName(target: string): string {
  return `nats-server-v${VERSION}-${target}`;
}
