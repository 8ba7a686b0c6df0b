import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  decide,
  failed,
  sendAll,
  sent,
  takeBack,
  UNDO_MS,
  waiting,
} from '../../src/page/review/decisions.js';

const calls: string[] = [];
const decision = (id: string, send: (leaving: boolean) => Promise<void> = async () => undefined) => ({
  id,
  said: 'Accepted',
  text: `text ${id}`,
  send: (leaving: boolean) => {
    calls.push(`${id}${leaving ? ' leaving' : ''}`);
    return send(leaving);
  },
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  while (takeBack() !== undefined);
  sent.value = new Set();
  failed.value = undefined;
  calls.length = 0;
  vi.useRealTimers();
});

describe('a decision that can be taken back', () => {
  it('a decision is sent when its time is up, and not before', () => {
    decide(decision('a'));
    vi.advanceTimersByTime(UNDO_MS - 1);
    expect(calls).toEqual([]);
    expect(waiting.value.map(({ id }) => id)).toEqual(['a']);
    vi.advanceTimersByTime(1);
    expect(calls).toEqual(['a']);
    expect(waiting.value).toEqual([]);
    expect(sent.value.has('a')).toBe(true);
  });

  it('a decision that was taken back is never sent', () => {
    decide(decision('a'));
    decide(decision('b'));
    expect(takeBack()).toBe('b');
    expect(takeBack('a')).toBe('a');
    expect(takeBack()).toBeUndefined();
    vi.advanceTimersByTime(UNDO_MS * 2);
    expect(calls).toEqual([]);
  });

  it('the last decision on the same counts', () => {
    decide(decision('a'));
    vi.advanceTimersByTime(UNDO_MS / 2);
    decide(decision('a'));
    vi.advanceTimersByTime(UNDO_MS / 2);
    expect(calls).toEqual([]);
    vi.advanceTimersByTime(UNDO_MS / 2);
    expect(calls).toEqual(['a']);
  });

  it('what waits is sent at once when the page is left', () => {
    decide(decision('a'));
    decide(decision('b'));
    sendAll(true);
    expect(calls).toEqual(['a leaving', 'b leaving']);
    vi.advanceTimersByTime(UNDO_MS * 2);
    expect(calls).toHaveLength(2);
  });

  it('a decision that could not be sent is open again, with the reason', async () => {
    decide(decision('a', () => Promise.reject(new Error('gone'))));
    await vi.advanceTimersByTimeAsync(UNDO_MS);
    expect(sent.value.has('a')).toBe(false);
    expect(failed.value).toMatchObject({ text: 'text a', error: new Error('gone') });
  });
});
