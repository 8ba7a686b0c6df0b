import { describe, expect, it } from 'vitest';
import type { RoleResult } from '../../../src/contracts/results.js';
import { NOTE_TYPES } from '../../../src/contracts/session-meta-events.js';
import { TASK_STATUSES } from '../../../src/contracts/task-events.js';
import { COMMAND_NAMES, type CommandName } from '../../../src/memory/session/commands/decide-session.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState, seenState } from '../../../src/memory/session/session-state.js';
import { claimOf, isOpen, isReady, isSentBack, numberOf } from '../../../src/memory/session/task-board.js';
import { recorded, rejected, roleResults } from '../../support/builders.js';
import { argumentsOf, Played } from '../../support/played.js';
import * as fc from '../../support/properties.js';
import { bytes, restored } from '../../support/snapshots.js';
import { held } from './arrivals.js';

/** Any call of any tool, about few tasks, notes and messages, so that calls meet; or a dispatch that comes in. */
type Step = { readonly name: CommandName; readonly args: object } | { readonly dispatch: number };

const id = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 6 }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom('tas-3', 'TAS', 'NOT-1', 'zzz') },
);
const content = fc.constantFrom(...'abcdefghij', 'A ', 'two\nlines');
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });
const status = fc.constantFrom(...TASK_STATUSES);
const priority = fc.integer({ min: 0, max: 4 });
const agent = fc.constantFrom('x', 'y');
const ids = fc.array(id, { minLength: 1, maxLength: 2 });
const dependsOn = ids;

