import { LRUCache } from 'lru-cache';
import type { Token } from '../../contracts/names.js';
import type {
  Appended,
  AppendOptions,
  ReadRange,
  ReadResult,
  RemovalOptions,
} from '../../ports/event-log.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { eraseMessages } from '../jetstream/erase-messages.js';
import type { KeyStreams } from '../jetstream/key-streams.js';
import { type EventLogPorts, type LogLayout, NatsEventLog } from './nats-event-log.js';

/** Forgetting costs a conflict where the newest event of a key is gone, and the look whether the stream is the same. */
const MAX_READ = 10_000;

interface Read {
  readonly through: number;
  readonly epoch: string | undefined;
}

export interface SharedLayout<Event> extends LogLayout<Event> {
  /**
   * When to ask whether the stream is still the one that was read: at each append that expects something and each read that
   * finds something, or only where an expectation does not hold. Otherwise it is noticed within seconds.
   */
  readonly asksForStream: 'always' | 'after_conflict';
  /** True if each key has a stream of its own: removed events go with its files. */
  readonly hasOwnStreams?: boolean;
}

/**
 * Logs in streams that they may share, told apart by their subjects. What is expected is the last sequence among the key's own subjects:
 * every writer names the same filter, so the comparison holds.
 */
export abstract class NatsSharedLog<Event extends { readonly type: string }> extends NatsEventLog<Event> {
  readonly #ports: EventLogPorts;
  readonly #layout: SharedLayout<Event>;
  /** Up to where this process has read each key, and in which stream: another of the name has another epoch. */
  readonly #read = new LRUCache<Token, Read>({ max: MAX_READ });

  constructor(ports: EventLogPorts, layout: SharedLayout<Event>, streams: KeyStreams) {
    super(ports, layout, streams);
    this.#ports = ports;
    this.#layout = layout;
  }

  override append(key: Token, event: Event, options: AppendOptions = {}): Promise<Appended> {
    const { expectedSequence } = options;
    if (expectedSequence === undefined) return super.append(key, event, options);
    return this.#appendExpecting(key, event, options, expectedSequence);
  }

  async #appendExpecting(
    key: Token,
    event: Event,
    options: AppendOptions,
    expectedSequence: number,
  ): Promise<Appended> {
    const read = this.#read.get(key);
    const asks = this.#layout.asksForStream === 'always' && expectedSequence > 0;
    if (asks && (await this.#isAnother(key, read))) return { outcome: 'conflict' };
    const appended = await super.append(key, event, options);
    if (appended.outcome !== 'conflict' || expectedSequence !== read?.through) return appended;
    // What was read last may be gone, by age or by hand, with nothing newer in its place; or the snapshot says it alone.
    const last = await this.newest(key);
    if (last >= expectedSequence || (await this.#isAnother(key, read))) return appended;
    return this.appendDecided(
      key,
      event,
      { after: expectedSequence },
      { ...options, expectedSequence: last },
    );
  }

  override async read(key: Token, range: ReadRange): Promise<ReadResult<Event>> {
    let read = await super.read(key, range);
    // Never fold what comes from another stream onto what came from the one before: all that is new is rare.
    const asks = this.#layout.asksForStream === 'always' && read.through > range.after;
    if (asks && read.epoch !== (await this.#epoch(key))) {
      this.doubt(key);
      read = await super.read(key, range);
    }
    // What was read of some types alone says nothing of what comes between them.
    if (range.type === undefined && range.commands !== true)
      this.#read.set(key, { through: read.through, epoch: read.epoch });
    return read;
  }

  /** In a shared stream a purge would leave their text in files that hold other keys as well, where it cannot be found again. */
  override removeBefore(key: Token, sequence: number, options: RemovalOptions = {}): Promise<number> {
    const { mayGoOn, onRemoved } = options;
    const { stream, subjects, hasOwnStreams = false } = this.#layout;
    if (hasOwnStreams) return super.removeBefore(key, sequence, options);
    let [removed, of] = [0, 0];
    return eraseMessages(this.#ports, stream(key), subjects(key), {
      ...{ through: sequence - 1, unhurried: true },
      ...(mayGoOn && { mayGoOn }),
      onFound: (found) => {
        of += found;
      },
      onErased: (messages) => {
        removed += messages;
        onRemoved?.(removed, of);
      },
    });
  }

  /** What was decided on a stream that is gone must not stand in another, where nothing of what it is about does. */
  async #isAnother(key: Token, read: Read | undefined): Promise<boolean> {
    if (read === undefined || read.epoch === (await this.#epoch(key))) return false;
    this.doubt(key);
    return true;
  }

  /** Of the stream as it is now; `undefined` where there is none. */
  async #epoch(key: Token): Promise<string | undefined> {
    const { stream, format } = this.#layout;
    try {
      return String((await this.#ports.jsm.streams.info(stream(key))).created);
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return undefined;
      throw toThroughlineError(error, `asking for the stream of ${format.kind} ${key}`);
    }
  }
}
