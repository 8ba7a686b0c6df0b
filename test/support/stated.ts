import type { Token } from '../../src/contracts/names.js';
import type { RoleResult } from '../../src/contracts/results.js';
import type { StoredEvent } from '../../src/contracts/session-events.js';
import type { Loaded } from '../../src/engine/folding/state-reader.js';
import type { SessionFact } from '../../src/memory/facts/fact-types.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState, factsOf, type SessionState } from '../../src/memory/session/session-state.js';
import { StatementWriter } from '../../src/services/extractor/result-writer.js';
import { MemorySessionLog } from '../doubles/memory-session-log.js';
import { observer, recorded } from './builders.js';

const SESSION = 'demo' as Token;

/** A session whose results are written as the extractor writes them, one after the other. */
export class StatedSession {
  readonly log = new MemorySessionLog();
  readonly #writer = new StatementWriter(this.log, {
    load: async () => ({ folded: { state: await this.state() } }) as Loaded<SessionState>,
  });
  #dispatches = 0;

  /** Records a result, and returns its dispatch. */
  async result(returned: RoleResult, dispatch = this.#dispatches + 1): Promise<number> {
    this.#dispatches = Math.max(this.#dispatches, dispatch);
    await this.#writer.record(SESSION, recorded(dispatch, returned), (event) =>
      this.log.append(SESSION, event),
    );
    return dispatch;
  }

  /** Records a turn of a conversation that states one thing. */
  says(object: string, more: object = {}): Promise<number> {
    const fact = { subject: 'task:claude-0a1b2c', relation: 'decided', object, ...more };
    return this.result(observer({ task_id: 'claude-0a1b2c', facts: [fact] }));
  }

  async events(): Promise<readonly StoredEvent[]> {
    return (await this.log.read(SESSION, { after: 0 })).events;
  }

  async state(): Promise<SessionState> {
    return (await this.events()).reduce(evolve, emptyState('demo'));
  }

  async facts(): Promise<readonly SessionFact[]> {
    return factsOf(await this.state()).all();
  }

  /** What does not hold any more, as `M7 replaced by M9`. */
  async ended(): Promise<string[]> {
    const facts = await this.facts();
    return facts.flatMap(({ ref, ended, retracted }) => {
      if (ref === undefined) return [];
      if (retracted !== undefined) return [`${ref} retracted by ${retracted.by}`];
      return ended === undefined ? [] : [`${ref} ${ended.how} by ${ended.by}`];
    });
  }

  /** What holds, as `M7 text`. */
  async holds(): Promise<string[]> {
    const facts = await this.facts();
    return facts.flatMap(({ ref, object, validTo }) =>
      ref === undefined || validTo !== undefined ? [] : [`${ref} ${object}`],
    );
  }
}
