import type { SessionLayout } from '../../src/contracts/session-layout.js';

/** A layout as environment variables. */
export function layoutEnv(layout: SessionLayout): Record<string, string> {
  return {
    THROUGHLINE_LAYOUT: layout.layout,
    ...(layout.layout === 'sharded' && { THROUGHLINE_SHARDS: String(layout.shards) }),
  };
}

/** A layout as arguments of `throughline permissions` and `throughline up`. */
export function layoutFlags(layout: SessionLayout): string[] {
  return [
    ...['--layout', layout.layout],
    ...(layout.layout === 'sharded' ? ['--shards', String(layout.shards)] : []),
  ];
}
