import './globals.js';

/** `throughline/work`: runs a plan with agents that are functions, as `throughline work` does with commands. */

export { runPlan } from './work/run-plan.js';
export type {
  Agent,
  AgentAnswer,
  AgentCall,
  AgentRole,
  Check,
  CheckAnswer,
  CheckCall,
  RunIdentity,
  RunOutcome,
  RunPlanEvent,
  RunPlanOptions,
  RunSummary,
  TaskOutcome,
  TaskSummary,
} from './work/run-types.js';
