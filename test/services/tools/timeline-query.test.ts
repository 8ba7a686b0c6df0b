import { describe, expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import type { Token } from '../../../src/contracts/names.js';
import type { KeptPrompt } from '../../../src/contracts/prompt-requests.js';
import type { ToolInput } from '../../../src/contracts/requests.js';
import type { TimelineEntry } from '../../../src/contracts/result-requests.js';
import type { EventOf, SessionEvent } from '../../../src/contracts/session-events.js';
import type { ToolPorts } from '../../../src/services/common/service-context.js';
import { checkedHandler } from '../../../src/services/common/service-shell.js';
import { createTimelineService } from '../../../src/services/tools/timeline-query.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { DEMO } from '../../doubles/spied-ports.js';
import { implementer, recorded, rejected, reviewer } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

type Prompts = ToolPorts['prompts'];

const NO_PROMPTS: Prompts = { all: async () => [] };

type Asked = Omit<ToolInput<'timeline-list'>, 'session'>;

const AT = '2026-01-01T00:00:00.000Z';
const note = (number: number): SessionEvent => ({
  v: EVENT_VERSION,
  type: 'note.added',
  at: AT,
  data: { note: `NOT-${number}`, content: 'n', type: 'tip', iteration: 0 },
});
const trace: EventOf<'trace.appended'> = {
  v: EVENT_VERSION,
  type: 'trace.appended',
  at: AT,
  data: {
    entries: [
      {
        id: 'e',
        intent: 'i',
        action: 'TOOL_EXECUTION',
        status: 'FAILURE',
        tool: 'edit',
        output: 'no',
        size: 9,
      },
    ],
    malformed: 0,
  },
};

function ring(...sequences: readonly number[]): Prompts {
  const prompts = sequences.map(
    (sequence, index): KeptPrompt => ({
      id: String(sequences.length - index),
      at: AT,
      kind: 'dispatch',
      task: '1',
      role: 'reviewer',
      sequence,
      tokens: 100,
      hash: 'h',
      durationMs: 2,
      dropped: 0,
      facts: [],
      session: DEMO,
      room: 9,
      factsShown: 0,
      factsTotal: 0,
      left: [],
      learnings: [],
      request: {},
    }),
  );
  return { all: async () => prompts };
}

async function logOf(events: readonly SessionEvent[], step = 1) {
  const log = new MemorySessionLog({ sequenceStep: step });
  for (const event of events) await log.append(DEMO, event);
  return log;
}

function asking(log: MemorySessionLog, prompts = NO_PROMPTS, session: Token = DEMO) {
  const list = checkedHandler('tool.timeline-list', createTimelineService({ log, prompts }));
  return (asked: Asked = {}) => list({ session, ...asked });
}

async function allPages(ask: ReturnType<typeof asking>, asked: Asked, between = async () => {}) {
  const found: TimelineEntry[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await ask({ ...asked, ...(cursor !== undefined && { cursor }) });
    found.push(...page.entries);
    if (page.next === undefined) return found;
    cursor = page.next;
    await between();
  }
}

const keys = (entries: readonly TimelineEntry[]) => entries.map(({ key }) => key);

describe('the timeline of a session', () => {
  it('the timeline shows what happened, the newest first, and prompts before the event that they reflect', async () => {
    const log = await logOf([recorded(1, implementer()), rejected(2, { task: '1' }), note(1), trace]);
    const { entries, next, sequence } = await asking(log, ring(3, 1))();
    expect({ next, sequence }).toEqual({ next: undefined, sequence: 4 });
    expect(entries).toMatchObject([
      { key: 'e4', kind: 'trace', failed: true, summary: 'FAILURE edit: no' },
      { key: 'p2', kind: 'prompt', task: '1', role: 'reviewer', prompt: { id: '2', tokens: 100 } },
      { key: 'e3', kind: 'command', summary: 'note NOT-1 (tip): n' },
      { key: 'e2', kind: 'rejected', task: '1', failed: true, dispatch: 2 },
      { key: 'p1', kind: 'prompt', sequence: 1 },
      { key: 'e1', kind: 'result', task: '1', verdict: 'completed', summary: 'added the store', dispatch: 1 },
    ]);
  });

  it('the timeline says how many entries of a trace could not be read, and why', async () => {
    const unread = (entries: number) => ({
      ...trace,
      data: { entries: trace.data.entries.slice(0, entries), malformed: 2, malformed_because: 'no' },
    });
    const { entries } = await asking(await logOf([unread(1), unread(0)]), ring(2))({ kinds: ['trace'] });
    expect(entries).toMatchObject([
      { failed: true, summary: '2 entries not read, no' },
      { failed: true, summary: 'FAILURE edit: no, 2 entries not read, no' },
    ]);
  });

  it('the timeline shows only what was asked for: kinds, a task, what failed, what is new', async () => {
    const log = await logOf([
      recorded(1, implementer()),
      recorded(2, reviewer({ task_id: '2', required_fixes: ['a'] })),
      rejected(3),
      note(1),
      trace,
    ]);
    const ask = asking(log, ring(5, 2));
    const found = async (asked: Asked) => keys((await ask(asked)).entries);
    expect(await found({ kinds: ['result'] })).toEqual(['e2', 'e1']);
    expect(await found({ kinds: ['rejected', 'command'] })).toEqual(['e4', 'e3']);
    expect(await found({ kinds: ['prompt'] })).toEqual(['p2', 'p1']);
    expect(await found({ task: '2' })).toEqual(['e2']);
    expect(await found({ failed: true })).toEqual(['e5', 'e3', 'e2']);
    expect(await found({ after: 3 })).toEqual(['p2', 'e5', 'e4']);
    expect(await found({ upTo: 2 })).toEqual(['p1', 'e2', 'e1']);
    expect(await found({ upTo: 99, limit: 1 })).toEqual(['p2']);
    expect(keys(await allPages(ask, { upTo: 2, limit: 1 }))).toEqual(['p1', 'e2', 'e1']);
    const dated = asking(await logOf([{ ...note(1), at: '2026-01-03T00:00:00.000Z' }, note(2)]));
    expect(keys((await dated({ since: '2026-01-03' })).entries)).toEqual(['e1']);
    expect(keys((await dated({ until: '2026-01-02T00:00:00Z' })).entries)).toEqual(['e2']);
  });

  it('a cursor that no service made costs nothing', async () => {
    const ask = asking(await logOf([note(1)]));
    const far = Buffer.from(JSON.stringify(['timeline', Number.MAX_SAFE_INTEGER, ''])).toString('base64url');
    expect(keys((await ask({ cursor: far })).entries)).toEqual(['e1']);
    await expect(ask({ cursor: 'x' })).rejects.toThrow(/^cursor: is not one of this list/);
  });

  it('the first page of a long log reads its end alone', async () => {
    const events = Array.from({ length: 3000 }, (_, index) => rejected(index + 1));
    const log = await logOf(events);
    let read = 0;
    const counting = {
      newest: (session: Token) => log.newest(session),
      read: async (...given: Parameters<typeof log.read>) => {
        const found = await log.read(...given);
        read += found.events.length;
        return found;
      },
    };
    const list = checkedHandler(
      'tool.timeline-list',
      createTimelineService({ log: counting, prompts: NO_PROMPTS }),
    );
    expect((await list({ session: DEMO })).entries).toHaveLength(100);
    expect(read).toBeLessThan(150);
    // Without a match, a page ends early and returns a cursor.
    const none = await list({ session: DEMO, task: 'x' });
    expect(none).toMatchObject({ entries: [], next: expect.any(String) });
    expect(read).toBeLessThan(150 + 2500);
  });

  it('the pages of a timeline join to the whole, no entry twice or lost, while events are appended', async () => {
    const some = fc.constantFrom('result', 'rejected', 'note', 'trace');
    const eventOf = (what: string, index: number): SessionEvent => {
      if (what === 'result') return recorded(index + 1, implementer({ task_id: String(index % 3) }));
      if (what === 'rejected') return rejected(index + 1, { task: String(index % 3) });
      return what === 'note' ? note(index + 1) : trace;
    };
    const asked = fc.record(
      {
        kinds: fc.constantFrom<Asked['kinds']>(['result'], ['command', 'trace'], ['result', 'prompt']),
        task: fc.constantFrom('0', '1'),
        failed: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(some, { maxLength: 60 }),
        fc.array(fc.nat(60), { maxLength: 8 }),
        asked,
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(1, 7),
        async (kinds, reflected, filter, limit, step) => {
          const log = await logOf(kinds.map(eventOf), step);
          const newest = await log.newest(DEMO);
          const ask = asking(log, ring(...reflected.map((at) => Math.min(at, newest))));
          const given = filter as Asked;
          const whole = keys((await ask({ ...given, limit: 500 })).entries);
          const between = async () => void (await log.append(DEMO, rejected(999, { task: '0' })));
          const joined = keys(await allPages(ask, { ...given, limit }, between));
          expect(joined).toEqual(whole);
          expect(new Set(joined).size).toBe(joined.length);
        },
      ),
      { numRuns: 80 },
    );
  });
});