/** Keys that are `undefined` are left out, as JSON would. */
function given<T>(fields: { readonly [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<T> {
  return fc.record(fields).map((made) => JSON.parse(JSON.stringify(made)));
}

const ARGUMENTS: { readonly [Name in CommandName]: fc.Arbitrary<object> } = {
  'task-add': given({ content, priority: maybe(priority), dependsOn: maybe(ids) }),
  'task-status': given({ id, status }),
  'task-priority': given({ id, priority }),
  'task-depends': given({ id, dependsOn }),
  'task-undepends': given({ id, dependsOn }),
  'task-content': given({ id, content }),
  'task-delete': given({ id, undo: fc.boolean() }),
  'task-next': given({ claim: maybe(agent) }),
  'task-release': given({ id, claim: maybe(agent) }),
  'note-add': given({ content, type: maybe(fc.constantFrom(...NOTE_TYPES)) }),
  'note-edit': given({ id, content: maybe(content) }),
  'note-delete': given({ id }),
  'inbox-add': given({ content }),
  'inbox-mark-read': given({ id }),
  'blocker-answer': given({ task: fc.constantFrom('TAS-1', '2'), answer: content, by: agent }),
  'iteration-start': fc.constant({}),
  'iteration-complete': fc.constant({}),
  'iteration-summary': given({ summary: content, tasksWorked: maybe(ids), replace: fc.boolean() }),
  'session-open': given({ goal: maybe(content), spec: maybe(content), project: maybe(agent) }),
  'session-complete': given({ force: fc.boolean(), reason: maybe(content) }),
  'session-restart': given({ reason: maybe(content) }),
  'session-archive': given({ reason: maybe(content) }),
  'session-reopen': given({ reason: maybe(content) }),
};
// What makes tasks meet comes more often; a completed session is soon reopened.
const WEIGHTS: { readonly [Name in CommandName]?: number } = {
  'task-add': 12,
  'task-depends': 12,
  'task-next': 8,
  'task-status': 4,
  'task-delete': 4,
  'session-restart': 6,
  'session-reopen': 16,
};

const calls = COMMAND_NAMES.map((name) => ({
  weight: WEIGHTS[name] ?? 1,
  arbitrary: ARGUMENTS[name].map((args): Step => ({ name, args })),
}));
const dispatches = { weight: 2, arbitrary: fc.nat(20).map((at): Step => ({ dispatch: at + 1 })) };
const steps = fc.array(fc.oneof(...calls, dispatches), { minLength: 25, maxLength: 60 });
const results = fc.array(roleResults, { minLength: 1, maxLength: 4 });

/** Carries out the steps; `check` sees the session after each. */
function play(taken: readonly Step[], given: readonly RoleResult[], check: (played: Played) => void): Played {
  const played = new Played();
  for (const step of taken) {
    if ('dispatch' in step) {
      const { dispatch } = step;
      const result = dispatch % 5 === 0 ? undefined : given[dispatch % given.length];
      played.foldWhole(result === undefined ? rejected(dispatch) : recorded(dispatch, result));
    } else {
      played.when(step.name, argumentsOf(step.name, step.args));
    }
    check(played);
  }
  return played;
}

function hasCycle({ board }: SessionState): boolean {
  const done = new Set<string>();
  const on = new Set<string>();
  const visit = (id: string): boolean => {
    if (on.has(id)) return true;
    if (done.has(id)) return false;
    on.add(id);
    const found = (board.tasks.get(id)?.depends_on ?? []).some(visit);
    on.delete(id);
    done.add(id);
    return found;
  };
  return [...board.tasks.keys()].some(visit);
}

describe('any sequence of commands', () => {
  it('any sequence of commands gives each task, note and message a number of its own, higher than any before', () => {
    fc.assert(
      fc.property(steps, results, (taken, given) => {
        const { events } = play(taken, given, () => {});
        const numbers = (type: string) =>
          events.flatMap(({ event }) => {
            if (event.type !== type) return [];
            if (event.type === 'task.added') return [numberOf(event.data.task)];
            if (event.type === 'note.added') return [numberOf(event.data.note)];
            return event.type === 'inbox.added' ? [numberOf(event.data.message)] : [];
          });
        for (const type of ['task.added', 'note.added', 'inbox.added']) {
          const all = numbers(type);
          // An answer takes the number of a note, so the next note skips one.
          if (type === 'note.added') expect(all).toEqual([...new Set(all)].sort((one, other) => one - other));
          else expect(all).toEqual(all.map((_, index) => index + 1));
        }
      }),
    );
  });

  it('any sequence of commands never makes a task wait for itself, by whatever way round', () => {
    let dependencies = 0;
    fc.assert(
      fc.property(steps, results, (taken, given) => {
        const { state } = play(taken, given, ({ state }) => expect(hasCycle(state)).toBe(false));
        dependencies += [...state.board.tasks.values()].flatMap(({ depends_on }) => depends_on).length;
      }),
    );
    expect(dependencies, 'there was something to go round in').toBeGreaterThan(2);
  });

  it('any sequence of commands hands out only ready tasks, and lets no agent claim what another one holds', () => {
    let claims = 0;
    fc.assert(
      fc.property(steps, results, (taken, given) => {
        const before = emptyState('demo');
        const { events } = play(taken, given, () => {});
        for (const stored of events) {
          if (stored.event.type === 'task.claimed') {
            const { board } = seenState(before);
            const task = board.tasks.get(stored.event.data.task);
            const { claimed_by } = claimOf(board, stored.event.data.task);
            const isRenewed = claimed_by === stored.event.data.agent;
            const isFree = task !== undefined && (isReady(board, task) || isSentBack(board, task));
            expect(isRenewed || isFree).toBe(true);
            if (!isRenewed) expect(claimed_by).toBeUndefined();
            claims += 1;
          }
          evolve(before, stored);
        }
      }),
    );
    expect(claims).toBeGreaterThan(10);
  });

  it('any sequence of commands leaves no open task in the hands of an agent whose iteration is over', () => {
    fc.assert(
      fc.property(steps, results, (taken, given) => {
        play(
          [...taken, { name: 'session-restart', args: {} }, { name: 'iteration-start', args: {} }],
          given,
          ({ state, events }) => {
            const last = events.at(-1)?.event.type;
            if (last !== 'iteration.started' && last !== 'iteration.completed') return;
            const { board } = state;
            const open = [...board.tasks.values()].filter(isOpen);
            expect(open.filter(({ id }) => claimOf(board, id).claimed_by !== undefined)).toEqual([]);
          },
        );
      }),
    );
  });

  it('any sequence of commands changes the state through its events alone', () => {
    fc.assert(
      fc.property(steps, results, (taken, given) => {
        let events = 0;
        let last = '';
        play(taken, given, (played) => {
          const now = bytes(played.state);
          if (played.events.length === events && last !== '') expect(now).toBe(last);
          events = played.events.length;
          last = now;
        });
      }),
      { numRuns: 30 },
    );
  });

  it('any sequence of commands is kept whole by a snapshot after each event, and by what is replayed on top of it', () => {
    fc.assert(
      fc.property(steps, results, (taken, given) => {
        const { events, state: whole } = play(taken, given, () => {});
        const state = emptyState('demo');
        for (let cut = 0; cut <= events.length; cut += 1) {
          const copy = restored(bytes(state));
          expect(bytes(copy)).toBe(bytes(state));
          expect(held(copy)).toEqual(held(state));
          for (const stored of events.slice(cut)) evolve(copy, stored);
          expect(bytes(copy)).toBe(bytes(whole));
          for (const stored of events.slice(cut, cut + 1)) evolve(state, stored);
        }
      }),
      { numRuns: 40 },
    );
  });
});
