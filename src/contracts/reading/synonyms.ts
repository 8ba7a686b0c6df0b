import type { Verdict } from '../kinds.js';
import type { Severity } from '../severity.js';

/** What agents call things. Names of fields are compared by letters and digits alone, words without signs around them. */

/** A name without its case and signs: `taskId`, `task-id` and `Task ID` are `taskid`. */
export function plainName(name: string): string {
  // Names from outside may be of any length.
  return name.length > MAX_NAME ? '' : name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Longest name that may be one of a field, in characters. */
export const MAX_NAME = 64;

/**
 * Other names of a field, as plain names, the most telling first. Where an object has a field of that name itself, it is
 * that field.
 */
export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  task_id: ['task', 'taskkey', 'tasknumber', 'ticket', 'ticketid', 'id'],
  status: ['taskstatus', 'finalstatus', 'state', 'outcome', 'verdict', 'result'],
  assessment: [
    ...['verdict', 'decision', 'reviewstatus', 'reviewresult', 'review', 'conclusion', 'recommendation'],
    ...['overallassessment', 'approval', 'status', 'state', 'outcome', 'result'],
  ],
  summary: [
    'resultsummary',
    'description',
    'notes',
    'note',
    'message',
    'details',
    'overview',
    'text',
    'content',
    ...['observation', 'observations', 'findings'],
  ],
  files_modified: [
    'modifiedfiles',
    'changedfiles',
    'fileschanged',
    'filestouched',
    'filesedited',
    'files',
    'changes',
  ],
  tests: ['testresults', 'testresult', 'testruns', 'testsrun', 'test', 'testing'],
  follow_up_actions: [
    'followups',
    'followup',
    'followupaction',
    'nextsteps',
    'nextactions',
    'todo',
    'todos',
    'remainingwork',
  ],
  blockers: ['blocker', 'blockedby', 'blockingissues', 'blockedon', 'blockedreason', 'blockingreason'],
  strengths: ['strength', 'positives', 'pros', 'good'],
  issues: ['issue', 'findings', 'finding', 'problems', 'comments', 'reviewcomments', 'concerns'],
  required_fixes: [
    'requiredfix',
    'mustfix',
    'mustfixes',
    'requiredchanges',
    'fixesrequired',
    'changesrequired',
    'requestedchanges',
    'fixes',
  ],
  questions: ['question', 'openquestions', 'openquestion'],
  options: ['choices', 'alternatives'],
  intent_id: [],
  result_id: [],
  facts: ['fact'],
  severity: ['level', 'priority', 'importance', 'impact', 'sev'],
  file: ['path', 'filepath', 'filename', 'location', 'where'],
  message: [
    'description',
    'text',
    'issue',
    'problem',
    'comment',
    'finding',
    'summary',
    'title',
    'details',
    'detail',
    'body',
  ],
  fix: [
    'suggestion',
    'suggestedfix',
    'proposedfix',
    'recommendation',
    'solution',
    'remediation',
    'suggestedchange',
  ],
  command: ['cmd', 'name', 'test', 'testname', 'title', 'script', 'suite', 'run'],
  passed: ['pass', 'success', 'ok', 'passing', 'result', 'status', 'outcome'],
  failures: ['failed', 'failedtests', 'failingtests', 'errors', 'error', 'failure'],
  subject: ['source', 'from', 'entity'],
  relation: ['predicate', 'verb', 'relationship', 'rel'],
  object: ['target', 'value', 'to'],
  tags: ['tag', 'labels'],
};

