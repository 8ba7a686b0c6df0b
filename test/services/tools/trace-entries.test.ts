import { describe, expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import type { TraceShown } from '../../../src/contracts/replies/trace-reply.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import type { RecordedEntry } from '../../../src/contracts/trace-entry.js';
import { createTraceEntries } from '../../../src/services/tools/trace-service.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { DEMO } from '../../doubles/spied-ports.js';
import { implementer, recorded } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

function entry(id: string, intent: string): RecordedEntry {
  return {
    id,
    intent,
    action: 'TOOL_EXECUTION',
    status: 'SUCCESS',
    tool: 'edit',
    output: `did ${id}`,
    size: 9,
  };
}

function appended(...entries: RecordedEntry[]): SessionEvent {
  const at = '2026-01-01T00:00:00.000Z';
  return { v: EVENT_VERSION, type: 'trace.appended', at, data: { entries, malformed: 0 } };
}

async function showing(...events: readonly SessionEvent[]) {
  const log = new MemorySessionLog();
  for (const event of events) await log.append(DEMO, event);
  const show = createTraceEntries({ log });
  const more = (event: SessionEvent) => log.append(DEMO, event);
  return { more, show: (asked: object) => show({ session: DEMO, ...asked }) };
}

const ids = ({ entries }: TraceShown) => entries.map((each) => each.entry.id);

describe('the entries of an intent', () => {
  it('entries come from traces and from results that name the intent, the newest first', async () => {
    const { show } = await showing(
      appended(entry('a', 'INT-1'), entry('x', 'INT-2'), entry('b', 'INT-1')),
      recorded(7, implementer({ intent_id: 'INT-1', summary: 'Parser done' })),
      recorded(8, implementer()),
      appended(entry('c', 'INT-1')),
    );
    const shown = await show({ intent: 'INT-1' });
    expect(ids(shown)).toEqual(['c', 'dispatch:7', 'b', 'a']);
    expect(shown.entries[1]).toMatchObject({ sequence: 2, line: expect.stringContaining('Parser done') });
    expect(shown).toMatchObject({ intent: 'INT-1', sequence: 4 });
    expect(shown.next).toBeUndefined();
    expect(ids(await show({ intent: 'nobody' }))).toEqual([]);
  });

  it('the pages of an intent join to the whole while entries are added, also within one event', async () => {
    const event = fc.array(fc.constantFrom('INT-1', 'INT-2'), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (events, limit) => {
          const { show, more } = await showing(
            ...events.map((intents, at) =>
              appended(...intents.map((intent, index) => entry(`${at}.${index}`, intent))),
            ),
          );
          const whole = ids(await show({ intent: 'INT-1', limit: 200 }));
          const joined: string[] = [];
          for (let cursor: string | undefined; ; ) {
            const page = await show({ intent: 'INT-1', limit, ...(cursor !== undefined && { cursor }) });
            joined.push(...ids(page));
            if (page.next === undefined) break;
            cursor = page.next;
            await more(appended(entry('later', 'INT-1')));
          }
          expect(joined).toEqual(whole);
        },
      ),
      { numRuns: 60 },
    );
  });
});
