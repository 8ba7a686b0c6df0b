import { describe, expect, it } from 'vitest';
import {
  type DispatchFold,
  DispatchWindow,
  type DispatchWindowJson,
  WINDOW_LENGTH,
} from '../../../src/memory/session/dispatch-window.js';

interface Entry {
  readonly sequence: number;
  readonly word?: string;
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

describe('an empty window', () => {
  it('an empty window has folded nothing', () => {
    const window = windowOf();
    expect(window.current()).toEqual([]);
    expect(window.settled()).toEqual([]);
    expect(window.newest()).toBe(0);
    expect(window.has(1)).toBe(false);
    expect(window.toJSON()).toEqual({
      recent: [],
      counted: { floor: 0, steps: '', late: [], late_floor: 0 },
    });
  });
});

describe('a window that is not full', () => {
  it('a window that is not full folds in ascending order, whatever comes first', () => {
    const window = windowOf(5, 2, 9, 1, 7);
    expect(sequences(window.current())).toEqual([1, 2, 5, 7, 9]);
    expect(window.settled()).toEqual([]);
    expect(window.newest()).toBe(9);
  });

  it('a window that is not full says what became of an entry', () => {
    const window = windowOf(5);
    expect(window.insert({ sequence: 3 })).toBe('folded');
    expect(window.insert({ sequence: 5 })).toBe('repeated');
    expect(window.insert({ sequence: 3, word: 'new' }, { replaces: () => true })).toBe('replaced');
    expect(window.current()).toEqual([{ sequence: 3, word: 'new' }, { sequence: 5 }]);
  });

  it('a window that is not full keeps what it knows when the new entry does not replace it', () => {
    const window = windowOf(5);
    expect(window.insert({ sequence: 5, word: 'new' }, { replaces: (known) => known.word === 'old' })).toBe(
      'repeated',
    );
    expect(window.current()).toEqual([{ sequence: 5 }]);
  });

  it('a window that is not full knows which entries it has', () => {
    const window = windowOf(4, 8);
    expect(upTo(9).filter((sequence) => window.has(sequence))).toEqual([4, 8]);
  });

  it('a window that is not full shows an entry to a reader who has looked before, at its place', () => {
    const window = windowOf(2, 6);
    expect(sequences(window.current())).toEqual([2, 6]);
    window.insert({ sequence: 8 });
    expect(sequences(window.current())).toEqual([2, 6, 8]);
    window.insert({ sequence: 4 });
    expect(sequences(window.current())).toEqual([2, 4, 6, 8]);
    window.insert({ sequence: 6, word: 'new' }, { replaces: () => true });
    expect(window.current()[2]).toEqual({ sequence: 6, word: 'new' });
  });
});

describe('a full window', () => {
  const full = () => windowOf(...upTo(WINDOW_LENGTH + 2));

  it('a full window settles its oldest entries', () => {
    expect(sequences(windowOf(...upTo(WINDOW_LENGTH)).settled())).toEqual([]);
    expect(sequences(full().settled())).toEqual([1, 2]);
    expect(sequences(full().current())).toEqual(upTo(WINDOW_LENGTH + 2));
  });

  it('a full window knows a settled entry, and ignores it when it comes again, replacing or not', () => {
    const window = full();
    expect(window.has(1)).toBe(true);
    expect(window.insert({ sequence: 1 })).toBe('repeated');
    expect(window.insert({ sequence: 1, word: 'new' }, { replaces: () => true })).toBe('repeated');
    expect(window.current()).toHaveLength(WINDOW_LENGTH + 2);
  });

  it('a full window puts the oldest entry in at its place, as long as nothing was settled', () => {
    const window = windowOf(...upTo(WINDOW_LENGTH).map((sequence) => sequence + 1));
    expect(window.insert({ sequence: 1 })).toBe('folded');
    expect(sequences(window.settled())).toEqual([1]);
    expect(sequences(window.current())).toEqual(upTo(WINDOW_LENGTH + 1));
  });

  it('a full window folds an entry that comes too late on arrival, once', () => {
    const window = windowOf(...upTo(WINDOW_LENGTH + 2).map((sequence) => sequence * 10));
    expect(sequences(window.current())).toHaveLength(WINDOW_LENGTH + 2);
    expect(window.insert({ sequence: 15 })).toBe('folded');
    expect(window.insert({ sequence: 15 })).toBe('repeated');
    expect(sequences(window.settled())).toEqual([10, 20, 15]);
    expect(sequences(window.current()).slice(0, 4)).toEqual([10, 20, 15, 30]);
    expect(window.has(15)).toBe(true);
    expect(window.has(14)).toBe(false);
  });
});

describe('a dispatch that comes after thousands of newer ones', () => {
  it('a dispatch that comes after thousands of newer ones counts, and once', () => {
    const window = windowOf(...upTo(10_000).map((sequence) => sequence * 2));
    expect(window.insert({ sequence: 3 })).toBe('folded');
    expect(window.insert({ sequence: 3 })).toBe('repeated');
    expect(window.insert({ sequence: 4 })).toBe('repeated');
    expect(window.settled()).toHaveLength(10_001 - WINDOW_LENGTH);
  });
});

describe('a window as JSON', () => {
  it('a window read from JSON goes on as the window it was made from', () => {
    const window = windowOf(...upTo(WINDOW_LENGTH + 9).map((sequence) => sequence * 3));
    const json: DispatchWindowJson<Entry> = JSON.parse(JSON.stringify(window));
    const copy = new DispatchWindow(APPEND, [...window.settled()], json);
    for (const sequence of [5, 3, 400, 100, 5]) {
      expect(copy.insert({ sequence })).toBe(window.insert({ sequence }));
    }
    expect(copy.current()).toEqual(window.current());
    expect(JSON.stringify(copy)).toBe(JSON.stringify(window));
    expect(copy.newest()).toBe(400);
  });
});
