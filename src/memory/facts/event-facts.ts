import { KEPT } from '../../contracts/kept.js';
import type { AnyResult, ExplicitFact, ReviewIssue, RoleResult, TestRun } from '../../contracts/results.js';
import type { FactRecorded, Outcome } from '../../contracts/session-events.js';
import { bySeverity } from '../../contracts/severity.js';
import { clipText, quoted } from '../../shared/text.js';
import { CONVENTION, EXTRACTION_RULES, explicitFacts } from './extraction-rules.js';
import { RuleBasedFactExtractor } from './fact-extractor.js';
import { type RecordedFact, saysTheSame } from './fact-types.js';

/**
 * Most facts only repeat a field of the outcome, which stands on the same event. An event leaves them out: it holds the
 * facts in the agent's own words, and the others follow from its outcome, by the rules as they are. Where they would not be
 * the very same, because the outcome was cut, the event holds all of them and says so (`facts_complete`).
 *
 * Events are never rewritten, so what follows from one must not change either: other rules need another version.
 */

/** More facts than these may exceed what an event may hold, and then some are left out: that is counted when it is written. */
const MOST = Math.floor(
  KEPT.fact.bytesPerDispatch / (4 * (KEPT.fact.subject + KEPT.fact.relation + KEPT.fact.object)),
);

/** The same rules, but for facts in the agent's own words: the event holds them as they are. */
const FOLLOWING = new RuleBasedFactExtractor({
  rules: EXTRACTION_RULES.map((rule) =>
    rule.name === 'facts'
      ? { name: rule.name, extract: ({ facts }) => (facts ?? []) as RecordedFact[] }
      : rule,
  ),
});

/** All facts of an event: those that it holds, and those that follow from its outcome. */
export function factsOfEvent({ data }: FactRecorded): readonly RecordedFact[] {
  const { dispatch, facts } = data;
  if (data.facts_complete) return facts;
  const { role, task, outcome } = dispatch;
  // Not a whole result, only the fields that the rules read: an outcome has the same fields, and `FOLLOWING` takes facts as recorded.
  const said = { ...outcome, task_id: task, facts } as unknown as RoleResult['result'];
  return FOLLOWING.extract({ role, result: said } as RoleResult, task).facts;
}

/**
 * The facts that the event of a result must hold where the others follow from its outcome; `undefined` where they would
 * not be the very same.
 */
export function factsBeyond(result: AnyResult, outcome: Outcome): readonly RecordedFact[] | undefined {
  const { facts = NONE } = result;
  if (!isWhole(result, outcome) || factsAtMost(result) > MOST) return undefined;
  if (facts.length === 0) return NO_FACTS;
  const own = explicitFacts(facts);
  return own.filter((fact, at) => own.findIndex((each) => saysTheSame(each, fact)) === at);
}

const NONE: readonly ExplicitFact[] = [];
const NO_FACTS: readonly RecordedFact[] = Object.freeze([]);

/** Whether the rules find in an outcome what they find in its result. */
function isWhole(result: AnyResult, outcome: Outcome): boolean {
  return (
    isSameText(result.summary, outcome.summary) &&
    isSameText(result.branch, outcome.branch) &&
    areSameTexts(result.files_modified, outcome.files_modified) &&
    areSameRuns(result.tests, outcome.tests) &&
    areSameTexts(result.follow_up_actions, outcome.follow_up_actions) &&
    areSameTexts(result.blockers, outcome.blockers) &&
    areSameIssues(result.issues, outcome.issues) &&
    areSameTexts(result.required_fixes, outcome.required_fixes)
  );
}

/** Whether a text gives the same words of a fact as what is kept of it. Most are kept as they are. */
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

/** Their words stand behind others in a fact: what was cut or folded alone may come out in another way there. */
function areSameRuns(runs: readonly TestRun[] | undefined, kept: readonly TestRun[] | undefined): boolean {
  if (runs === undefined || kept === undefined) return runs === kept;
  if (runs.length !== kept.length) return false;
  return runs.every(({ command, failures = [] }, at) => {
    const { command: keptCommand, failures: keptFailures = [] } = kept[at] ?? {};
    if (command !== keptCommand || failures.length !== keptFailures.length) return false;
    return failures.every((failure, index) => failure === keptFailures[index]);
  });
}

/** The outcome has the most severe first, and conventions come in the order of the result. */
function areSameIssues(
  issues: readonly ReviewIssue[] | undefined,
  kept: readonly ReviewIssue[] | undefined,
): boolean {
  if (issues === undefined || kept === undefined) return issues === kept;
  if (issues.length !== kept.length) return false;
  const sorted = bySeverity(issues);
  const isSame = sorted.every(({ file, message, fix }, at) => {
    const one = kept[at];
    // A convention is found by words, which may be cut off or be apart in another line.
    if (one === undefined || (message !== one.message && mayBeConvention(message, one.message))) return false;
    return isSameText(message, one.message) && isSameText(file, one.file) && isSameText(fix, one.fix);
  });
  if (!isSame) return false;
  return (
    sorted.every((issue, at) => issue === issues[at]) ||
    !issues.some(({ message }) => CONVENTION.test(message))
  );
}

function mayBeConvention(...messages: readonly string[]): boolean {
  return messages.some((message) => CONVENTION.test(message));
}

/** More than the rules can give. One with a fix may be twice as long. */
function factsAtMost(result: AnyResult): number {
  const { files_modified, tests, follow_up_actions, blockers, issues, required_fixes, facts } = result;
  let most = 3 + lengthOf(files_modified) + lengthOf(follow_up_actions) + lengthOf(blockers);
  most += 3 * lengthOf(issues) + 2 * lengthOf(required_fixes) + lengthOf(facts);
  for (const { failures } of tests ?? []) most += Math.max(1, lengthOf(failures));
  return most;
}

function lengthOf(items: readonly unknown[] | undefined): number {
  return items?.length ?? 0;
}
