import type { Role } from '../contracts/kinds.js';
import type { GitVersion } from '../contracts/plan-requests.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import type { OpenQuestion } from './task-step.js';

export interface RunPlanOptions {
  /** A client that is connected to the services. It stays open. */
  readonly client: ThroughlineClient;
  /** Path of the plan. Default: the plan that the session follows, and the tasks of its board. */
  readonly plan?: string;
  /** Default: a name made from the path of the plan. One session follows one plan. */
  readonly session?: string;
  /** True if no person has named the session: it must then be new, or follow a plan with this text. Default: false. */
  readonly isGuessed?: boolean;
  /** Returns the version of the plan in its repository, by which the plan of another clone is known. Default: unknown. */
  readonly versionOf?: (path: string) => GitVersion | undefined;
  /** Project whose learnings the prompts show. Default: that of the session. */
  readonly project?: string;
  readonly implementer: Agent;
  /** Approves the work. Without a reviewer the check does. */
  readonly reviewer?: Agent;
  /** Runs before the review. A failed check sends the work back without a review. */
  readonly check?: Check;
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
  /** Gives tasks that an earlier run gave up one more step each. Default: false. */
  readonly again?: boolean;
  /** Working folder of agents and checks. Default: the current folder. */
  readonly directory?: string;
  /** Holder of the task leases. Default: a new name for each run. */
  readonly run?: RunIdentity;
  /** Time that a request is retried while nothing answers, in milliseconds. Default: 2 minutes. */
  readonly patienceMs?: number;
  /** Ends the run: calls are aborted, published results stay, and another run can continue. */
  readonly signal?: AbortSignal;
  /** Called with the events of the run in order. */
  readonly onEvent?: (event: RunPlanEvent) => void;
}

export type AgentRole = Extract<Role, 'implementer' | 'reviewer'>;

export interface AgentCall {
  readonly session: string;
  readonly task: string;
  readonly role: AgentRole;
  /** 1 for the first work on the task. */
  readonly round: number;
  /** 2 if the first answer had no result, and the agent is asked again. */
  readonly attempt: 1 | 2;
  readonly prompt: string;
  /** The prompt as messages for a model, system text first; a second attempt has one more. */
  readonly messages: readonly { readonly role: 'system' | 'user'; readonly content: string }[];
  /** Idempotency key of the result: an agent that publishes it itself must use this id. */
  readonly resultId: string;
  /** Identifies the call within its session, also after an interruption. */
  readonly name: string;
  readonly directory: string;
  /** Aborted at the timeout of the call, or when the run ends. */
  readonly signal: AbortSignal;
}

export interface AgentAnswer {
  /** Last message of the agent, with a result block. */
  readonly text: string;
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
  /** A problem such as `ended with code 1`; a result block still counts. */
  readonly fault?: string | undefined;
}

/**
 * An agent. An exception ends the run, unless `signal` was aborted: throw for errors that a retry cannot fix, such as a program
 * that cannot be started, and return a `fault` for others.
 */
export type Agent = (call: AgentCall) => Promise<AgentAnswer | string>;

export type CheckCall = Pick<AgentCall, 'session' | 'task' | 'round' | 'name' | 'directory' | 'signal'>;

export interface CheckAnswer {
  readonly passed: boolean;
  readonly command: string;
  /** Its output; a finding shows the end. */
  readonly output?: string | undefined;
}

/** Checks the work on a task, before the review: tests, linters. A failed check is a finding. */
export interface Check {
  (call: CheckCall): Promise<CheckAnswer>;
  /** The command, for the prompt of the task. */
  readonly command?: string;
}

/** Holder of the leases of a run's tasks. */
export interface RunIdentity {
  /** A unique name, readable for people. */
  readonly holder: string;
  /** Holders that ended without releasing their leases: this run takes them over. */
  readonly ended?: readonly string[];
}

type OfCall = Pick<AgentCall, 'task' | 'role' | 'round' | 'attempt'>;

export type RunPlanEvent =
  | { readonly type: 'run-started'; readonly session: string; readonly tasks: number; readonly done: number }
  | { readonly type: 'task-started'; readonly task: string; readonly text: string }
  /** `replans`: the task is stalled, and the prompt asks for a new plan. */
  | ({ readonly type: 'call-started'; readonly replans?: true } & OfCall)
  | ({
      readonly type: 'call-ended';
      readonly ms: number;
      readonly tokens?: number;
      readonly cost?: number;
      readonly fault?: string;
    } & OfCall)
  | {
      readonly type: 'checked';
      readonly task: string;
      readonly round: number;
      readonly passed: boolean;
      readonly command: string;
      readonly ms: number;
    }
  | {
      readonly type: 'result';
      readonly task: string;
      readonly role: AgentRole;
      readonly round: number;
      readonly verdict: string;
      readonly findings: number;
      readonly dispatch: number;
      readonly files?: readonly string[];
      readonly summary?: string;
      /** Repairs of the result, in words. */
      readonly repaired?: string;
    }
  /** A task asks a person. Told once, also if it was asked before the run. */
  | ({ readonly type: 'question' } & OpenQuestion)
  | { readonly type: 'ticked'; readonly task: string }
  | {
      readonly type: 'task-ended';
      readonly task: string;
      readonly outcome: TaskOutcome;
      readonly why?: string;
    }
  | { readonly type: 'note'; readonly message: string }
  | { readonly type: 'run-ended'; readonly summary: RunSummary };

export type RunOutcome = 'done' | 'needed' | 'limit' | 'stopped';

export type TaskOutcome = 'approved' | 'needed' | 'limit';

interface Effort {
  /** Implementer results; of a task also those of earlier runs. */
  readonly rounds: number;
  /** Findings of reviews and checks in this run. */
  readonly findings: number;
  readonly tokens: number;
  readonly cost: number;
  readonly ms: number;
}

export interface TaskSummary extends Effort {
  readonly task: string;
  readonly text: string;
  /** `open`: not finished in this run. */
  readonly outcome: TaskOutcome | 'open';
  /** Why the task is not approved or not ticked. */
  readonly why?: string;
}

export interface RunSummary extends Effort {
  readonly session: string;
  /** `done`: all tasks; `needed`: a person must decide; `limit`: rounds, tokens or cost; `stopped`: by the signal. */
  readonly outcome: RunOutcome;
  readonly why?: string;
  readonly total: number;
  /** Completed tasks, also of earlier runs. */
  readonly done: number;
  /** Tasks that this run worked on or gave up. */
  readonly tasks: readonly TaskSummary[];
  /** Questions that no one has answered. */
  readonly questions: readonly OpenQuestion[];
}
