import type { Role } from '../contracts/kinds.js';
import type { RunOutcome } from './plan-run.js';
import type { AskedQuestion } from './task-step.js';

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
  /** Working folder. */
  readonly directory: string;
  /** Aborted at the timeout of the call, or when the run ends. */
  readonly signal: AbortSignal;
  /** Returns what people answered to the questions of the newest result of the task. */
  answers(): Promise<readonly GivenAnswer[]>;
}

export interface GivenAnswer {
  readonly question: string;
  readonly answer: string;
}

export interface AgentAnswer {
  /** Last message of the agent, with a result block. */
  readonly text: string;
  /** Tokens that the call used, if known. */
  readonly tokens?: number | undefined;
  /** Cost of the call in US dollars, if known. */
  readonly cost?: number | undefined;
  /** A problem such as `ended with code 1`; a result block still counts. */
  readonly fault?: string | undefined;
}

/**
 * An agent. An exception ends the run, unless `signal` was aborted: throw for errors that a retry cannot fix, such as a program
 * that cannot be started, and return a `fault` for others.
 */
export type Agent = (call: AgentCall) => Promise<AgentAnswer | string>;

export interface CheckCall {
  readonly session: string;
  readonly task: string;
  readonly round: number;
  readonly name: string;
  readonly directory: string;
  readonly signal: AbortSignal;
}

export interface CheckAnswer {
  readonly passed: boolean;
  /** The command, for the finding. */
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

/** Gives each task of a run its own folder. */
export interface Workspaces {
  /**
   * Returns the folder of a task, and creates it if necessary.
   *
   * @throws ThroughlineError `conflict` if a person must resolve something first
   */
  open(task: string): Promise<string>;
  /** Merges the work on an approved task, or returns a `fault`; `dropped` names files that were removed with the folder. */
  merge(
    task: string,
    text: string,
  ): Promise<{ readonly fault?: string; readonly dropped?: readonly string[] }>;
  /** Returns the tasks whose work is not merged. */
  unmerged(tasks: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Answers that are not published yet: a resumed run does not repeat their calls. */
export interface KeptAnswers {
  read(name: string): Promise<AgentAnswer | undefined>;
  keep(name: string, answer: AgentAnswer): Promise<void>;
  /** Records that a call begins. Returns true if an earlier run began it and has no answer. */
  begin?(name: string): Promise<boolean>;
  /** Removes an answer once its result is published. */
  drop?(name: string): Promise<void>;
}

/** Holder of the leases of a run's tasks. */
export interface RunIdentity {
  /** A unique name, readable for people. */
  readonly holder: string;
  /** Holders that ended without releasing their leases: this run takes them over. */
  readonly ended?: readonly string[];
}

export type RunPlanEvent =
  | { readonly type: 'run-started'; readonly session: string; readonly tasks: number; readonly done: number }
  | { readonly type: 'task-started'; readonly task: string; readonly text: string }
  | {
      readonly type: 'call-started';
      readonly task: string;
      readonly role: AgentRole;
      readonly round: number;
      readonly attempt: 1 | 2;
      /** The task is stalled: the prompt asks for a new plan. */
      readonly replans?: true;
      /** The answer is from before an interruption: the agent is not called again. */
      readonly kept?: true;
    }
  | {
      readonly type: 'call-ended';
      readonly task: string;
      readonly role: AgentRole;
      readonly round: number;
      readonly attempt: 1 | 2;
      readonly ms: number;
      readonly tokens?: number;
      readonly cost?: number;
      /** Why the call gave no result. */
      readonly fault?: string;
    }
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
      readonly summary?: string;
      /** Repairs of the result, in words. */
      readonly repaired?: string;
    }
  /** A task asks a person. Told once, also if it was asked before the run. */
  | ({ readonly type: 'question' } & AskedQuestion)
  | { readonly type: 'ticked'; readonly task: string }
  | { readonly type: 'merged'; readonly task: string }
  | {
      readonly type: 'task-ended';
      readonly task: string;
      readonly outcome: TaskOutcome;
      readonly why?: string;
    }
  | { readonly type: 'note'; readonly message: string }
  | { readonly type: 'run-ended'; readonly summary: RunSummary };

export type TaskOutcome = 'approved' | 'needed' | 'limit';

/** The outcome of a task in this run. */
export interface TaskSummary {
  readonly task: string;
  readonly text: string;
  /** `open`: not finished in this run. */
  readonly outcome: TaskOutcome | 'open';
  /** Why the task is not approved, ticked or merged. */
  readonly why?: string;
  /** Implementer results, also of earlier runs. */
  readonly rounds: number;
  /** Findings of reviews and checks in this run. */
  readonly findings: number;
  readonly tokens: number;
  readonly cost: number;
  /** Milliseconds of agents and checks in this run. */
  readonly ms: number;
}

export interface RunSummary {
  readonly session: string;
  /** `done`: all tasks; `needed`: a person must decide; `limit`: rounds, tokens or cost; `stopped`: by the signal. */
  readonly outcome: RunOutcome;
  readonly why?: string;
  readonly total: number;
  /** Completed tasks, also of earlier runs. */
  readonly done: number;
  /** Tasks that this run worked on or set aside. */
  readonly tasks: readonly TaskSummary[];
  /** Questions that no one has answered. */
  readonly questions: readonly AskedQuestion[];
  readonly rounds: number;
  readonly findings: number;
  readonly tokens: number;
  readonly cost: number;
  readonly ms: number;
  /** Pending proposals that were added meanwhile. */
  readonly proposed: number;
}
