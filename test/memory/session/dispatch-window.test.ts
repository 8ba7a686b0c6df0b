import { describe, expect, it } from 'vitest';
import {
  type DispatchFold,
  DispatchWindow,
  WINDOW_LENGTH,
} from '../../../src/memory/session/dispatch-window.js';

interface Entry {
  readonly sequence: number;
}

const APPEND: DispatchFold<Entry, Entry[]> = {
  apply: (entries, entry) => {
    entries.push(entry);
  },
  copy: (entries) => [...entries],
};

function windowOf(...sequences: number[]): DispatchWindow<Entry, Entry[]> {
  const window = new DispatchWindow(APPEND, []);
  for (const sequence of sequences) window.insert({ sequence });
  return window;
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
const sequences = (entries: readonly Entry[]) => entries.map((entry) => entry.sequence);

describe('a window that is not full', () => {
  it('a window that is not full folds in ascending order, whatever comes first', () => {
    const window = windowOf(5, 2, 9, 1, 7);
    expect(sequences(window.current())).toEqual([1, 2, 5, 7, 9]);
    expect(window.settled()).toEqual([]);
    expect(window.newest()).toBe(9);
  });

  it('a window that is not full shows an entry to a reader who has looked before, at its place', () => {
    const window = windowOf(2, 6);
    expect(sequences(window.current())).toEqual([2, 6]);
    window.insert({ sequence: 8 });
    expect(sequences(window.current())).toEqual([2, 6, 8]);
    window.insert({ sequence: 4 });
    expect(sequences(window.current())).toEqual([2, 4, 6, 8]);
  });
});

describe('a full window', () => {
  const full = () => windowOf(...upTo(WINDOW_LENGTH + 2));

  it('a full window knows a settled entry, and ignores it when it comes again', () => {
    const window = full();
    expect(window.has(1)).toBe(true);
    expect(window.insert({ sequence: 1 })).toBe(false);
    expect(window.current()).toHaveLength(WINDOW_LENGTH + 2);
  });
});

describe('a dispatch that comes after thousands of newer ones', () => {
  it('a dispatch that comes after thousands of newer ones counts, and once', () => {
    const window = windowOf(...upTo(10_000).map((sequence) => sequence * 2));
    expect(window.insert({ sequence: 3 })).toBe(true);
    expect(window.insert({ sequence: 3 })).toBe(false);
    expect(window.insert({ sequence: 4 })).toBe(false);
    expect(window.settled()).toHaveLength(10_001 - WINDOW_LENGTH);
  });
});
