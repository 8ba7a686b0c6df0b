/**
 * The subject of each request that a service answers, apart from what it takes: the SDK needs names alone, and loads
 * no schema for them.
 */
export const RUN_INIT_SUBJECT = 'run.init';
export const RUN_STATUS_SUBJECT = 'run.status';
export const TRACE_APPEND_SUBJECT = 'trace.append';
/** The same without an answer, for volume: at most once, and nothing says what was wrong with an entry. */
export const TRACE_RECORD_SUBJECT = 'trace.record';
export const TRACE_COMPACT_SUBJECT = 'trace.compact';
export const TRACE_GET_SUBJECT = 'trace.get';
export const TRACE_PIN_SUBJECT = 'trace.pin';

/** The tools that are decided on a session's state. */
export const COMMAND_NAMES = [
  'task-add',
  'task-status',
  'task-priority',
  'task-depends',
  'task-undepends',
  'task-content',
  'task-delete',
  'task-next',
  'task-release',
  'task-list',
  'note-add',
  'note-edit',
  'note-delete',
  'note-list',
  'inbox-add',
  'inbox-mark-read',
  'inbox-list',
  'blocker-answer',
  'iteration-start',
  'iteration-complete',
  'iteration-summary',
  'iteration-list',
  'session-open',
  'session-complete',
  'session-restart',
  'session-archive',
  'session-reopen',
  'session-show',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** The tools that do more than look at the state: they wait for a result, read the plan again, or read logs. */
const QUERY_NAMES = [
  'dispatch-show',
  'plan-show',
  'session-list',
  'fact-find',
  'fact-show',
  'file-list',
  'timeline-list',
  'ledger-list',
  'ledger-show',
  'trace-list',
  'trace-show',
  'snapshot-show',
  'telemetry-show',
  'session-forget',
  'project-forget',
  'retention-show',
  'retention-set',
  'session-export',
  'session-import',
  'rejected-list',
  'rejected-show',
  'rejected-retry',
  'rejected-remove',
  'prompt-list',
  'prompt-show',
  'health-show',
  'run-claim',
] as const;
export type QueryName = (typeof QUERY_NAMES)[number];

export function isCommand(name: ToolName): name is CommandName {
  return !QUERY_NAMES.some((each) => each === name);
}

/** The tools of service `session-tools`. `TOOLS` has the input of each. */
export const TOOL_NAMES = [...COMMAND_NAMES, ...QUERY_NAMES] as const;
/** The name of a tool, as it stands in its subject. */
export type ToolName = (typeof TOOL_NAMES)[number];

export function isToolName(name: string): name is ToolName {
  return TOOL_NAMES.some((each) => each === name);
}

/** Tools that change nothing: what a reader may ask. */
export const READING_TOOLS = [
  'task-list',
  'note-list',
  'inbox-list',
  'iteration-list',
  'session-list',
  'session-show',
  'fact-find',
  'fact-show',
  'file-list',
  'timeline-list',
  'ledger-list',
  'ledger-show',
  'plan-show',
  'dispatch-show',
  'trace-list',
  'trace-show',
  'snapshot-show',
  'telemetry-show',
  'retention-show',
  'session-export',
  'rejected-list',
  'rejected-show',
  'prompt-list',
  'prompt-show',
  'health-show',
] as const satisfies readonly ToolName[];

/** Tools that ask about the whole installation: they name no session, and no user who is bound to one may ask them. */
export const WIDE_TOOLS = [
  'session-list',
  'rejected-show',
  'rejected-retry',
  'rejected-remove',
  'project-forget',
  'retention-show',
  'retention-set',
  'health-show',
] as const satisfies readonly ToolName[];
export type WideTool = (typeof WIDE_TOOLS)[number];

export function isWideTool(name: ToolName): name is WideTool {
  return WIDE_TOOLS.some((each) => each === name);
}

/** `tool.<name>`. */
export function toolSubject(name: ToolName): string {
  return `tool.${name}`;
}

/** The requests of the service `learnings`. `LEARNING_REQUESTS` has the input of each. */
export const LEARNING_REQUEST_SUBJECTS = [
  'learning.propose',
  'learning.list',
  'learning.search',
  'learning.edit',
  'learning.supersede',
  'learning.retract',
  'proposal.list',
  'proposal.show',
  'proposal.accept',
  'proposal.reject',
] as const;
/** The subject of a request about learnings. */
export type LearningRequest = (typeof LEARNING_REQUEST_SUBJECTS)[number];

export function isLearningRequest(subject: string): subject is LearningRequest {
  return LEARNING_REQUEST_SUBJECTS.some((each) => each === subject);
}

/** Requests beside the tools that change nothing a caller could see: what a reader may ask about a session. */
export const READING_REQUESTS = [RUN_STATUS_SUBJECT, TRACE_GET_SUBJECT, TRACE_COMPACT_SUBJECT] as const;

/** The same of learnings, which belong to a project. */
export const READING_LEARNINGS = [
  'learning.list',
  'learning.search',
  'proposal.list',
  'proposal.show',
] as const satisfies readonly LearningRequest[];
