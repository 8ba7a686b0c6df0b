import type { Token } from '../../contracts/names.js';
import type { StoredRepair } from '../../contracts/reading/repairs.js';
import type { SessionEvent } from '../../contracts/session-events.js';
import type { ReadResult, SessionLog } from '../../engine/ports/session-log.js';

/** Limits for reading events one by one; for more events, reading the whole range is cheaper unless they lie far apart. */
const MAX_SINGLE = 16;
const MAX_SINGLE_APART = 200;
const FAR_APART = 20;
const PAGE = 500;

type Log = Pick<SessionLog, 'read'>;

/**
 * Adds to each fact the repairs of its result. They are not part of the state, so they are read from the log; a fact whose
 * event was removed has none.
 */
export async function withRepairs<Fact extends { readonly eventSequence: number }>(
  log: Log,
  session: Token,
  facts: readonly Fact[],
): Promise<(Fact & { readonly repairs?: readonly StoredRepair[] })[]> {
  const wanted = new Set(facts.map(({ eventSequence }) => eventSequence));
  const found = new Map<number, readonly StoredRepair[]>();
  const take = ({ events }: ReadResult<SessionEvent>) => {
    for (const { sequence, event } of events) {
      if (event.type !== 'fact.recorded' || event.data.repairs === undefined) continue;
      if (wanted.has(sequence)) found.set(sequence, event.data.repairs);
    }
  };
  if (!isReadSingly(wanted)) await readBetween(log, session, [...wanted], take);
  else {
    const one = (sequence: number) => log.read(session, { after: sequence - 1, through: sequence });
    for (const read of await Promise.all([...wanted].map(one))) take(read);
  }
  return facts.map((fact) => {
    const repairs = found.get(fact.eventSequence);
    return repairs === undefined ? fact : { ...fact, repairs };
  });
}

function isReadSingly(wanted: ReadonlySet<number>): boolean {
  if (wanted.size <= MAX_SINGLE) return true;
  const span = Math.max(...wanted) - Math.min(...wanted);
  return wanted.size <= MAX_SINGLE_APART && span > FAR_APART * wanted.size;
}

/** Reads the events of results from the first sequence to the last, in pages. */
async function readBetween(
  log: Log,
  session: Token,
  sequences: number[],
  take: (read: ReadResult<SessionEvent>) => void,
): Promise<void> {
  sequences.sort((one, other) => one - other);
  const through = sequences.at(-1) ?? 0;
  for (let after = (sequences[0] ?? 1) - 1; ; ) {
    const read = await log.read(session, { after, through, type: 'fact.recorded', limit: PAGE });
    take(read);
    if (read.events.length + read.skipped < PAGE) return;
    after = read.through;
  }
}
