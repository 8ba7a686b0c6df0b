import { describe, expect, it } from 'vitest';
import { messageOf } from '../../src/contracts/errors.js';
import { startPrivateNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import { newSession, startSystem } from '../support/system.js';

const IN_PROGRESS = 20;

const MAX_PAYLOAD = 4096;

const nats = await ofFile(startPrivateNats({ maxPayloadBytes: MAX_PAYLOAD }));
const system = await ofFile(
  startSystem({
    nats,
    env: { THROUGHLINE_TUNING: 'maxBodyBytes=1024' },
    fixed: { requestsInProgress: IN_PROGRESS },
  }),
);

describe('the requests of a session', () => {
  it('a session with too many requests in progress is refused with a time to try again, and then let through', async () => {
    const session = newSession('flood');
    const other = newSession('other');
    const { tools } = system.client;
    const flood = Array.from({ length: 10 * IN_PROGRESS }, () => tools.noteList({ session }));
    const quiet = tools.noteAdd({ session: other, content: 'not a flood' });
    const results = await Promise.allSettled(flood);
    expect((await quiet).note.id).toBe('NOT-1');
    const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(results.length - refused.length).toBeGreaterThanOrEqual(IN_PROGRESS);
    expect(refused.length).toBeGreaterThan(IN_PROGRESS);
    for (const error of refused) {
      expect(error).toMatchObject({ code: 'rate_limited', details: { most: IN_PROGRESS } });
      expect(messageOf(error)).toBe(
        `session ${session} has ${IN_PROGRESS} requests in progress: try again in 1000 ms`,
      );
    }
    expect(await tools.noteList({ session })).toMatchObject({ notes: [] });
  });
});
