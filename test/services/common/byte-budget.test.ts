import { describe, expect, it } from 'vitest';
import { callerOf } from '../../../src/nats/micro/service-answer.js';
import { byteBudget, type RawRequest } from '../../../src/services/common/request-guard.js';

const MIB = 1024 * 1024;

/** Returns a budget of 1 MiB a second, with a fake clock. */
function budget() {
  const clock = { ms: 0 };
  const admit = byteBudget({ requestKbPerSecond: 1024, now: () => clock.ms });
  const admitted = (request: RawRequest) => {
    try {
      admit(request);
      return true;
    } catch {
      return false;
    }
  };
  const times = (count: number, request: (at: number) => RawRequest) =>
    Array.from({ length: count }, (_, at) => admitted(request(at))).filter((each) => each).length;
  return { clock, admit, admitted, times };
}

describe('a budget of bytes', () => {
  it('the byte budget lets a caller send twice its rate at once, and then its rate, whatever the sessions', () => {
    const { clock, times } = budget();
    const request = (at: number) => ({ bytes: MIB / 2, caller: '_INBOX.a', session: `s${at}` });
    expect(times(100, request)).toBe(4);
    clock.ms += 1000;
    expect(times(100, request)).toBe(2);
  });

  it('the byte budget lets a session receive as much from any callers, and other sessions too', () => {
    const { times } = budget();
    expect(times(100, (at) => ({ bytes: 60_000, caller: `_INBOX.${at}`, session: 's' }))).toBe(34);
    expect(times(10, (at) => ({ bytes: 60_000, caller: `_INBOX.${at}`, session: 'other' }))).toBe(10);
  });

  it('the byte budget bounds the large requests of all callers together, and lets small ones through', () => {
    const { clock, times, admitted } = budget();
    expect(times(100, (at) => ({ bytes: MIB / 2, caller: `_INBOX.${at}` }))).toBe(16);
    expect(admitted({ bytes: 1000, caller: '_INBOX.late' })).toBe(true);
    clock.ms += 500;
    expect(times(100, (at) => ({ bytes: MIB / 2, caller: `_INBOX.later-${at}` }))).toBe(4);
  });

  it('the byte budget lets a request through that is larger than two seconds allow, and makes its caller wait for it', () => {
    const { clock, admitted } = budget();
    const large = { bytes: 4 * MIB, caller: '_INBOX.a' };
    expect(admitted(large)).toBe(true);
    clock.ms += 3999;
    expect(admitted(large)).toBe(false);
    clock.ms += 1;
    expect(admitted(large)).toBe(true);
  });

  it('the byte budget says when to try again', () => {
    const { admit } = budget();
    admit({ bytes: 2 * MIB, caller: '_INBOX.a' });
    expect(() => admit({ bytes: MIB / 4, caller: '_INBOX.a' })).toThrow(
      expect.objectContaining({
        code: 'rate_limited',
        message:
          'this caller, or its session, sends more than 1024 KiB of requests a second: try again in 250 ms, or send less',
        details: { retryAfterMs: 250, kbPerSecond: 1024 },
      }),
    );
  });

  it('the byte budget has no limit at 0', () => {
    const admit = byteBudget({ requestKbPerSecond: 0, now: () => 0 });
    for (let each = 0; each < 1000; each += 1) admit({ bytes: MIB, caller: '_INBOX.a' });
  });
});

describe('the caller of a request', () => {
  it.each([
    ['_INBOX.client.1', '_INBOX.client'],
    ['_INBOX.client.2', '_INBOX.client'],
    ['_INBOX_reader.client.1', '_INBOX_reader.client'],
    ['my.own.prefix.client.1', 'my.own.prefix.client'],
    ['_INBOX.once', '_INBOX.once'],
    ['reply', 'reply'],
    ['', ''],
    [undefined, ''],
  ])('the caller of a request with the reply subject %j is %j', (reply, caller) => {
    expect(callerOf(reply)).toBe(caller);
  });
});
