import { PER_SESSION, type SessionLayout } from '../../src/contracts/names.js';
import { TIER } from './tier.js';

export function layoutEnv(layout: SessionLayout): Record<string, string> {
  return {
    THROUGHLINE_LAYOUT: layout.layout === 'sharded' ? `sharded:${layout.shards}` : layout.layout,
  };
}

/** Returns the layouts that a test of the whole system runs in: in the default tier only the default layout. */
export function testedLayouts(shards: number): readonly SessionLayout[] {
  return TIER === 'all' ? [PER_SESSION, { layout: 'sharded', shards }] : [PER_SESSION];
}
