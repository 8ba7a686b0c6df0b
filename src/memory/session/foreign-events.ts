import { gunzip } from 'node:zlib';
import { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import type { StoredEvent } from '../../contracts/session-events.js';
import { PastResults } from '../search/past-results.js';
import { type Checkpoint, carriedIn, issueIn, MAX_UNPACKED, unreadable } from './checkpoint.js';
import { CountedDispatches } from './dispatch-window.js';
import type { SessionStateJson } from './session-state-json.js';
import { numberOf } from './task-board.js';

/**
 * Validates events from an untrusted file. Schemas check the fields; these rules check plausible values: numbers that
 * our code counted, times not in the future, and checkpoints whose parts agree. All values are walked, so new fields
 * are covered.
 */

/** Larger than any count, and than a time in milliseconds; far below the limit of exact integers. */
const LARGEST = 1e14;
/** Clock skew between two machines is smaller. */
const AHEAD_MS = 86_400_000;

const TIME = /(?:^at|_at|At|^validFrom|^validTo)$/;
/** Our own ids; agents' ids may contain any number. */
const NUMBERED = /^(?:TAS|NOT|MSG)-(\d+)$/;
/** Times from an agent's clock, which order nothing. */
const OWN_CLOCK = /\.entries\.\d+\.at$/;
/** Fields of a state with a DISPATCH sequence. */
const DISPATCHES: ReadonlySet<string> = new Set(['sequence', 'sourceSequence', 'closedBy', 'floor']);

interface Bounds {
  /** Latest time, in milliseconds since 1970. */
  readonly latest: number;
  /** Highest DISPATCH sequence. */
  readonly newest?: number;
}

/**
 * @param now milliseconds since 1970
 * @throws ThroughlineError `schema_invalid` that names the field and its value
 */
export async function checkForeign({ event }: StoredEvent, now: number): Promise<void> {
  const bounds = { latest: now + AHEAD_MS };
  if (event.type !== 'session.checkpoint') return requireBounded(event, event.type, bounds);
  const { state, ...rest } = event.data;
  requireBounded({ ...event, data: rest }, event.type, bounds);
  requireAgreeing(carriedIn(await unpacked(state), requireShape), event, bounds);
}

/** Unpacks off the event loop, so that other sessions are served meanwhile. */
function unpacked(state: string): Promise<string> {
  return new Promise((resolve, reject) => {
    gunzip(Buffer.from(state, 'base64'), { maxOutputLength: MAX_UNPACKED }, (error, text) => {
      if (error === null) resolve(text.toString());
      else reject(unreadable(`it is not gzip and Base64 of at most ${MAX_UNPACKED} bytes`, error));
    });
  });
}

function requireAgreeing(state: SessionStateJson, { data }: Checkpoint, bounds: Bounds): void {
  const newest = data.newest_dispatch?.sequence ?? 0;
  requireBounded(state, 'state', { ...bounds, newest });
  const { late } = state.window.counted;
  const counted = Math.max(
    new CountedDispatches(state.window.counted).newest(),
    ...late.map(([dispatch]) => dispatch),
  );
  if (!(counted <= newest))
    throw wrong('state.window.counted', counted, `at most ${newest}, its newest dispatch`);
  const past = pastOf(state).rows.find(({ sequence }) => !(sequence <= newest));
  if (past !== undefined) throw wrong('state.past', past.sequence, `at most ${newest}, its newest dispatch`);
  for (const [kind, items] of [
    ['task', state.tasks],
    ['note', state.notes],
    ['message', state.inbox],
  ] as const) {
    const given = items.reduce((highest, { id }) => Math.max(highest, numberOf(id)), 0);
    if (!(state.last[kind] >= given))
      throw wrong(`state.last.${kind}`, state.last[kind], `at least ${given}`);
  }
}

function pastOf({ past }: SessionStateJson): PastResults {
  try {
    return new PastResults(past);
  } catch (cause) {
    throw wrong('state.past', cause instanceof Error ? cause.message : 'damaged', 'as it was exported');
  }
}

/**
 * Finds the first value of a wrong shape. The schema alone collects all of them: millions take minutes and gigabytes.
 */
function requireShape(schema: z.core.$ZodType, value: unknown, path: readonly PropertyKey[] = []): void {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional) {
    // JSON has no `undefined`: the field is absent.
    if (value !== undefined) requireShape(schema.unwrap(), value, path);
  } else if (schema instanceof z.ZodArray && Array.isArray(value))
    for (const [index, item] of value.entries()) requireShape(schema.element, item, [...path, index]);
  else if (schema instanceof z.ZodObject && typeof value === 'object' && value !== null)
    for (const [name, field] of Object.entries(schema.shape))
      requireShape(field, Reflect.get(value, name), [...path, name]);
  else if (schema instanceof z.ZodDiscriminatedUnion) requireShape(optionOf(schema, value), value, path);
  else {
    const parsed = z.safeParse(schema, value);
    if (!parsed.success) throw unreadable(issueIn(parsed.error, path));
  }
}

/** Returns the option that the value names, or one that reports it. */
function optionOf({ def }: z.ZodDiscriminatedUnion, value: unknown): z.core.$ZodType {
  const named = Object(value)[def.discriminator];
  const isNamed = (option: z.core.$ZodType) =>
    option instanceof z.ZodObject && z.safeParse(option.shape[def.discriminator], named).success;
  return def.options.find(isNamed) ?? z.never();
}

function requireBounded(value: unknown, path: string, bounds: Bounds, key = ''): void {
  if (typeof value === 'number') requireNumber(value, path, bounds, key);
  else if (typeof value === 'string') requireText(value, path, bounds, key);
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) requireBounded(item, `${path}.${index}`, bounds);
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) requireBounded(item, `${path}.${name}`, bounds, name);
}

function requireNumber(value: number, path: string, { newest }: Bounds, key: string): void {
  if (!(Math.abs(value) <= LARGEST)) throw wrong(path, value, `at most ${LARGEST}`);
  if (newest !== undefined && DISPATCHES.has(key) && value > newest)
    throw wrong(path, value, `at most ${newest}, its newest dispatch`);
}

function requireText(value: string, path: string, { latest }: Bounds, key: string): void {
  // An empty text means no time.
  if (TIME.test(key) && value !== '' && !OWN_CLOCK.test(path) && !(Date.parse(value) <= latest))
    throw wrong(path, value, 'a time that is not in the future');
  if (Number(NUMBERED.exec(value)?.[1] ?? 0) > LARGEST)
    throw wrong(path, value, `numbered at most ${LARGEST}`);
}

function wrong(path: string, value: string | number, most: string): ThroughlineError {
  return new ThroughlineError(
    'schema_invalid',
    `${path}: is ${value}, and must be ${most}: export the session again where it comes from`,
    { details: { fields: [path] } },
  );
}
