import { readFileSync } from 'node:fs';
import { token } from '../../src/contracts/names.js';
import { SESSION_EVENTS } from '../../src/contracts/session-events.js';
import { implementer, recorded, reviewer } from './builders.js';
import { soon } from './soon.js';
import type { System } from './system.js';

/** Sessions that are there at once, as logs: nobody has to play them. */

/** Appends the session of test/fixtures/sessions. */
export async function appendRecorded({ ports }: Pick<System, 'ports'>, session: string): Promise<void> {
  const file = new URL('../fixtures/sessions/0.1.0/events.jsonl', import.meta.url);
  for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
    const event = SESSION_EVENTS.parse(JSON.parse(line));
    if (event === undefined) throw new Error(`not an event: ${line}`);
    await ports.log.append(token(session, 'session'), event);
  }
}

/** How many appends are under way at once. */
const AT_ONCE = 200;

/** Appends so many results from a dispatch number on, of 40 tasks in turn; every seventh sends its task back. */
export async function appendResults(
  { ports }: Pick<System, 'ports'>,
  session: string,
  count: number,
  from = 1,
): Promise<void> {
  const key = token(session, 'session');
  // A busy machine may take longer than one answer of the server may.
  const append = (sequence: number) =>
    soon(() =>
      ports.log.append(key, recorded(sequence, resultAt(sequence)), { messageId: `result-${sequence}` }),
    );
  await append(from);
  const end = from + count - 1;
  for (let first = from + 1; first <= end; first += AT_ONCE) {
    const last = Math.min(end, first + AT_ONCE - 1);
    await Promise.all(Array.from({ length: last - first + 1 }, (_, place) => append(first + place)));
  }
}

function resultAt(sequence: number) {
  const task_id = `TAS-${(sequence % 40) + 1}`;
  if (sequence % 2 === 0) {
    const assessment = sequence % 7 === 0 ? 'needs_changes' : 'approved';
    return reviewer({ task_id, assessment, summary: `Review ${sequence} of the store` });
  }
  return implementer({ task_id, summary: `Result ${sequence}: the store keeps what it is given` });
}
