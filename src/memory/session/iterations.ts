import type { iterationView } from '../../contracts/replies/session-reply.js';
import type { Output } from '../../contracts/schema-fields.js';
import type { EventOf } from '../../contracts/session-events.js';
import type { TaskEvent } from './task-board.js';

/** A round of an agent's work. */
export type Iteration = Output<typeof iterationView>;

/** Iterations in order; the oldest are evicted beyond `MAX_ITERATIONS`, their events remain. */
export interface IterationHistory {
  readonly iterations: Iteration[];
}

export const MAX_ITERATIONS = 500;

type IterationEvent = EventOf<'iteration.started' | 'iteration.completed' | 'iteration.summary'>;

export function newest(history: IterationHistory): Iteration | undefined {
  return history.iterations.at(-1);
}

/** Returns 0 before the first. */
export function currentNumber(history: IterationHistory): number {
  return newest(history)?.number ?? 0;
}

export function openNumber(history: IterationHistory): number {
  const last = newest(history);
  return last !== undefined && last.ended_at === undefined ? last.number : (last?.number ?? 0) + 1;
}

export function openForWrite(history: IterationHistory, number: number, at: string): void {
  if (number <= currentNumber(history)) return;
  open(history, { number, started_at: at, complete: false, tasks_worked: [], implied: true });
}

export function evolveIterations(history: IterationHistory, event: IterationEvent): void {
  const { at } = event;
  const { number } = event.data;
  switch (event.type) {
    case 'iteration.started': {
      const last = newest(history);
      if (last?.implied === true && last.number === number) {
        // The first write came before it.
        update(history, number, ({ implied: _, ...started }) => started);
        return;
      }
      if (last !== undefined && last.ended_at === undefined)
        update(history, last.number, (running) => ({ ...running, ended_at: at }));
      open(history, { number, started_at: at, complete: false, tasks_worked: [] });
      return;
    }
    case 'iteration.completed':
      openForWrite(history, number, at);
      update(history, number, (iteration) => ({ ...iteration, ended_at: at, complete: true }));
      return;
    case 'iteration.summary': {
      const { summary, tasks_worked } = event.data;
      openForWrite(history, number, at);
      update(history, number, (iteration) => ({
        ...iteration,
        summary,
        tasks_worked: union(iteration.tasks_worked, tasks_worked),
      }));
      return;
    }
  }
}

export function recordWork(history: IterationHistory, event: TaskEvent): void {
  if (event.type !== 'task.status' && event.type !== 'task.claimed') return;
  const { iteration: number, task } = event.data;
  openForWrite(history, number, event.at);
  update(history, number, (iteration) => ({
    ...iteration,
    tasks_worked: union(iteration.tasks_worked, [task]),
  }));
}

function open(history: IterationHistory, iteration: Iteration): void {
  history.iterations.push(iteration);
  if (history.iterations.length > MAX_ITERATIONS) history.iterations.shift();
}

function update(history: IterationHistory, number: number, change: (iteration: Iteration) => Iteration) {
  const at = history.iterations.findLastIndex((candidate) => candidate.number === number);
  const iteration = history.iterations[at];
  if (iteration !== undefined) history.iterations[at] = change(iteration);
}

function union(known: readonly string[], more: readonly string[]): readonly string[] {
  return more.every((id) => known.includes(id)) ? known : [...new Set([...known, ...more])];
}
