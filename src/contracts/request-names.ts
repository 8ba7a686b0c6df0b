/** The subject of each request, apart from its schema: the SDK needs only names, and loads no schemas. */
export const RUN_INIT_SUBJECT = 'run.init';
export const RUN_STATUS_SUBJECT = 'run.status';
export const TRACE_APPEND_SUBJECT = 'trace.append';
/** Fire-and-forget: at most once, and errors are not reported. */
export const TRACE_RECORD_SUBJECT = 'trace.record';
export const TRACE_COMPACT_SUBJECT = 'trace.compact';
export const TRACE_GET_SUBJECT = 'trace.get';
export const TRACE_PIN_SUBJECT = 'trace.pin';

/** Tools decided on a session's state. */
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

/** Tools that also wait for results, read the plan, or read logs. */
const QUERY_NAMES = [
  'dispatch-show',
  'plan-show',
  'session-list',
  'fact-find',
  'fact-show',
  'fact-retract',
  'fact-correct',
  'fact-restore',
  'file-list',
  'timeline-list',
  'ledger-show',
  'trace-list',
  'snapshot-show',
  'telemetry-show',
  'session-forget',
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

/** The tools of the service `session-tools`. */
export const TOOL_NAMES = [...COMMAND_NAMES, ...QUERY_NAMES] as const;
/** The name of a tool, as in its subject. */
export type ToolName = (typeof TOOL_NAMES)[number];

export function isToolName(name: string): name is ToolName {
  return TOOL_NAMES.some((each) => each === name);
}

export function toolSubject(name: ToolName): string {
  return `tool.${name}`;
}

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

/** Read-only requests about learnings. */
export const READING_LEARNINGS = [
  'learning.list',
  'learning.search',
  'proposal.list',
  'proposal.show',
] as const satisfies readonly LearningRequest[];
