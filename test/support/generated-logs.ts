import { EVENT_VERSION } from '../../src/contracts/event.js';
import type { Token } from '../../src/contracts/names.js';
import type { FactRecorded, SessionEvent } from '../../src/contracts/session-events.js';
import type { MemorySessionLog } from '../doubles/memory-session-log.js';
import { recorded, rejected, roleResults, timeOf } from './builders.js';
import * as fc from './properties.js';

/** What comes to the log of a session in any order: results, commands that were decided on any state, and other messages. */
export type LogStep =
  | { readonly what: 'result'; readonly dispatch: number; readonly event: FactRecorded; readonly back: Back }
  | { readonly what: 'rejected'; readonly dispatch: number; readonly back: Back }
  | { readonly what: 'command'; readonly event: SessionEvent; readonly place: Place; readonly back: number }
  | { readonly what: 'junk'; readonly text: string };

/** So many messages back the log was looked through; not at all where it is missing. */
type Back = number | undefined;
type Place = 'after' | 'decidedOn' | 'anywhere';

const dispatch = fc.integer({ min: 1, max: 12 });
const back = fc.option(fc.integer({ min: -3, max: 6 }), { nil: undefined });

const results = fc.tuple(dispatch, roleResults, back).map(
  ([at, returned, looked]): LogStep => ({
    what: 'result',
    dispatch: at,
    event: recorded(at, returned),
    back: looked,
  }),
);

const commands = fc
  .tuple(
    fc.integer({ min: 1, max: 5 }),
    fc.boolean(),
    fc.constantFrom<Place[]>('after', 'decidedOn', 'anywhere'),
  )
  .chain(([number, isTask, place]) =>
    fc.integer({ min: -2, max: 4 }).map((behind): LogStep => {
      const event: SessionEvent = isTask ? taskAdded(number) : noteAdded(number);
      return { what: 'command', event, place, back: behind };
    }),
  );

const junk = fc
  .constantFrom(
    '',
    'no JSON',
    '{"v":1,"type":"note.added"}',
    JSON.stringify({ session: 'other', ...noteAdded(9) }),
  )
  .map((text): LogStep => ({ what: 'junk', text }));

const vectors = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.constantFrom('one', 'other')).map(
  ([number, model]): LogStep => ({
    what: 'command',
    event: vectorsOf(number, model),
    place: 'anywhere',
    back: 0,
  }),
);

const refusals = fc.tuple(dispatch, back).map(
  ([at, looked]): LogStep => ({
    what: 'rejected',
    dispatch: at,
    back: looked,
  }),
);

/** Any log of a session. */
export const logSteps: fc.Arbitrary<readonly LogStep[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: results },
    { weight: 3, arbitrary: commands },
    { weight: 1, arbitrary: vectors },
    { weight: 1, arbitrary: refusals },
    { weight: 1, arbitrary: junk },
  ),
  { maxLength: 40 },
);

/** Has the log hold what the steps say. */
export async function played(
  log: MemorySessionLog,
  session: Token,
  steps: readonly LogStep[],
): Promise<void> {
  const stored: number[] = [];
  /** Sequence of the message so many back from the newest; below 0, one that is not there yet. */
  const at = (behind: number) =>
    behind < 0 ? (stored.at(-1) ?? 0) - behind * 3 : (stored.at(-1 - behind) ?? 0);
  for (const step of steps) {
    if (step.what === 'junk') {
      stored.push(log.inject(session, Buffer.from(step.text)));
      continue;
    }
    const decided =
      step.what !== 'command' || step.place === 'anywhere' ? {} : { [step.place]: at(step.back) };
    const appended = await log.append(session, eventOf(step, at), { decided });
    if (appended.outcome === 'appended') stored.push(appended.sequence);
  }
}

function eventOf(step: Exclude<LogStep, { what: 'junk' }>, at: (back: number) => number): SessionEvent {
  if (step.what === 'command') return step.event;
  const checked = step.back === undefined ? {} : { checked: at(step.back) };
  if (step.what === 'rejected') {
    const event = rejected(step.dispatch);
    return { ...event, data: { ...event.data, dispatch: { ...event.data.dispatch, ...checked } } };
  }
  const { event } = step;
  return { ...event, data: { ...event.data, dispatch: { ...event.data.dispatch, ...checked } } };
}

function taskAdded(number: number): SessionEvent {
  const task = { task: `TAS-${number}`, content: 'do it', status: 'remaining', priority: 2 } as const;
  return { ...envelope(number), type: 'task.added', data: { ...task, depends_on: [], iteration: 0 } };
}

export function noteAdded(number: number): SessionEvent {
  const note = { note: `NOT-${number}`, content: 'mind it', type: 'tip', iteration: 0 } as const;
  return { ...envelope(number), type: 'note.added', data: note };
}

function vectorsOf(number: number, model: string): SessionEvent {
  const values = Buffer.from([number, 255, 128 - number]).toString('base64');
  const vectors = [number, number + 1].map((fact) => ({ fact: String(fact), scale: 1 / number, values }));
  return { v: EVENT_VERSION, at: timeOf(number), type: 'fact.vectors', data: { model, vectors } };
}

function envelope(number: number) {
  return { v: EVENT_VERSION, at: timeOf(number), id: `command-${number}` } as const;
}
