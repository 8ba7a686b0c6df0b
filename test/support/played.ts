import { checkedRequest } from '../../src/contracts/checked.js';
import { EVENT_VERSION } from '../../src/contracts/event.js';
import { REQUESTS, type ToolArguments, type ToolInput } from '../../src/contracts/requests.js';
import { type SessionEvent, type StoredEvent, sessionEvent } from '../../src/contracts/session-events.js';
import {
  type CommandName,
  decide,
  SESSION_VIEWS,
  type ViewName,
} from '../../src/memory/session/commands/decide-session.js';
import type { NewEvent } from '../../src/memory/session/commands/session-decision.js';
import { shown } from '../../src/memory/session/commands/task-commands.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import {
  emptyState,
  type SessionLimits,
  type SessionState,
  seenState,
} from '../../src/memory/session/session-state.js';

/** What a caller gives a tool, without the session. */
export type Given<Name extends CommandName | ViewName> = Omit<ToolInput<Name>, 'session'>;

/** What a command came to: an event and a reply, a reply alone, or a refusal. */
export interface Outcome {
  readonly event?: NewEvent;
  readonly reply?: object;
  readonly refused?: { readonly code: string; readonly message: string; readonly details?: object };
}

const START = Date.UTC(2026, 2, 1);
const MINUTE_MS = 60_000;

/**
 * A session played without a log: commands are decided on its state, and their events are folded, as the commander
 * does it. Each event comes a minute after the one before, the first at midnight of 2026-03-01.
 */
export class Played {
  readonly state: SessionState;
  readonly events: StoredEvent[] = [];
  #minutes = 0;

  constructor(session = 'demo', limits?: SessionLimits) {
    this.state = emptyState(session, limits);
  }

  /** Decides a command and folds its event. */
  when<Name extends CommandName>(name: Name, args: Given<Name>): Outcome {
    const decision = decide(name, this.state, argumentsOf(name, args));
    if (decision.kind === 'refuse') {
      const { code, message, details } = decision;
      return { refused: { code, message, ...(details && { details }) } };
    }
    if (decision.kind === 'answer') return { reply: decision.reply(this.state) };
    this.fold(decision.event);
    return { event: decision.event, reply: decision.reply(this.state) };
  }

  /** Returns what a tool shows of the session now. */
  view<Name extends ViewName>(name: Name, args: Given<Name>): object {
    return SESSION_VIEWS[name](seenState(this.state), argumentsOf(name, args) as never);
  }

  /** The same for a command that must not be refused; gives the session back. */
  after<Name extends CommandName>(name: Name, args: Given<Name>): this {
    const { refused } = this.when(name, args);
    if (refused !== undefined) throw new Error(`${name} was refused: ${refused.message}`);
    return this;
  }

  /** Folds an event that nothing decided on. It goes through the contract, as one that is read does. */
  fold({ type, data }: NewEvent): this {
    const stored = {
      v: EVENT_VERSION,
      type,
      at: timeAt(this.#minutes),
      id: `e${this.events.length + 1}`,
      data,
    };
    return this.foldWhole(sessionEvent.parse(stored));
  }

  foldWhole(event: SessionEvent): this {
    const stored = { sequence: this.events.length + 1, event };
    this.events.push(stored);
    evolve(this.state, stored);
    this.#minutes += 1;
    return this;
  }

  /** Lets the next event come so much later. */
  wait(minutes: number): this {
    this.#minutes += minutes;
    return this;
  }

  /** The tasks of the session by id. */
  task(id: string) {
    const task = this.state.board.tasks.get(id);
    return task && shown(this.state.board, task);
  }
}

/** Adds tasks `TAS-1`, `TAS-2`, … with these contents. */
export function withTasks(...contents: string[]): Played {
  const played = new Played();
  for (const content of contents) played.after('task-add', { content });
  return played;
}

/** Checked as the service does it: `schema_invalid` is thrown. */
export function argumentsOf<Name extends CommandName | ViewName>(
  name: Name,
  args: object,
): ToolArguments<Name> {
  const { session: _, ...read } = checkedRequest(REQUESTS[`tool.${name}`].request, {
    ...args,
    session: 'demo',
  });
  return read as ToolArguments<Name>;
}

/** So many minutes after the first event. */
export function timeAt(minutes: number): string {
  return new Date(START + minutes * MINUTE_MS).toISOString();
}
