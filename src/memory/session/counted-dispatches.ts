import { RESULT_KEY_LENGTH } from '../../contracts/accepted-result.js';
import { ThroughlineError } from '../../contracts/errors.js';
import { SESSION_EVENTS, type StoredEvent } from '../../contracts/session-events.js';
import { readNumber, writeNumber, writtenLength } from '../../shared/varint.js';

/**
 * Which dispatches have counted, so that a late one is told from a repeated one.
 *
 * The sequences of the newest ones are remembered exactly, as the steps between them: a byte or two for each. Beyond
 * their bytes the lowest are forgotten; the highest that was is the floor. Above the floor a dispatch is late or
 * repeated, and it is known which. At or below the floor that is not known: it counts only with a proof, which says that
 * the log up to some event was looked through, that the dispatch stood below the floor there already, and that no event
 * of it had counted. Those that counted by proof are remembered apart: two workers may have looked at the same time.
 */
export interface CountedMemory {
  /** Bytes of all steps together. */
  readonly maxBytes: number;
  /** Dispatches that are never forgotten, however many bytes their steps take. */
  readonly surely: number;
  /** Dispatches that counted by proof. */
  readonly maxLate: number;
}

/** In a snapshot 120 KB of base64, and some 8 KB for those that counted by proof. */
export const COUNTED_MEMORY: CountedMemory = { maxBytes: 92_160, surely: 23_040, maxLate: 384 };

export interface CountedJson {
  /** Highest sequence that was forgotten; 0 for none. */
  readonly floor: number;
  /** Base64 of the steps, from the floor on, seven bits to a byte, the lowest first. */
  readonly steps: string;
  /** Dispatches that counted by proof, each with its event, in the order of the events. */
  readonly late: readonly (readonly [dispatch: number, event: number])[];
  /** Event of the newest of these that was forgotten; 0 for none. */
  readonly late_floor: number;
}

/** Neighbouring sequences: the first, and the steps from each to the next. */
interface Chunk {
  first: number;
  last: number;
  count: number;
  steps: Uint8Array;
  /** Where the steps begin and end in their bytes. */
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

  /** Highest sequence that was forgotten; 0 for none. */
  get floor(): number {
    return this.#floor;
  }

  /** Bytes that the steps take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many of those that are remembered are newer than this one. */
  newerThan(sequence: number): number {
    const at = this.#chunkOf(sequence);
    const chunk = this.#chunks[at];
    const inChunk = chunk === undefined ? 0 : sequencesOf(chunk).filter((each) => each > sequence).length;
    return this.#chunks.slice(at + 1).reduce((sum, { count }) => sum + count, inChunk);
  }

  /** The newest dispatch that counted, 0 before the first. */
  newest(): number {
    return this.#chunks.at(-1)?.last ?? this.#floor;
  }

  /** Whether it is known that this dispatch has counted. */
  has(sequence: number): boolean {
    return sequence <= this.#floor ? this.#late.has(sequence) : this.#remembers(sequence);
  }

  /**
   * Takes in an event of a dispatch, and says whether the dispatch counts by it.
   *
   * @param event sequence of the event in its log
   * @param checked sequence up to which the log was looked through, for one that brings a proof
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
    const oldest = this.#late.entries().next();
    if (this.#late.size > this.#memory.maxLate && !oldest.done) {
      this.#late.delete(oldest.value[0]);
      this.#lateFloor = oldest.value[1];
    }
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

  /** Index of the chunk that a sequence belongs to; -1 where there is none, or where it comes before the first. */
  #chunkOf(sequence: number): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#chunks[middle]?.first ?? 0) <= sequence) low = middle + 1;
      else high = middle;
    }
    return low - 1;
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
 * Which results have counted, by their keys, so that one that is published again under another sequence does not count
 * again. The newest are remembered, in the order in which they counted; one that is older than all of these counts again.
 */
export const REMEMBERED_RESULTS = 2000;

/** Takes in a result, and says whether it counts: whether it is not remembered. */
export function countResult(counted: Set<string>, key: string): boolean {
  if (counted.has(key)) return false;
  counted.add(key);
  const oldest = counted.values().next();
  if (counted.size > REMEMBERED_RESULTS && !oldest.done) counted.delete(oldest.value);
  return true;
}

/** All keys as one text, the oldest first. */
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
 * A stretch of a log without the commands that came too late: of several decided on one state, the first counts. What
 * came before the stretch is not known, so a command decided on that is taken to count.
 *
 * @param events all commands of the stretch among them, the oldest first
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
