import { usageError } from '../contracts/errors.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import type { RunHooks } from './run-hooks.js';
import type { Agent, Check, KeptAnswers, RunIdentity, RunPlanEvent, Workspaces } from './run-types.js';

export interface RunPlanOptions {
  /** A client that is connected to the services. It stays open. */
  readonly client: ThroughlineClient;
  /** Path of the plan. Default: the plan that the session follows, and the tasks of its board. */
  readonly plan?: string;
  /** Default: a name made from the path of the plan. One session follows one plan. */
  readonly session?: string;
  /** True if no person has named the session: it must then be new, or follow a plan with this text. Default: false. */
  readonly isGuessed?: boolean;
  /** Project whose learnings the prompts show. Default: that of the session. */
  readonly project?: string;
  readonly implementer: Agent;
  /** Approves the work. Without a reviewer the check does. */
  readonly reviewer?: Agent;
  /** Runs before the review. A failed check sends the work back without a review. */
  readonly check?: Check;
  /** Largest number of facts in a prompt, 1 to 1,000. Default: as many as fit its budget. */
  readonly maxFacts?: number;
  /** Commands at six moments of the run. Default: none. */
  readonly hooks?: RunHooks;
  /** Ticks the line of an approved task. Default: false. */
  readonly tick?: boolean;
  /** Largest number of implementer results of a task without an approval. Default: 3. */
  readonly maxRounds?: number;
  /** Timeout of one call of an agent or a check, in milliseconds. Default: 30 minutes. */
  readonly timeoutMs?: number;
  /** Tokens of all calls, as reported by the agents, after which no call begins. Default: no limit. */
  readonly maxTokens?: number;
  /** The same limit in US dollars. */
  readonly maxCost?: number;
  /**
   * When a task needs a person, or has used up its rounds: `ask` ends the run, `skip` continues with tasks that do not depend
   * on it. Default: `ask`.
   */
  readonly onStall?: 'ask' | 'skip';
  /** Gives tasks that an earlier run gave up one more step each. Default: false. */
  readonly again?: boolean;
  /** Tasks at once, of those that do not depend on each other. Default: 1. More than one needs `workspaces`. */
  readonly parallel?: number;
  /** Working folder of agents and checks. Default: the current folder. */
  readonly directory?: string;
  /** A folder for each task, instead of `directory`. */
  readonly workspaces?: Workspaces;
  /** Stores answers until they are published. Default: none. */
  readonly kept?: KeptAnswers;
  /** Holder of the task leases. Default: a new name for each run. */
  readonly run?: RunIdentity;
  /** Time that a request is retried while nothing answers, in milliseconds. Default: 2 minutes. */
  readonly patienceMs?: number;
  /** Ends the run: calls are aborted, published results stay, and another run can resume. */
  readonly signal?: AbortSignal;
  /** Called with the events of the run in order. */
  readonly onEvent?: (event: RunPlanEvent) => void;
}

export const DEFAULTS = { maxRounds: 3, timeoutMs: 1_800_000, patienceMs: 120_000 };

/** @throws ThroughlineError `usage` for options that contradict each other */
export function checkOptions(options: RunPlanOptions, session: string | undefined): void {
  if (session === undefined) throw usageError('neither plan nor session is given: name one of them');
  if (options.reviewer === undefined && options.check === undefined)
    throw usageError('neither reviewer nor check is given: nothing would approve the work');
  const { maxFacts, maxRounds, timeoutMs, parallel, patienceMs, maxTokens, maxCost } = options;
  const numbers = { maxFacts, maxRounds, timeoutMs, parallel, patienceMs, maxTokens, maxCost };
  for (const [name, value] of Object.entries(numbers)) {
    if (value !== undefined && !(value > 0)) throw usageError(`${name} is ${value}: use a number above 0`);
  }
}
