import { questionKey } from '../ledger/task-ledger.js';
import { oneLine, shellWord } from '../shared/text.js';
import type { WorkTask } from './task-step.js';

/** An open question of a task, with the command that answers it. */
export interface AskedQuestion {
  readonly session: string;
  readonly task: string;
  readonly question: string;
  readonly options?: readonly string[];
  /** The work goes on with it. */
  readonly default?: string;
  readonly answerWith: string;
}

/** Returns the open questions of unfinished tasks. */
export function openQuestions(session: string, tasks: readonly WorkTask[]): AskedQuestion[] {
  return tasks
    .filter(({ isDone }) => !isDone)
    .flatMap(({ id, questions }) =>
      questions.map(({ text, ...given }) => ({
        ...{ session, task: id, question: text },
        ...(given.options !== undefined && given.options.length > 0 && { options: given.options }),
        ...(given.default !== undefined && { default: given.default }),
        answerWith: answerCommand(id, session, questions.length > 1 ? text : undefined),
      })),
    );
}

/** @param question names one of several open questions of the task */
export function answerCommand(task: string, session?: string, question?: string): string {
  const of = session === undefined ? '' : ` -s ${session}`;
  const which = question === undefined ? '' : ` --question ${shellWord(oneLine(question))}`;
  return `throughline answer ${shellWord(oneLine(task))} "…"${of}${which}`;
}

/** Identifies a question within its session. */
export function askedKey({ task, question }: AskedQuestion): string {
  return `${task}\n${questionKey(question)}`;
}
