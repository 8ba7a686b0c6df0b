import { LRUCache } from 'lru-cache';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import {
  type DispatchEvent,
  type DispatchRejected,
  type FactRecorded,
  isDispatchEvent,
  RESULT_SUBJECTS,
  resultPath,
  SESSION_EVENTS,
} from '../../contracts/session-events.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { NewestResults, SessionLog } from '../../engine/ports/session-log.js';
import { pause } from '../../engine/runtime/pacing.js';
import { factId, type RecordedFact, type SessionFact } from '../../memory/facts/fact-types.js';
import { mayEnd, type StatementsWritten, stated, statementsOf } from '../../memory/facts/statements.js';
import { type Checkpoint, carriedBy } from '../../memory/session/checkpoint.js';
import { CountedDispatches } from '../../memory/session/dispatch-window.js';
import { factsOf, type SessionState } from '../../memory/session/session-state.js';

/**
 * Appends the events of dispatches so that a session's log has each dispatch once, however often and late it is delivered, and
 * to whichever extractor.
 *
 * A dispatch has one place among the session's results, by its number, and its append expects the newest event that this process
 * knows there (compare-and-set). So nothing can come in between unseen, and before that event the dispatch is known not to be
 * stored: it is newer than all that were when this process first met the session, and not one of those since. An older one is
 * looked up: among those that the session's state remembers, and beyond them in the log.
 */
export interface ResultWriterPorts {
  readonly log: Pick<SessionLog, 'append' | 'read'> & NewestResults;
  readonly reader: Pick<SessionReader, 'load'>;
}

export type Counted = { readonly rejected?: DispatchRejected['data']['error'] };

interface KnownResults {
  /** The dispatches stored since it first met the session; its floor is the newest one at that time. */
  readonly counted: CountedDispatches;
  /** By the number of their subject; those without a result are made when they get one. */
  readonly places: Map<number, Place>;
}

interface Place {
  /** Sequence of the newest event; 0 for none. */
  newest: number;
  /** Ends when the last append in its queue has ended. */
  queue: Promise<unknown> | undefined;
}

/** An append under way. It does not hold the event, which `again` builds again. */
interface Attempt {
  readonly session: Token;
  readonly known: KnownResults;
  readonly again: () => DispatchEvent;
  readonly tries: number;
}

/** Evicting costs a request for the next result of the session. */
const MAX_SESSIONS = 10_000;
/** Dispatches remembered per session: a later one that was overtaken by more of them is looked up in the state. */
const MAX_REMEMBERED = 2048;
const PAGE = 500;
const LAG_PAUSE_MS = 3;
/** Appends that are refused although nothing new can be read, and those after which the session is met again. */
const MAX_TRIES = 12;
const TRIES_AS_KNOWN = 6;
const MAX_LOADS = 200;

const RECORDED: Counted = {};

export class ResultWriter {
  readonly #ports: ResultWriterPorts;
  readonly #remembered: number;
  readonly #known = new LRUCache<Token, KnownResults>({ max: MAX_SESSIONS });
  readonly #meeting = new Map<Token, Promise<KnownResults>>();

  constructor(ports: ResultWriterPorts, remembered = MAX_REMEMBERED) {
    this.#ports = ports;
    this.#remembered = remembered;
  }

  /**
   * Appends the event of a dispatch, unless one is stored, and resolves to how the dispatch counts. `again` builds the event
   * again, so that it is not held meanwhile. Throws ThroughlineError `unavailable` if the log cannot be reached.
   */
  record(session: Token, event: DispatchEvent, again: () => DispatchEvent): Promise<Counted> {
    const known = this.#known.get(session);
    if (known !== undefined) return this.#inTurn({ session, known, again, tries: 0 }, event);
    return this.#met(session).then((met) => this.#inTurn({ session, known: met, again, tries: 0 }, event));
  }

