import { ErrorCode, type JetStreamManager, NatsError, type StreamInfo } from 'nats';
import { expect, it } from 'vitest';
import { API } from '../../../src/nats/connection/nats-errors.js';
import { listedStreams } from '../../../src/nats/jetstream/list-streams.js';

function refused(code: number, err_code: number, description: string): NatsError {
  return Object.assign(new NatsError(description, `${code}`), { api_error: { code, err_code, description } });
}

/** Answers of the server for these streams; for others it returns the leader. */
const ANSWERS: Readonly<Record<string, NatsError>> = {
  REMOVED: refused(404, API.streamNotFound, 'stream not found'),
  SILENT: NatsError.errorForCode(ErrorCode.Timeout),
  OFFLINE: refused(500, API.streamOffline, 'stream is offline'),
  ELECTING: refused(503, 10008, 'JetStream system temporarily unavailable'),
  HIDDEN: NatsError.errorForCode(ErrorCode.PermissionsViolation),
};

/** Streams whose servers are known to be down are listed without a leader and as empty. */
const listedAs = (name: string, isAlone = false) =>
  ({
    config: { name },
    state: { last_seq: name === 'OFFLINE' ? 0 : 7 },
    ...(!isAlone && { cluster: name === 'OFFLINE' ? { name: 'c' } : { name: 'c', leader: 'node-1' } }),
  }) as StreamInfo;

/** Returns a server that names all streams, lists some, some of them twice, and can be asked for the others. */
function serverWith(names: readonly string[], listed: readonly string[], isAlone = false) {
  const seen = { named: 0, atOnce: 0, most: 0 };
  const streams = {
    names() {
      seen.named += 1;
      return names;
    },
    list: () => listed.map((name) => listedAs(name, isAlone)),
    async info(name: string) {
      seen.atOnce += 1;
      seen.most = Math.max(seen.most, seen.atOnce);
      await new Promise(setImmediate);
      seen.atOnce -= 1;
      const answer = ANSWERS[name.replace(/-\d+$/, '')];
      if (answer !== undefined) throw answer;
      return listedAs(name);
    },
  };
  return { jsm: { streams } as unknown as JetStreamManager, seen };
}

const namesOf = (found: readonly StreamInfo[]) => found.map(({ config }) => config.name).sort();

it('a list of streams holds each once, also what the server left out because it had no leader', async () => {
  const { jsm } = serverWith(['A', 'B', 'C', 'REMOVED'], ['A', 'C', 'C']);
  const { found, leaderless } = await listedStreams(jsm, 'session.>');
  expect({ found: namesOf(found), leaderless }).toEqual({ found: ['A', 'B', 'C'], leaderless: [] });
});

it.each([
  ['gives no answer', 'SILENT', ['A']],
  ['is offline, as the list does not know yet', 'OFFLINE', ['A']],
  ['is offline, and listed as if it were empty', 'OFFLINE', ['A', 'OFFLINE']],
  ['has no leader', 'ELECTING', ['A']],
])('a list of streams is not shorter because one of them %s: that one is named', async (_, name, listed) => {
  const { jsm } = serverWith(['A', name, 'REMOVED'], listed);
  const { found, leaderless } = await listedStreams(jsm, 'session.>');
  expect({ found: namesOf(found), leaderless }).toEqual({ found: ['A'], leaderless: [name] });
});

it('a list of streams fails where the user may not ask for one that was left out, and does not say that it has no leader', async () => {
  const { jsm } = serverWith(['A', 'HIDDEN', 'SILENT'], ['A']);
  await expect(listedStreams(jsm, 'session.>')).rejects.toMatchObject({
    code: ErrorCode.PermissionsViolation,
  });
});

it('a list of streams fails where the server has answered nothing any more, and does not say that they have no leader', async () => {
  const { jsm, seen } = serverWith(['A', 'SILENT'], ['A']);
  const { names } = jsm.streams;
  jsm.streams.names = (subjects) => {
    if (seen.named > 0) throw NatsError.errorForCode(ErrorCode.Timeout);
    return names(subjects);
  };
  await expect(listedStreams(jsm, 'session.>')).rejects.toMatchObject({ code: ErrorCode.Timeout });
});

it('streams without a leader are asked for many at a time, and not all at once', async () => {
  const silent = Array.from({ length: 500 }, (_, index) => `SILENT-${index}`);
  const { jsm, seen } = serverWith(silent, []);
  expect((await listedStreams(jsm, 'session.>')).leaderless).toEqual(silent);
  expect(seen.most).toBeGreaterThanOrEqual(100);
  expect(seen.most).toBeLessThan(500);
});

it('a server without a cluster lists all streams: nothing else is asked', async () => {
  const { jsm, seen } = serverWith(['A', 'B'], ['A', 'B'], true);
  expect(namesOf((await listedStreams(jsm, 'session.>')).found)).toEqual(['A', 'B']);
  expect(seen).toEqual({ named: 0, atOnce: 0, most: 0 });
});
