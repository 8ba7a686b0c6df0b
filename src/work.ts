import './globals.js';

/** `throughline/work`: runs a plan with agents that are functions, as `throughline work` does with commands. */

export type { RunOutcome } from './work/plan-run.js';
export type { RunPlanOptions } from './work/run-options.js';
export { runPlan } from './work/run-plan.js';
export type {
  Agent,
  AgentAnswer,
  AgentCall,
  AgentRole,
  Check,
  CheckAnswer,
  CheckCall,
  GivenAnswer,
  KeptAnswers,
  RunIdentity,
  RunPlanEvent,
  RunSummary,
  TaskOutcome,
  TaskSummary,
  Workspaces,
} from './work/run-types.js';
