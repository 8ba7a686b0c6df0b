import { checkedRequest } from '../../src/contracts/checked.js';
import { EVENT_VERSION, type Refusal, type Unstamped } from '../../src/contracts/event.js';
import {
  type LearningEvent,
  type LearningEventOf,
  learningEvent,
  type StoredLearningEvent,
} from '../../src/contracts/learning-events.js';
import { REQUESTS, type RequestArguments, type RequestInput } from '../../src/contracts/requests.js';
import {
  decideLearning,
  type LearningCommand,
  type LearningDecision,
} from '../../src/memory/learnings/decide-learning.js';
import { evolveLearnings } from '../../src/memory/learnings/evolve-learnings.js';
import { encodeLearnings } from '../../src/memory/learnings/learnings-snapshot.js';
import {
  emptyLearnings,
  type LearningState,
  learningId,
} from '../../src/memory/learnings/learnings-state.js';
import { timeOf } from './builders.js';

/** Small values for tests of learnings. All of them are of one project. */
export const PROJECT = 'demo';

/** Id of a text in the project. */
export const idOf = (text: string) => learningId(PROJECT, text);

/** An event of the minute `at`, as it is read from a log. */
export function eventAt(at: number, event: Unstamped<LearningEvent>): LearningEvent {
  return learningEvent.parse({ v: EVENT_VERSION, at: timeOf(at * 60), ...event });
}

export function proposed(
  content: string,
  more: Partial<LearningEventOf<'proposed'>['data']> = {},
): Unstamped<LearningEventOf<'proposed'>> {
  return {
    type: 'proposed',
    data: {
      proposal: idOf(content),
      type: 'insight',
      content,
      tags: [],
      method: 'manual',
      source: {},
      evidence: [],
      ...more,
    },
  };
}

export function accepted(content: string, by = 'ann'): Unstamped<LearningEventOf<'accepted'>> {
  return { type: 'accepted', data: { proposal: idOf(content), by } };
}

/** What a review of `task` in `session` demanded. */
export function observed(
  dispatch: number,
  demands: LearningEventOf<'observed'>['data']['demands'],
  { session = 's1', task = '1' }: { session?: string; task?: string } = {},
): Unstamped<LearningEventOf<'observed'>> {
  return { type: 'observed', data: { session, dispatch, task, demands } };
}

/** Events as a project's log holds them, each a minute after the one before. */
export function storedEvents(events: readonly Unstamped<LearningEvent>[]): StoredLearningEvent[] {
  return events.map((event, index) => ({ sequence: index + 1, event: eventAt(index + 1, event) }));
}

export function foldedFrom(events: readonly StoredLearningEvent[]): LearningState {
  const state = emptyLearnings(PROJECT);
  for (const stored of events) evolveLearnings(state, stored);
  return state;
}

export function folded(...events: Unstamped<LearningEvent>[]): LearningState {
  return foldedFrom(storedEvents(events));
}

export function bytesOf(state: LearningState): string {
  return encodeLearnings(state, '2026-01-01T00:00:00.000Z');
}

type Given<Name extends LearningCommand> = Omit<RequestInput<Name>, 'person'>;

/** A project as people work on it: given events, when commands, then what they came to. */
export class Project {
  readonly state: LearningState;
  readonly events: StoredLearningEvent[];

  constructor(...given: Unstamped<LearningEvent>[]) {
    this.events = storedEvents(given);
    this.state = foldedFrom(this.events);
  }

  /** What a request comes to, checked as on the wire, without doing it. */
  decide<Name extends LearningCommand>(name: Name, input: Given<Name>): LearningDecision {
    const { request, shape } = REQUESTS[name];
    const args = checkedRequest(request, { ...('person' in shape && { person: true }), ...input });
    // The schema of a request gives the arguments of that request; the index type cannot say so.
    return decideLearning(name, this.state, args as unknown as RequestArguments<Name>);
  }

  /** Carries a request out and gives its reply, as JSON; one that is refused fails the test. */
  does<Name extends LearningCommand>(name: Name, input: Given<Name>): Reply {
    const decision = this.decide(name, input);
    if (decision.kind === 'refuse') throw new Error(`refused: ${decision.message}`);
    if (decision.kind === 'append') this.happens(decision.event);
    return JSON.parse(JSON.stringify(decision.reply(this.state)));
  }

  /** What a request is refused with; one that is not refused fails the test. */
  refuses<Name extends LearningCommand>(name: Name, input: Given<Name>): Refusal {
    const decision = this.decide(name, input);
    if (decision.kind !== 'refuse') throw new Error(`not refused: ${JSON.stringify(decision)}`);
    return decision;
  }

  /** Folds one more event. */
  happens(event: Unstamped<LearningEvent>): void {
    const stored = { sequence: this.events.length + 1, event: eventAt(this.events.length + 1, event) };
    this.events.push(stored);
    evolveLearnings(this.state, stored);
  }

  /** The texts of the learnings in force, the oldest first. */
  learnings(): string[] {
    return [...this.state.active.values()].map(({ content }) => content);
  }
}

export interface Reply {
  readonly [field: string]: unknown;
}
