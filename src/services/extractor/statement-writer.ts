import { LRUCache } from 'lru-cache';
import type { Token } from '../../contracts/names.js';
import type { FactRecorded } from '../../contracts/session-events.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import { factId } from '../../memory/facts/fact-types.js';
import { refOf, statementsOf } from '../../memory/facts/statements.js';
import { carriedBy } from '../../memory/session/checkpoint.js';

type Amend = (event: FactRecorded) => FactRecorded;

const AS_IT_IS: Amend = (event) => event;
const MOST_SESSIONS = 10_000;

/** Puts the ids of statements into the events of results. Most results have none, and wait for nothing. */
export class StatementWriter {
  readonly #log: Pick<SessionLog, 'read'>;
  /** By session: the number that its ids begin above. It never changes. */
  readonly #floors = new LRUCache<Token, number>({ max: MOST_SESSIONS });

  constructor(log: Pick<SessionLog, 'read'>) {
    this.#log = log;
  }

  /** Calls `append` with the event as it must be stored, and with what must be done to the same event made again. */
  record<Done>(
    session: Token,
    event: FactRecorded,
    append: (event: FactRecorded, amend: Amend) => Promise<Done>,
  ): Promise<Done> {
    const ids = statementsOf(event).map(factId);
    if (ids.length === 0) return append(event, AS_IT_IS);
    const floor = this.#floors.get(session);
    const { sequence } = event.data.dispatch;
    const amended = (known: number) => {
      const refs = Object.fromEntries(ids.map((id, at) => [id, refOf(known + sequence, at)]));
      const amend: Amend = (same) => ({ ...same, data: { ...same.data, refs } });
      return append(amend(event), amend);
    };
    return floor === undefined ? this.#floorOf(session).then(amended) : amended(floor);
  }

  /** Reads it from the beginning of the log, where an import leaves it. */
  async #floorOf(session: Token): Promise<number> {
    const { events } = await this.#log.read(session, { after: 0, limit: 1 });
    const [first] = events;
    const isCarried = first?.event.type === 'session.checkpoint';
    const floor = isCarried ? (carriedBy(first.event, first.sequence).ref_floor ?? 0) : 0;
    this.#floors.set(session, floor);
    return floor;
  }
}
