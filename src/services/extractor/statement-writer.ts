import { LRUCache } from 'lru-cache';
import type { Token } from '../../contracts/names.js';
import { type FactRecorded, SESSION_EVENTS } from '../../contracts/session-events.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import { factId, type RecordedFact, type SessionFact } from '../../memory/facts/fact-types.js';
import { mayEnd, type StatementsWritten, stated, statementsOf } from '../../memory/facts/statements.js';
import { type Checkpoint, carriedBy } from '../../memory/session/checkpoint.js';
import { factsOf } from '../../memory/session/session-state.js';

type Amend = (event: FactRecorded) => FactRecorded;

const AS_IT_IS: Amend = (event) => event;
const MOST_SESSIONS = 10_000;

/**
 * Writes into the event of a result which ids its statements have, and what they end. Most results state nothing, and wait
 * only for those before them. One that may end a statement is decided on everything that is stored, and on what is being appended.
 */
export class StatementWriter {
  readonly #log: Pick<SessionLog, 'read'>;
  readonly #reader: Pick<SessionReader, 'load'>;
  /** By session: the number that its ids begin above. It never changes. */
  readonly #floors = new LRUCache<Token, number>({ max: MOST_SESSIONS });
  /** By session: ends when the newest event that waits is being appended. */
  readonly #turns = new Map<Token, Promise<void>>();
  /** Statements that are being appended. */
  readonly #appending = new Map<Token, Set<Promise<unknown>>>();

  constructor(log: Pick<SessionLog, 'read'>, reader: Pick<SessionReader, 'load'>) {
    this.#log = log;
    this.#reader = reader;
  }

  /**
   * Calls `append` with the event as it must be stored, and with what must be done to the same event made again. Events of a
   * session are appended in the order of these calls: one that waits for the state holds back those after it.
   */
  record<Done>(
    session: Token,
    event: FactRecorded,
    append: (event: FactRecorded, amend: Amend) => Promise<Done>,
  ): Promise<Done> {
    const facts = statementsOf(event);
    const { sequence } = event.data.dispatch;
    const written = (floor: number, known?: readonly SessionFact[]) => {
      if (facts.length === 0) return append(event, AS_IT_IS);
      const amend = amendedBy(stated(facts, floor + sequence, sequence, known));
      return append(amend(event), amend);
    };
    const floor = this.#floors.get(session);
    const isSimple = facts.length === 0 || (floor !== undefined && !facts.some(mayEnd));
    const previous = this.#turns.get(session);
    const done =
      isSimple && previous === undefined
        ? written(floor ?? 0)
        : this.#inTurn(session, facts, previous, written);
    if (facts.length > 0) this.#remember(session, done);
    return done;
  }

  async #inTurn<Done>(
    session: Token,
    facts: readonly RecordedFact[],
    previous: Promise<void> | undefined,
    written: (floor: number, known?: readonly SessionFact[]) => Promise<Done>,
  ): Promise<Done> {
    const before = [...(this.#appending.get(session) ?? [])];
    let end = () => {};
    const turn = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#turns.set(session, turn);
    try {
      await previous;
      if (facts.length === 0) return written(0);
      const floor = this.#floors.get(session) ?? (await this.#floorOf(session));
      if (!facts.some(mayEnd)) return written(floor);
      await Promise.allSettled(before);
      const { state } = (await this.#reader.load(session)).folded;
      return written(floor, factsOf(state).all());
    } finally {
      // The append has begun, or will not.
      end();
      if (this.#turns.get(session) === turn) this.#turns.delete(session);
    }
  }

  #remember(session: Token, done: Promise<unknown>): void {
    const appending = this.#appending.get(session) ?? new Set();
    this.#appending.set(session, appending.add(done));
    const end = () => {
      appending.delete(done);
      if (appending.size === 0 && this.#appending.get(session) === appending) this.#appending.delete(session);
    };
    done.then(end, end);
  }

  /** Reads it from the oldest checkpoint: an import begins with one. */
  async #floorOf(session: Token): Promise<number> {
    const at = SESSION_EVENTS.pathOf({ type: 'session.checkpoint' } as Checkpoint);
    const { events } = await this.#log.read(session, { after: 0, limit: 1, at });
    const [first] = events;
    const isCarried = first?.event.type === 'session.checkpoint';
    const floor = isCarried ? (carriedBy(first.event, first.sequence).ref_floor ?? 0) : 0;
    this.#floors.set(session, floor);
    return floor;
  }
}

function amendedBy({ answers, ...known }: StatementsWritten): Amend {
  return (event) => {
    const { facts } = event.data;
    const withAnswers = facts.map((fact) => answers.get(factId(fact)) ?? fact);
    return { ...event, data: { ...event.data, facts: answers.size === 0 ? facts : withAnswers, ...known } };
  };
}
