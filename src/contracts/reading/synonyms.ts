import type { Severity, Verdict } from '../kinds.js';

/** `taskId`, `task-id` and `Task ID` all become `taskid`. */
export function plainName(name: string): string {
  // Limits names from outside.
  return name.length > MAX_NAME ? '' : name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

export const MAX_NAME = 64;

/** Aliases of field names, the most specific first. A field of the object with that exact name takes precedence. */
export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  task_id: list('task, taskkey, tasknumber, ticket, ticketid, id'),
  status: list('taskstatus, finalstatus, state, outcome, verdict, result'),
  assessment: list(`
    verdict, decision, reviewstatus, reviewresult, review, conclusion, recommendation, overallassessment,
    approval, status, state, outcome, result`),
  summary: list(`
    resultsummary, description, notes, note, message, details, overview, text, content, observation,
    observations, findings`),
  files_modified: list(`
    modifiedfiles, changedfiles, fileschanged, filestouched, filesedited, files, changes`),
  tests: list('testresults, testresult, testruns, testsrun, test, testing'),
  follow_up_actions: list(`
    followups, followup, followupaction, nextsteps, nextactions, todo, todos, remainingwork`),
  blockers: list('blocker, blockedby, blockingissues, blockedon, blockedreason, blockingreason'),
  strengths: list('strength, positives, pros, good'),
  issues: list('issue, findings, finding, problems, comments, reviewcomments, concerns'),
  required_fixes: list(`
    requiredfix, mustfix, mustfixes, requiredchanges, fixesrequired, changesrequired, requestedchanges,
    fixes`),
  questions: list('question, openquestions, openquestion'),
  options: list('choices, alternatives'),
  branch: list('gitbranch, branchname'),
  commit: list('commithash, commitsha, commitid, sha, gitcommit, revision'),
  artifacts: list('artifact, implementationartifacts'),
  kind: list('type, category'),
  name: list('title, id, endpoint, path, function, class, component, description'),
  signature: list('declaration, prototype, methods, props, dataflow, format, purpose'),
  location: list('file, filepath, path, where'),
  intent_id: [],
  result_id: [],
  facts: list('fact'),
  severity: list('level, priority, importance, impact, sev'),
  file: list('path, filepath, filename, location, where'),
  message: list('description, text, issue, problem, comment, finding, summary, title, details, detail, body'),
  fix: list('suggestion, suggestedfix, proposedfix, recommendation, solution, remediation, suggestedchange'),
  command: list('cmd, name, test, testname, title, script, suite, run'),
  passed: list('pass, success, ok, passing, result, status, outcome'),
  failures: list('failed, failedtests, failingtests, errors, error, failure'),
  subject: list('source, from, entity'),
  relation: list('predicate, verb, relationship, rel'),
  object: list('target, value, to'),
  tags: list('tag, labels'),
};

export const VERDICT_WORDS: Readonly<Record<Verdict, readonly string[]>> = {
  completed: list(`
    complete, completes, done, success, successful, succeeded, successfully completed,
    completed successfully, finished, finish, ok, okay, implemented, resolved, fixed, passed, pass,
    all done, task completed, task complete, ready for review, ✅, ✓, ✔`),
  blocked: list(`
    block, blocking, stuck, waiting, on hold, needs input, needs clarification, needs info, needs human,
    cannot proceed, cannot continue, cannot review, escalate, escalated, ⛔, 🚫`),
  failed: list(`
    fail, failure, fails, error, errored, unsuccessful, not completed, incomplete, aborted, gave up,
    not done, could not complete, timeout, timed out, ❌, ✗, ✘`),
  approved: list(`
    approve, approves, approval, lgtm, looks good, looks good to me, accept, accepted, pass, passed, passes,
    ok, okay, good, ship it, ready to merge, merge, no issues, approved with comments,
    approved with suggestions, approved with nits, ✅, ✓, ✔, 👍`),
  needs_changes: list(`
    need changes, need change, needs change, change requested, changes requested, request changes,
    requests changes, requested changes, change request, changes required, changes needed, requires changes,
    needs work, needs fixes, needs revision, needs improvement, needs rework, revise, rework, reject,
    rejected, not approved, fail, failed, fixes required, fix required, ❌, 👎`),
};

/** The verdict for a negated one: `approved: false`. */
export const OPPOSITES: Readonly<Partial<Record<Verdict, Verdict>>> = {
  completed: 'failed',
  approved: 'needs_changes',
};

export const SEVERITY_WORDS: Readonly<Record<Severity, readonly string[]>> = {
  critical: list('blocker, blocking, fatal, severe, highest, urgent, security, p0, sev0, s0, crit, 🔴'),
  important: list(`
    high, major, error, moderate, medium, warning, warn, normal, p1, p2, sev1, sev2, s1, bug, required,
    must fix, 🟠, 🟡`),
  minor: list(`
    low, lowest, trivial, nit, nits, nitpick, info, information, informational, suggestion, style, cosmetic,
    optional, note, p3, p4, sev3, s3, 🟢, 🔵`),
};

/** The severity of a finding without a known one. */
export const DEFAULT_SEVERITY: Severity = 'important';

/** A verdict may be followed by its reason. */
const MAX_WORD = 64;
const MAX_READ = 1000;
const SIGNS = /[^\p{L}\p{N}]+/gu;
const REASON = /[:;,.!?([\n\r]|\s[-–—]/u;

type Words<Value extends string> = Readonly<Record<Value, readonly string[]>>;

/** Returns the first of `values` that a text means, as a whole or at its beginning; `words` are synonyms. */
export function meantBy<Value extends string>(text: string, values: readonly Value[], words: Words<Value>) {
  const read = text.slice(0, MAX_READ).trim();
  const whole = exactly(read, values, words);
  if (whole !== undefined) return whole;
  const bare = read.replace(/^[^\p{L}\p{N}]+/u, '');
  const end = bare.search(REASON);
  return end <= 0 ? undefined : exactly(bare.slice(0, end), values, words);
}

function exactly<Value extends string>(text: string, values: readonly Value[], words: Words<Value>) {
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

/** Splits `one, two words`. */
export function list(items: string): readonly string[] {
  return items.trim().split(/,\s+/);
}
