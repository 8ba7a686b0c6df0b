import { expect, it } from 'vitest';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { SessionFeed, SessionTable } from '../../../src/services/common/session-table.js';
import { MemorySessionIndex } from '../../doubles/memory-session-index.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';

it('a feed that is told to stop does not wait for a server that is gone', async () => {
  const log = new MemorySessionLog();
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  log.activity = () => {
    asked();
    return new Promise(() => {});
  };
  const feed = new SessionFeed({
    table: new SessionTable(Date.now),
    log,
    index: new MemorySessionIndex(),
    logger: silentLogger,
    now: Date.now,
    onReconnect: () => () => {},
  });
  feed.start();
  await isAsked;
  // Otherwise this waits forever.
  expect(await feed.stop()).toBeUndefined();
});