/** Other words for each verdict. */
export const VERDICT_WORDS: Readonly<Record<Verdict, readonly string[]>> = {
  completed: [
    ...['complete', 'completes', 'done', 'success', 'successful', 'succeeded', 'successfully completed'],
    ...[
      'completed successfully',
      'finished',
      'finish',
      'ok',
      'okay',
      'implemented',
      'resolved',
      'fixed',
      'passed',
    ],
    ...['pass', 'all done', 'task completed', 'task complete', 'ready for review', '✅', '✓', '✔'],
  ],
  blocked: [
    ...[
      'block',
      'blocking',
      'stuck',
      'waiting',
      'on hold',
      'needs input',
      'needs clarification',
      'needs info',
    ],
    ...[
      'needs human',
      'cannot proceed',
      'cannot continue',
      'cannot review',
      'escalate',
      'escalated',
      '⛔',
      '🚫',
    ],
  ],
  failed: [
    ...[
      'fail',
      'failure',
      'fails',
      'error',
      'errored',
      'unsuccessful',
      'not completed',
      'incomplete',
      'aborted',
      'gave up',
    ],
    ...['not done', 'could not complete', 'timeout', 'timed out', '❌', '✗', '✘'],
  ],
  approved: [
    ...[
      'approve',
      'approves',
      'approval',
      'lgtm',
      'looks good',
      'looks good to me',
      'accept',
      'accepted',
      'pass',
      'passed',
    ],
    ...[
      'passes',
      'ok',
      'okay',
      'good',
      'ship it',
      'ready to merge',
      'merge',
      'no issues',
      'approved with comments',
    ],
    ...['approved with suggestions', 'approved with nits', '✅', '✓', '✔', '👍'],
  ],
  needs_changes: [
    ...[
      'need changes',
      'need change',
      'needs change',
      'change requested',
      'changes requested',
      'request changes',
    ],
    ...[
      'requests changes',
      'requested changes',
      'change request',
      'changes required',
      'changes needed',
      'requires changes',
    ],
    ...[
      'needs work',
      'needs fixes',
      'needs revision',
      'needs improvement',
      'needs rework',
      'revise',
      'rework',
      'reject',
    ],
    ...['rejected', 'not approved', 'fail', 'failed', 'fixes required', 'fix required', '❌', '👎'],
  ],
};

/** The verdict that the opposite of one stands for: `approved: false`. */
export const OPPOSITES: Readonly<Partial<Record<Verdict, Verdict>>> = {
  completed: 'failed',
  approved: 'needs_changes',
};

/** Other words for each severity. */
export const SEVERITY_WORDS: Readonly<Record<Severity, readonly string[]>> = {
  critical: [
    'blocker',
    'blocking',
    'fatal',
    'severe',
    'highest',
    'urgent',
    'security',
    'p0',
    'sev0',
    's0',
    'crit',
    '🔴',
  ],
  important: [
    ...[
      'high',
      'major',
      'error',
      'moderate',
      'medium',
      'warning',
      'warn',
      'normal',
      'p1',
      'p2',
      'sev1',
      'sev2',
      's1',
    ],
    ...['bug', 'required', 'must fix', '🟠', '🟡'],
  ],
  minor: [
    ...[
      'low',
      'lowest',
      'trivial',
      'nit',
      'nits',
      'nitpick',
      'info',
      'information',
      'informational',
      'suggestion',
    ],
    ...['style', 'cosmetic', 'optional', 'note', 'p3', 'p4', 'sev3', 's3', '🟢', '🔵'],
  ],
};

/** The severity of a finding that has none, or one that no one knows. */
export const DEFAULT_SEVERITY: Severity = 'important';

/** Longest word that is looked up, in characters; a verdict may be followed by its reason. */
const MAX_WORD = 64;
const MAX_READ = 1000;
const SIGNS = /[^\p{L}\p{N}]+/gu;
const REASON = /[:;,.!?([\n\r]|\s[-–—]/u;

/** The first of `values` that a text means, by itself or at its beginning; `words` are other words for each. */
export function meantBy<Value extends string>(
  text: string,
  values: readonly Value[],
  words: Readonly<Record<Value, readonly string[]>>,
): Value | undefined {
  const read = text.slice(0, MAX_READ).trim();
  const whole = exactly(read, values, words);
  if (whole !== undefined) return whole;
  const bare = read.replace(/^[^\p{L}\p{N}]+/u, '');
  const end = bare.search(REASON);
  return end <= 0 ? undefined : exactly(bare.slice(0, end), values, words);
}

function exactly<Value extends string>(
  text: string,
  values: readonly Value[],
  words: Readonly<Record<Value, readonly string[]>>,
): Value | undefined {
  if (text.length > MAX_WORD) return undefined;
  const word = wordOf(text);
  if (word === '') return values.find((value) => words[value].includes(text.replace('\ufe0f', '').trim()));
  return values.find((value) => wordOf(value) === word || words[value].includes(word));
}

/** `needs changes` for `Needs-Changes!` and `needsChanges`. */
function wordOf(text: string): string {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(SIGNS, ' ')
    .trim();
}
