import type { Token } from '../../contracts/names.js';
import type { StoredRepair } from '../../contracts/reading/repairs.js';
import type { SessionLog } from '../../ports/session-log.js';

/** Events that are read one by one: for more of them, one read of all in between costs less. */
const MAX_SINGLE = 16;

/**
 * What reading the results repaired from which facts come, by the sequence of their event. State does not keep it: it is
 * read from the log. An event that is no longer there has none.
 */
export async function repairsOfEvents(
  log: Pick<SessionLog, 'read'>,
  session: Token,
  sequences: Iterable<number>,
): Promise<ReadonlyMap<number, readonly StoredRepair[]>> {
  const wanted = [...new Set(sequences)].filter((sequence) => sequence > 0).sort((one, other) => one - other);
  const [first = 0] = wanted;
  const { length } = wanted;
  const ranges =
    length > MAX_SINGLE
      ? [{ after: first - 1, through: wanted[length - 1] ?? first, type: 'fact.recorded' }]
      : wanted.map((sequence) => ({ after: sequence - 1, through: sequence }));
  const read = await Promise.all(ranges.map((range) => log.read(session, range)));
  const repairs = new Map<number, readonly StoredRepair[]>();
  for (const { sequence, event } of read.flatMap(({ events }) => events)) {
    if (event.type === 'fact.recorded' && event.data.repairs !== undefined)
      repairs.set(sequence, event.data.repairs);
  }
  return repairs;
}

/** The same facts, each with the repairs of its result, where it had any. */
export async function withRepairs<Fact extends { readonly eventSequence: number }>(
  log: Pick<SessionLog, 'read'>,
  session: Token,
  facts: readonly Fact[],
): Promise<(Fact & { readonly repairs?: readonly StoredRepair[] })[]> {
  const found = await repairsOfEvents(
    log,
    session,
    facts.map(({ eventSequence }) => eventSequence),
  );
  return facts.map((fact) => {
    const repairs = found.get(fact.eventSequence);
    return repairs === undefined ? fact : { ...fact, repairs };
  });
}
