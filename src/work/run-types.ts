import type { Role } from '../contracts/kinds.js';
import type { RunOutcome } from './plan-run.js';

/** What agents are asked for and answer, and what a run tells of itself. */

export type AgentRole = Extract<Role, 'implementer' | 'reviewer'>;

/** One question to an agent. */
export interface AgentCall {
  readonly session: string;
  readonly task: string;
  readonly role: AgentRole;
  /** 1 for the first work on the task. */
  readonly round: number;
  /** 2 where the first answer held no result, and the agent is asked once more. */
  readonly attempt: 1 | 2;
  /** What the agent is to read. */
  readonly prompt: string;
  /** The same as messages for a model, system text first; a second attempt has one more. */
  readonly messages: readonly { readonly role: 'system' | 'user'; readonly content: string }[];
  /** Names the result that it leads to. A result that is published by other ways too counts once under this id. */
  readonly resultId: string;
  /** Names the call within its session: the same again after an interruption. */
  readonly name: string;
  /** Folder to work in: that of the task, where each has its own. */
  readonly directory: string;
  /** Aborted when the time of the call is up, or the run is to end. */
  readonly signal: AbortSignal;
}

/** What an agent returned. */
export interface AgentAnswer {
  /** Its last message, with a result block. */
  readonly text: string;
  /** Tokens that the call used, where they are known. */
  readonly tokens?: number | undefined;
  /** US dollars that the call cost, where that is known. */
  readonly cost?: number | undefined;
  /** What went wrong, such as `ended with code 1`; a result block counts all the same. */
  readonly fault?: string | undefined;
}

/**
 * An agent. What it throws ends the run, unless its `signal` was aborted: throw for what no further call would mend, such
 * as a program that cannot be started, and return a `fault` for the rest.
 */
export type Agent = (call: AgentCall) => Promise<AgentAnswer | string>;

/** What is checked before anyone reviews. */
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
  /** What was run, as a finding names it. */
  readonly command: string;
  /** What it wrote; of a long text the end counts. */
  readonly output?: string | undefined;
}

/** Checks the work on a task: tests, linters. A check that fails is a finding. */
export type Check = (call: CheckCall) => Promise<CheckAnswer>;

/** Where the tasks of a run are worked on, if each has its own folder. */
export interface Workspaces {
  /**
   * Returns the folder of a task; it is made where there is none.
   *
   * @throws ThroughlineError `conflict` where a person must settle something first
   */
  open(task: string): Promise<string>;
  /**
   * Brings the work on an approved task to where it belongs. What keeps it from that is a `fault`; `dropped` names files that
   * were removed with the folder.
   */
  merge(
    task: string,
    text: string,
  ): Promise<{ readonly fault?: string; readonly dropped?: readonly string[] }>;
  /** The tasks whose work was not brought back. */
  unmerged(tasks: readonly string[]): Promise<ReadonlySet<string>>;
}

/** What agents returned and was not published yet: a run that goes on does not ask for it again. */
export interface KeptAnswers {
  read(name: string): Promise<AgentAnswer | undefined>;
  keep(name: string, answer: AgentAnswer): Promise<void>;
  /** Forgets an answer once its result is published. */
  drop?(name: string): Promise<void>;
}

/** Who holds the leases of a run's tasks. */
export interface RunIdentity {
  /** Unlike that of any other run, and in words: others are told of it. */
  readonly holder: string;
  /** Holders that are known to have ended without giving their leases back: this run takes them over. */
  readonly ended?: readonly string[];
}

/** What happens in a run, in order. */
export type RunPlanEvent =
  | { readonly type: 'run-started'; readonly session: string; readonly tasks: number; readonly done: number }
  | { readonly type: 'task-started'; readonly task: string; readonly text: string }
  | {
      readonly type: 'call-started';
      readonly task: string;
      readonly role: AgentRole;
      readonly round: number;
      readonly attempt: 1 | 2;
      /** The task was stalled: the prompt asks for another plan. */
      readonly replans?: true;
      /** It was returned before an interruption: the agent is not asked again. */
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
      /** Why it gave no result. */
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
      /** What had to be repaired in it, in words. */
      readonly repaired?: string;
    }
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

/** What came of a task in this run. */
export interface TaskSummary {
  readonly task: string;
  readonly text: string;
  /** `open`: it was not finished in this run. */
  readonly outcome: TaskOutcome | 'open';
  /** Why it is not approved, or approved and not ticked or merged. */
  readonly why?: string;
  /** Work results in all. */
  readonly rounds: number;
  /** Findings of reviews and checks in this run. */
  readonly findings: number;
  readonly tokens: number;
  readonly cost: number;
  /** Milliseconds of agents and checks in this run. */
  readonly ms: number;
}

/** What a run came to. */
export interface RunSummary {
  readonly session: string;
  /** `done`: nothing is left; `needed`: a person must decide; `limit`: rounds, tokens or cost; `stopped`: by its signal. */
  readonly outcome: RunOutcome;
  readonly why?: string;
  /** Tasks in all, and those that are done, also before this run. */
  readonly total: number;
  readonly done: number;
  /** Those that were worked on or set aside in this run. */
  readonly tasks: readonly TaskSummary[];
  readonly rounds: number;
  readonly findings: number;
  readonly tokens: number;
  readonly cost: number;
  readonly ms: number;
  /** Learnings that were proposed meanwhile, and wait for a decision. */
  readonly proposed: number;
}
