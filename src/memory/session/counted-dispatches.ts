import { RESULT_KEY_LENGTH } from '../../contracts/accepted-result.js';
import { ThroughlineError } from '../../contracts/errors.js';
import { SESSION_EVENTS, type StoredEvent } from '../../contracts/session-events.js';
import { dropOldest, lowerBound } from '../../shared/collections.js';
import { readNumber, writeNumber, writtenLength } from '../../shared/varint.js';

/**
 * Remembers which dispatches have counted, to tell late from repeated ones.
 *
 * The newest sequences are stored exactly, as delta-encoded varints, a byte or two each. Beyond the byte limit the
 * lowest are evicted; the highest evicted one is the floor. Above the floor, late and repeated are distinguished. At or
 * below it, a dispatch counts only with a proof: that the log was searched up to some event, that the dispatch was
 * below the floor there already, and that no event of it had counted. Dispatches counted by proof are remembered
 * separately, because two workers may have searched at the same time.
 */
export interface CountedMemory {
  /** Bytes of all deltas. */
  readonly maxBytes: number;
  /** Number of dispatches that are never evicted, whatever the size of their deltas. */
  readonly surely: number;
  /** Limit of dispatches counted by proof. */
  readonly maxLate: number;
}

/** In a snapshot 120 KB of base64, plus some 8 KB for those counted by proof. */
export const COUNTED_MEMORY: CountedMemory = { maxBytes: 92_160, surely: 23_040, maxLate: 384 };

export interface CountedJson {
  /** Highest evicted sequence; 0 for none. */
  readonly floor: number;
  /** Base64 of varint deltas from the floor, ascending. */
  readonly steps: string;
  /** Dispatches counted by proof with their events, in event order. */
  readonly late: readonly (readonly [dispatch: number, event: number])[];
  /** Event of the newest evicted one of these; 0 for none. */
  readonly late_floor: number;
}

/** Neighbouring sequences: the first, and the deltas. */
interface Chunk {
  first: number;
  last: number;
  count: number;
  steps: Uint8Array;
  /** Range of the deltas in `steps`. */
  from: number;
  to: number;
}

const CHUNK = 512;
const CHUNK_BYTES = 1024;

export class CountedDispatches {
  readonly #memory: CountedMemory;
  readonly #chunks: Chunk[] = [];
  #floor: number;
  #count = 0;
  #bytes = 0;
  readonly #late: Map<number, number>;
  #lateFloor: number;

  constructor(
    json: CountedJson = { floor: 0, steps: '', late: [], late_floor: 0 },
    memory: CountedMemory = COUNTED_MEMORY,
  ) {
    this.#memory = memory;
    this.#floor = json.floor;
    this.#late = new Map(json.late);
    this.#lateFloor = json.late_floor;
    const steps = Buffer.from(json.steps, 'base64');
    for (let at = 0, sequence = json.floor; at < steps.length; ) {
      const step = readNumber(steps, at);
      at = step.next;
      sequence += step.value;
      if (!(step.value >= 1 && sequence <= Number.MAX_SAFE_INTEGER))
        throw new ThroughlineError('schema_invalid', 'the steps of counted dispatches are damaged');
      this.#add(sequence);
    }
  }

  /** Highest evicted sequence; 0 for none. */
  get floor(): number {
    return this.#floor;
  }

  /** Bytes of the deltas. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts remembered dispatches newer than this one. */
  newerThan(sequence: number): number {
    const at = this.#chunkOf(sequence);
    const chunk = this.#chunks[at];
    const inChunk = chunk === undefined ? 0 : sequencesOf(chunk).filter((each) => each > sequence).length;
    return this.#chunks.slice(at + 1).reduce((sum, { count }) => sum + count, inChunk);
  }

  /** Returns 0 before the first. */
  newest(): number {
    return this.#chunks.at(-1)?.last ?? this.#floor;
  }

  /** True if the dispatch is known to have counted. */
  has(sequence: number): boolean {
    return sequence <= this.#floor ? this.#late.has(sequence) : this.#remembers(sequence);
  }

