import { KEPT } from '../../contracts/kept-limits.js';
import { bySeverity, type Role } from '../../contracts/kinds.js';
import type { AnyResult, Question, ReviewIssue, RoleResult, TestRun } from '../../contracts/results.js';
import type { FactRecorded, Outcome } from '../../contracts/session-events.js';
import { clipText, quoted } from '../../shared/text.js';
import { CONVENTION, EXTRACTION_RULES, ownFacts } from './extraction-rules.js';
import { RuleBasedFactExtractor } from './fact-extractor.js';
import { type RecordedFact, saysTheSame } from './fact-types.js';

/**
 * Derives the facts that only repeat a field of the outcome, so that events need not store them: an event holds the
 * agent's explicit facts, and the rules derive the others. If truncation of the outcome would change a derived fact,
 * the event holds all facts and says so (`facts_complete`).
 *
 * Events are never rewritten, so their derived facts must not change either: different rules need a new version.
 */

/** More facts may exceed the event's limit; the facts left out are counted when the event is written. */
const MOST = Math.floor(
  KEPT.fact.bytesPerDispatch / (4 * (KEPT.fact.subject + KEPT.fact.relation + KEPT.fact.object)),
);

/** The same rules, except that explicit facts come from the event unchanged. */
const FOLLOWING_RULES = EXTRACTION_RULES.map((rule) =>
  rule.name === 'facts'
    ? { name: rule.name, extract: ({ facts }: AnyResult) => (facts ?? []) as RecordedFact[] }
    : rule,
);
const FOLLOWING = new RuleBasedFactExtractor({ rules: FOLLOWING_RULES });

/** The rules that give statements. */
const STATING = new RuleBasedFactExtractor({
  rules: FOLLOWING_RULES.filter(({ name }) =>
    ['follow_up_actions', 'conventions', 'facts', 'suggestions', 'decisions', 'failed', 'questions'].includes(
      name,
    ),
  ),
});

/** Returns the stored facts and those derived from the outcome, without the ids of statements. */
export function plainFacts(event: FactRecorded): readonly RecordedFact[] {
  return factsBy(FOLLOWING, event);
}

/** Returns the facts among which are all statements, which costs less than all facts. */
export function statingFacts(event: FactRecorded): readonly RecordedFact[] {
  return factsBy(STATING, event);
}

function factsBy(rules: RuleBasedFactExtractor, { data }: FactRecorded): readonly RecordedFact[] {
  const { dispatch, facts } = data;
  if (data.facts_complete) return facts;
  const { role, task, outcome } = dispatch;
  // Not a whole result: an outcome has the fields that the rules read, and facts are taken as recorded.
  const result = { ...outcome, task_id: task, facts } as unknown as RoleResult['result'];
  return rules.extract({ role, result } as RoleResult, task).facts;
}

/**
 * Returns the facts that the event must store if the others are derived from the outcome; `undefined` if derived facts
 * would differ.
 */
export function factsBeyond(
  { result, role }: { readonly result: AnyResult; readonly role: Role },
  outcome: Outcome,
): readonly RecordedFact[] | undefined {
  const { facts, artifacts } = result;
  if (!isWhole(result, outcome) || factsAtMost(result) > MOST) return undefined;
  if (lengthOf(facts) + lengthOf(artifacts) === 0) return NO_FACTS;
  const recorded = ownFacts(result, result.task_id, role);
  return recorded.filter((fact, at) => recorded.findIndex((other) => saysTheSame(other, fact)) === at);
}

const NO_FACTS: readonly RecordedFact[] = Object.freeze([]);

/** True if the rules derive the same facts from an outcome as from its result. */
function isWhole(result: AnyResult, outcome: Outcome): boolean {
  return (
    isSameText(result.summary, outcome.summary) &&
    isSameText(result.branch, outcome.branch) &&
    isSameText(result.commit, outcome.commit) &&
    areSameTexts(result.files_modified, outcome.files_modified) &&
    areSameRuns(result.tests, outcome.tests) &&
    areSameTexts(result.follow_up_actions, outcome.follow_up_actions) &&
    areSameTexts(result.blockers, outcome.blockers) &&
    areSameTexts(textsIn(result.questions), textsIn(outcome.questions)) &&
    areSameIssues(result.issues, outcome.issues) &&
    areSameTexts(result.required_fixes, outcome.required_fixes)
  );
}

function textsIn(questions: readonly Question[] | undefined): string[] | undefined {
  return questions?.map(({ text }) => text);
}

/** True if a text and its stored copy produce the same fact. Most are stored unchanged. */
function isSameText(text: string | undefined, kept: string | undefined): boolean {
  if (text === kept) return true;
  if (text === undefined || kept === undefined) return false;
  return quoted(kept) === clipText(quoted(text), KEPT.fact.object);
}

function areSameTexts(texts: readonly string[] | undefined, kept: readonly string[] | undefined): boolean {
  if (texts === undefined || kept === undefined) return texts === kept;
  if (texts.length !== kept.length) return false;
  for (let at = 0; at < texts.length; at += 1) if (!isSameText(texts[at], kept[at])) return false;
  return true;
}

/** In a fact their text follows other text, so cutting or folding them alone may produce a different line. */
function areSameRuns(runs: readonly TestRun[] | undefined, kept: readonly TestRun[] | undefined): boolean {
  if (runs === undefined || kept === undefined) return runs === kept;
  if (runs.length !== kept.length) return false;
  return runs.every(({ command, failures = [] }, at) => {
    const { command: keptCommand, failures: keptFailures = [] } = kept[at] ?? {};
    if (command !== keptCommand || failures.length !== keptFailures.length) return false;
    return failures.every((failure, index) => failure === keptFailures[index]);
  });
}

/** The outcome is sorted by severity, but conventions come in the order of the result. */
function areSameIssues(
  issues: readonly ReviewIssue[] | undefined,
  kept: readonly ReviewIssue[] | undefined,
): boolean {
  if (issues === undefined || kept === undefined) return issues === kept;
  if (issues.length !== kept.length) return false;
  const sorted = bySeverity(issues);
  const isSame = sorted.every(({ file, message, fix }, at) => {
    const one = kept[at];
    // A convention is recognized by words that may be cut off or change lines.
    if (one === undefined) return false;
    if (message !== one.message && [message, one.message].some((text) => CONVENTION.test(text))) return false;
    return isSameText(message, one.message) && isSameText(file, one.file) && isSameText(fix, one.fix);
  });
  if (!isSame) return false;
  return (
    sorted.every((issue, at) => issue === issues[at]) ||
    !issues.some(({ message }) => CONVENTION.test(message))
  );
}

/** An upper bound. An issue with a fix may be twice as long. */
function factsAtMost(result: AnyResult): number {
  const { files_modified, tests, follow_up_actions, blockers, issues, required_fixes, facts, artifacts } =
    result;
  let most = 4 + lengthOf(files_modified) + lengthOf(follow_up_actions) + 2 * lengthOf(blockers);
  most += lengthOf(result.questions);
  most += 3 * lengthOf(issues) + 2 * lengthOf(required_fixes) + lengthOf(facts) + lengthOf(artifacts);
  for (const { failures } of tests ?? []) most += Math.max(1, lengthOf(failures));
  return most;
}

function lengthOf(items: readonly unknown[] | undefined): number {
  return items?.length ?? 0;
}