  /** One append at a time is in flight at a place: the next one expects its sequence. */
  #inTurn(attempt: Attempt, event: DispatchEvent): Promise<Counted> {
    const place = placeOf(attempt.known, event.data.dispatch.sequence);
    const write = () => this.#write(attempt, event);
    const done = place.queue === undefined ? write() : place.queue.then(write, write);
    inQueue(place, done);
    return done;
  }

  #write(attempt: Attempt, event: DispatchEvent): Promise<Counted> {
    const { session, known, again } = attempt;
    const { counted } = known;
    const { sequence: dispatch } = event.data.dispatch;
    const isNew = dispatch > counted.floor && !counted.has(dispatch);
    if (isNew) return this.#append(attempt, event);
    return this.#lookUp(session, known, dispatch).then((found) => found ?? this.#append(attempt, again()));
  }

  /** Callbacks instead of an async function, which would retain the event per pending append. */
  #append(attempt: Attempt, event: DispatchEvent): Promise<Counted> {
    const { session, known } = attempt;
    const place = placeOf(known, event.data.dispatch.sequence);
    const { sequence: dispatch } = event.data.dispatch;
    const counts: Counted = event.type === 'fact.recorded' ? RECORDED : { rejected: event.data.error };
    const written = withNewest(event, known.counted.newest());
    return this.#ports.log.append(session, written, { expectedSequence: place.newest }).then((appended) => {
      if (appended.outcome === 'conflict') return this.#refused(attempt);
      place.newest = appended.sequence;
      known.counted.count(dispatch);
      return counts;
    });
  }

  /** Reads what another extractor has stored at the place, and tries again. */
  async #refused(attempt: Attempt): Promise<Counted> {
    const { session, known, again, tries } = attempt;
    const event = again();
    const place = placeOf(known, event.data.dispatch.sequence);
    const { sequence: dispatch } = event.data.dispatch;
    const range = { after: place.newest, at: resultPath(dispatch) };
    const { events, through } = await this.#ports.log.read(session, range);
    if (through > place.newest) {
      place.newest = through;
      for (const stored of events)
        if (isDispatchEvent(stored.event)) known.counted.count(stored.event.data.dispatch.sequence);
      return this.#write({ ...attempt, tries: 0 }, event);
    }
    if (tries >= MAX_TRIES)
      throw new ThroughlineError('unavailable', `dispatch ${dispatch} is refused by session ${session}`);
    // An append in flight or a lagging replica shows its event a moment later.
    await pause(LAG_PAUSE_MS * (tries + 1));
    if (tries !== TRIES_AS_KNOWN) return this.#write({ ...attempt, tries: tries + 1 }, event);
    // The newest event was removed, with its session or by a checkpoint.
    if (this.#known.get(session) === known) this.#known.delete(session);
    return this.#inTurn({ session, known: await this.#met(session), again, tries: tries + 1 }, event);
  }

  /** Returns how an older dispatch counts; `undefined` if its event is neither in the state nor in the log. */
  async #lookUp(session: Token, known: KnownResults, dispatch: number): Promise<Counted | undefined> {
    const { newest } = placeOf(known, dispatch);
    const state = await this.#stateFrom(session, newest);
    const { dispatches } = state;
    const { floor, removed } = dispatches.counted();
    const isStored =
      dispatches.has(dispatch) ||
      known.counted.has(dispatch) ||
      dispatch <= removed ||
      (dispatch <= floor && (await this.#isInLog(session, dispatch, newest)));
    if (!isStored) return undefined;
    const rejected = rejectionIn(state, dispatch);
    return rejected === undefined ? RECORDED : { rejected };
  }

  /** Loads the state once it has everything up to a sequence: another replica may have told it. */
  async #stateFrom(session: Token, sequence: number): Promise<SessionState> {
    for (let attempt = 0; attempt < MAX_LOADS; attempt += 1) {
      const { state } = (await this.#ports.reader.load(session)).folded;
      if (state.sequence >= sequence) return state;
      await pause(LAG_PAUSE_MS);
    }
    throw new ThroughlineError('unavailable', `the replicas of session ${session} lag behind`);
  }

  async #isInLog(session: Token, dispatch: number, through: number): Promise<boolean> {
    const at = resultPath(dispatch);
    for (let after = 0; ; ) {
      const page = await this.#ports.log.read(session, { after, through, at, limit: PAGE });
      for (const { event } of page.events)
        if (isDispatchEvent(event) && event.data.dispatch.sequence === dispatch) return true;
      if (page.events.length + page.skipped < PAGE) return false;
      after = page.through;
    }
  }

  /** Learns what is stored of a session, once for all that wait. */
  #met(session: Token): Promise<KnownResults> {
    const meeting = this.#meeting.get(session) ?? this.#meet(session);
    this.#meeting.set(session, meeting);
    const end = () => {
      this.#meeting.delete(session);
    };
    meeting.then(end, end);
    return meeting;
  }

  async #meet(session: Token): Promise<KnownResults> {
    const stored = await this.#ports.log.newestResults(session);
    let newest = 0;
    let isSure = stored.length > 0;
    const places = new Map<number, Place>();
    for (const { path, sequence, event } of stored) {
      places.set(Number(path.slice(path.indexOf('.') + 1)), { newest: sequence, queue: undefined });
      if (event === undefined || !isDispatchEvent(event)) isSure = false;
      else newest = Math.max(newest, event.data.dispatch.sequence, event.data.dispatch.newest ?? 0);
    }
    // The session is new, or a checkpoint has replaced its results.
    if (!isSure)
      newest = Math.max(newest, (await this.#ports.reader.load(session)).folded.state.dispatches.newest());
    const counted = new CountedDispatches({ floor: newest, steps: '', removed: 0 }, this.#remembered);
    const known = { counted, places };
    this.#known.set(session, known);
    return known;
  }
}

/** Shares no closure with the append, which would be held with its event until the PubAck. */
function inQueue(place: Place, done: Promise<unknown>): void {
  place.queue = done;
  const end = () => {
    if (place.queue === done) place.queue = undefined;
  };
  done.then(end, end);
}

function placeOf({ places }: KnownResults, dispatch: number): Place {
  const number = dispatch % RESULT_SUBJECTS;
  const place = places.get(number) ?? { newest: 0, queue: undefined };
  places.set(number, place);
  return place;
}

/** Looks without the readers' view: a copy of the state for each of thousands that come again would take minutes. */
function rejectionIn({ dispatches }: SessionState, dispatch: number): Counted['rejected'] {
  const isIt = ({ sequence }: { readonly sequence: number }) => sequence === dispatch;
  const recent = dispatches.recent().find(isIt);
  if (recent !== undefined) return recent.kind === 'rejected' ? recent.error : undefined;
  return dispatches.settled().rejections.find(isIt)?.error;
}

/** Adds the newest dispatch of the session that is known, if it is not its own. */
function withNewest<Event extends DispatchEvent>(event: Event, newest: number): Event {
  const { dispatch } = event.data;
  if (newest <= dispatch.sequence) return event;
  return { ...event, data: { ...event.data, dispatch: { ...dispatch, newest } } };
}

type Amend = (event: FactRecorded) => FactRecorded;
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
    const previous = this.#turns.get(session);
    if (facts.length === 0 && previous === undefined) return append(event, (same) => same);
    const { sequence } = event.data.dispatch;
    const written = (floor: number, known?: readonly SessionFact[]) => {
      if (facts.length === 0) return append(event, (same) => same);
      const amend = amendedBy(stated(facts, floor + sequence, sequence, known));
      return append(amend(event), amend);
    };
    const floor = this.#floors.get(session);
    const isSimple = floor !== undefined && previous === undefined && !facts.some(mayEnd);
    const done = isSimple ? written(floor) : this.#inTurn(session, facts, previous, written);
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

function amendedBy({ changed, ...known }: StatementsWritten): Amend {
  return (event) => {
    const facts = event.data.facts.flatMap((fact) => {
      const id = changed.size === 0 ? '' : factId(fact);
      return changed.has(id) ? (changed.get(id) ?? []) : fact;
    });
    return { ...event, data: { ...event.data, facts, ...known } };
  };
}