  /**
   * Adds an event of a dispatch; returns true if the dispatch counts by it.
   *
   * @param event sequence of the event in its log
   * @param checked sequence up to which the log was searched, for a proof
   */
  count(sequence: number, event: number, checked?: number): boolean {
    // Nearly always it is the newest.
    if (sequence <= this.newest() && this.has(sequence)) return false;
    if (sequence > this.#floor) {
      this.#add(sequence);
      this.#forget();
      return true;
    }
    if (checked === undefined || checked < this.#lateFloor) return false;
    this.#late.set(sequence, event);
    const [oldest] = this.#late.values();
    if (dropOldest(this.#late, this.#memory.maxLate) !== undefined) this.#lateFloor = oldest ?? 0;
    return true;
  }

  toJSON(): CountedJson {
    const steps = Buffer.alloc(this.#bytes);
    let at = 0;
    let last = this.#floor;
    for (const chunk of this.#chunks) {
      at = writeNumber(steps, at, chunk.first - last);
      steps.set(chunk.steps.subarray(chunk.from, chunk.to), at);
      at += chunk.to - chunk.from;
      last = chunk.last;
    }
    return {
      floor: this.#floor,
      steps: steps.toString('base64'),
      late: [...this.#late],
      late_floor: this.#lateFloor,
    };
  }

  #remembers(sequence: number): boolean {
    const chunk = this.#chunks[this.#chunkOf(sequence)];
    return chunk !== undefined && sequence <= chunk.last && sequencesOf(chunk).includes(sequence);
  }

  /** Returns -1 if the sequence is before the first chunk. */
  #chunkOf(sequence: number): number {
    return lowerBound(this.#chunks, sequence + 1, ({ first }) => first) - 1;
  }

  #add(sequence: number): void {
    this.#count += 1;
    const newest = this.#chunks.at(-1);
    if (newest === undefined || sequence > newest.last) {
      this.#bytes += writtenLength(sequence - this.newest());
      if (newest === undefined || newest.count >= CHUNK) this.#chunks.push(chunkOf([sequence]));
      else append(newest, sequence);
      return;
    }
    const index = Math.max(0, this.#chunkOf(sequence));
    const chunk = this.#chunks[index] ?? newest;
    const sequences = sequencesOf(chunk);
    const place = sequences.findIndex((each) => each > sequence);
    const at = place < 0 ? sequences.length : place;
    const before = sequences[at - 1] ?? this.#floor;
    const after = sequences[at] ?? this.#chunks[index + 1]?.first ?? sequence;
    this.#bytes +=
      writtenLength(sequence - before) + writtenLength(after - sequence) - writtenLength(after - before);
    sequences.splice(at, 0, sequence);
    const halves =
      sequences.length > 2 * CHUNK ? [sequences.slice(0, CHUNK), sequences.slice(CHUNK)] : [sequences];
    this.#chunks.splice(index, 1, ...halves.map(chunkOf));
  }

  #forget(): void {
    const { maxBytes, surely } = this.#memory;
    while (this.#bytes > maxBytes && this.#count > surely) {
      const [oldest] = this.#chunks;
      if (oldest === undefined) return;
      this.#bytes -= writtenLength(oldest.first - this.#floor);
      this.#count -= 1;
      this.#floor = oldest.first;
      if (oldest.count === 1) this.#chunks.shift();
      else {
        const step = readNumber(oldest.steps, oldest.from);
        oldest.first += step.value;
        oldest.from = step.next;
        oldest.count -= 1;
      }
    }
  }
}

function chunkOf(sequences: readonly number[]): Chunk {
  const [first = 0, ...others] = sequences;
  const chunk = { first, last: first, count: 1, steps: new Uint8Array(CHUNK_BYTES), from: 0, to: 0 };
  for (const sequence of others) append(chunk, sequence);
  return chunk;
}

function append(chunk: Chunk, sequence: number): void {
  const step = sequence - chunk.last;
  if (chunk.to + writtenLength(step) > chunk.steps.length) {
    const larger = new Uint8Array(2 * chunk.steps.length);
    larger.set(chunk.steps);
    chunk.steps = larger;
  }
  chunk.to = writeNumber(chunk.steps, chunk.to, step);
  chunk.last = sequence;
  chunk.count += 1;
}

function sequencesOf({ first, steps, from, to }: Chunk): number[] {
  const sequences = [first];
  for (let at = from, last = first; at < to; ) {
    const { value, next } = readNumber(steps, at);
    last += value;
    at = next;
    sequences.push(last);
  }
  return sequences;
}

/**
 * Limit of remembered result keys, which detect a result published again under another sequence. Evicted in the order
 * of counting; a result older than all of these counts again.
 */
export const REMEMBERED_RESULTS = 2000;

/** Returns true if the result is new. */
export function countResult(counted: Set<string>, key: string): boolean {
  if (counted.has(key)) return false;
  counted.add(key);
  dropOldest(counted, REMEMBERED_RESULTS);
  return true;
}

/** Concatenates all keys, the oldest first. */
export function resultsToJson(counted: ReadonlySet<string>): string {
  return [...counted].join('');
}

export function resultsFromJson(text: string): Set<string> {
  const counted = new Set<string>();
  for (let at = 0; at < text.length; at += RESULT_KEY_LENGTH) {
    counted.add(text.slice(at, at + RESULT_KEY_LENGTH));
  }
  return counted;
}

/**
 * Removes commands that lost a race: of several decided on one state, the first counts. Earlier events are unknown, so
 * a command decided on them is assumed to count.
 *
 * @param events including all commands of the range, the oldest first
 */
export function withoutRefused(events: readonly StoredEvent[]): StoredEvent[] {
  let lastCommand = 0;
  return events.filter(({ sequence, event, decidedOn }) => {
    if (!SESSION_EVENTS.isCommand(event.type)) return true;
    if (decidedOn !== undefined && (decidedOn < lastCommand || decidedOn >= sequence)) return false;
    lastCommand = sequence;
    return true;
  });
}
