import type { Token } from '../../contracts/names.js';
import type { StoredRepair } from '../../contracts/reading/repairs.js';
import type { SessionLog } from '../../engine/ports/session-log.js';

/** Adds to each fact the repairs of its result, which are read from the log; none if its event was removed. */
export async function withRepairs<Fact extends { readonly eventSequence: number }>(
  log: Pick<SessionLog, 'read'>,
  session: Token,
  facts: readonly Fact[],
): Promise<(Fact & { readonly repairs?: readonly StoredRepair[] })[]> {
  const found = new Map<number, readonly StoredRepair[]>();
  const look = async (sequence: number) => {
    const { events } = await log.read(session, { after: sequence - 1, through: sequence });
    for (const { event } of events)
      if (event.type === 'fact.recorded' && event.data.repairs !== undefined)
        found.set(sequence, event.data.repairs);
  };
  await Promise.all([...new Set(facts.map(({ eventSequence }) => eventSequence))].map(look));
  return facts.map((fact) => {
    const repairs = found.get(fact.eventSequence);
    return repairs === undefined ? fact : { ...fact, repairs };
  });
}
