import { randomUUID } from 'node:crypto';
import type {
  RejectedEntry,
  RejectedPage,
  RejectedPageRequest,
  RejectedStore,
  Rejection,
  WholeRejection,
} from '../../src/engine/ports/dispatch-source.js';
import { oneLine } from '../../src/shared/text.js';

/** Rejections in memory; each dispatch has at most one. */
export class MemoryRejectedStore implements RejectedStore {
  readonly #kept = new Map<number, Rejection>();
  readonly #dispatches = new Set<string>();
  readonly #name = randomUUID();
  #lastId = 0;

  async put(rejected: Rejection): Promise<void> {
    const dispatch = `${rejected.sequence} ${rejected.at}`;
    if (this.#dispatches.has(dispatch)) return;
    this.#dispatches.add(dispatch);
    this.#lastId += 1;
    const { subject, reason, fix, body } = rejected;
    this.#kept.set(this.#lastId, {
      ...rejected,
      subject: oneLine(subject),
      reason: oneLine(reason),
      ...(fix !== undefined && { fix: oneLine(fix) }),
      body: body.slice(),
    });
  }

  async page({
    limit,
    before = this.#lastId + 1,
    session,
    role,
  }: RejectedPageRequest): Promise<RejectedPage> {
    const all = [...this.#kept]
      .filter(([, kept]) => session === undefined || kept.session === session)
      .filter(([, kept]) => role === undefined || kept.role === role)
      .map(([id, rejected]) => entryOf(id, rejected))
      .reverse();
    const older = all.filter(({ id }) => id < before);
    const entries = older.slice(0, limit);
    const last = entries.at(-1)?.id;
    return {
      entries,
      total: all.length,
      ...(last !== undefined && older.length > limit && { next: last }),
    };
  }

  async get(id: number): Promise<WholeRejection | undefined> {
    const rejected = this.#kept.get(id);
    return (
      rejected && { ...entryOf(id, rejected), body: rejected.body.slice(), retryId: `${this.#name}:${id}` }
    );
  }

  async remove(id: number): Promise<boolean> {
    return this.#kept.delete(id);
  }
}

function entryOf(id: number, { body, session, role, ...rest }: Rejection): RejectedEntry {
  const of = { ...(session !== undefined && { session }), ...(role !== undefined && { role }) };
  return { id, ...of, ...rest, bytes: body.length };
}
