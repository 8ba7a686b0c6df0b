import { ThroughlineError } from '../contracts/errors.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import type { Agent, Check, KeptAnswers, RunIdentity, RunPlanEvent, Workspaces } from './run-types.js';

/** How a plan is run. */
export interface RunPlanOptions {
  /** Connected to the server that the services run on. It stays open. */
  readonly client: ThroughlineClient;
  /** Path of the plan. Without it the session's own plan is worked on, and the tasks of its board. */
  readonly plan?: string;
  /** Default: a name made from the path of the plan. One session follows one plan. */
  readonly session?: string;
  /** Whose learnings the prompts show. Default: that of the session. */
  readonly project?: string;
  readonly implementer: Agent;
  /** Says whether the work is approved. Without one the check does. */
  readonly reviewer?: Agent;
  /** Runs before the review. A check that fails sends the work back, and no one reviews it. */
  readonly check?: Check;
  /** Facts in a prompt, at most, 1 to 1,000: those that fit the task. Default: as many as its room holds, the newest last. */
  readonly maxFacts?: number;
  /** Whether the line of a task is ticked once it is approved. Default: false. */
  readonly tick?: boolean;
  /** Work results of a task, at most, without an approval. Default: 3. */
  readonly maxRounds?: number;
  /** Longest time of one call of an agent or a check, in milliseconds. Default: 30 minutes. */
  readonly timeoutMs?: number;
  /** No call begins once all have used so many tokens, as far as agents say it. Default: no limit. */
  readonly maxTokens?: number;
  /** The same in US dollars. */
  readonly maxCost?: number;
  /**
   * What becomes of a task that needs a person, or has used up its rounds: `ask` ends the run, `skip` goes on with tasks
   * that do not depend on it. Default: `ask`.
   */
  readonly onStall?: 'ask' | 'skip';
  /** Tasks that an earlier run gave up get one more step each. Default: false. */
  readonly again?: boolean;
  /** Tasks at once, of those that do not depend on each other. Default: 1. More need `workspaces`, or agents that do not mind. */
  readonly parallel?: number;
  /** Where agents and checks work. Default: the current folder. */
  readonly directory?: string;
  /** A folder for each task, in place of `directory`. */
  readonly workspaces?: Workspaces;
  /** Remembers answers from the moment they are given until they are published. Default: nothing does. */
  readonly kept?: KeptAnswers;
  /** Who holds the leases of the tasks that the run works on. Default: a new name for each run. */
  readonly run?: RunIdentity;
  /** How long a request is tried while nothing answers, in milliseconds. Default: 2 minutes. */
  readonly patienceMs?: number;
  /** Ends the run: calls are aborted, what is published stays, and another run goes on from there. */
  readonly signal?: AbortSignal;
  /** Told what happens, in order. */
  readonly onEvent?: (event: RunPlanEvent) => void;
}

export const DEFAULTS = { maxRounds: 3, timeoutMs: 1_800_000, patienceMs: 120_000 };

/** @throws ThroughlineError `usage` for options that do not go together */
export function checkOptions(options: RunPlanOptions, session: string | undefined): void {
  const wrong = (message: string) => new ThroughlineError('usage', message);
  if (session === undefined) throw wrong('neither plan nor session is given: name one of them');
  if (options.reviewer === undefined && options.check === undefined)
    throw wrong('neither reviewer nor check is given: nothing would approve the work');
  for (const name of [
    'maxFacts',
    'maxRounds',
    'timeoutMs',
    'parallel',
    'patienceMs',
    'maxTokens',
    'maxCost',
  ] as const) {
    const value = options[name];
    if (value !== undefined && !(value > 0)) throw wrong(`${name} is ${value}: use a number above 0`);
  }
}
