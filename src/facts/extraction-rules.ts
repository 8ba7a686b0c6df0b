import type { ImplementerResult, ReviewerResult } from '../contracts/results.js';
import { recordedFact } from './fact-id.js';
import type { RecordedFact, SessionFactTag } from './fact-types.js';

/**
 * The extraction rules: each reads one field of a result and gives facts. Pure; a missing field gives none. A new
 * rule is a new entry at the end of an array.
 */
export interface ExtractionRule<Result> {
  readonly name: string;
  readonly extract: (result: Result, taskId: string) => readonly RecordedFact[];
}

/** Words by which a reviewer states a rule for the whole code base rather than a fault in one place. */
export const CONVENTION =
  /\b(always|never|conventions?|naming|consistent(?:ly)?|must not|should not|do not|don't|avoid|prefer|everywhere|across the (?:code ?base|repo(?:sitory)?))\b/i;

export const IMPLEMENTER_RULES: readonly ExtractionRule<ImplementerResult>[] = [
  {
    name: 'status',
    extract: (result, taskId) => facts(task(taskId), 'completed_with', [result.status], ['decision']),
  },
  {
    name: 'summary',
    extract: (result, taskId) => facts(task(taskId), 'summary', [result.summary], ['decision']),
  },
  {
    name: 'files_modified',
    extract: (result, taskId) => {
      const by = task(taskId);
      return each(result.files_modified, (file) => recordedFact(file, 'modified_by', by, ['file_change']));
    },
  },
  {
    name: 'follow_up_actions',
    extract: (result, taskId) => facts(task(taskId), 'requires', result.follow_up_actions, ['dependency']),
  },
  {
    name: 'tests',
    extract: (result, taskId) => (result.tests ?? []).flatMap((run) => testFacts(run, taskId)),
  },
];

export const REVIEWER_RULES: readonly ExtractionRule<ReviewerResult>[] = [
  {
    name: 'assessment',
    extract: (result, taskId) => facts(task(taskId), 'reviewed_as', [result.assessment], ['decision']),
  },
  {
    name: 'issues',
    extract: (result, taskId) =>
      each(result.issues, ({ file = task(taskId), message }) =>
        recordedFact(file, 'issue', message, ['error']),
      ),
  },
  {
    name: 'required_fixes',
    extract: (result, taskId) => facts(task(taskId), 'must_fix', result.required_fixes, ['convention']),
  },
  {
    // An issue is closed by an approval; a rule for the whole code base stays, until the task's next such rule.
    name: 'conventions',
    extract: (result, taskId) =>
      each(result.issues, ({ message }) =>
        CONVENTION.test(message)
          ? recordedFact(task(taskId), 'convention', message, ['convention'])
          : undefined,
      ),
  },
];

function task(taskId: string): string {
  return `task:${taskId}`;
}

// One relation for both outcomes: a later pass closes the failures of an earlier run.
function testFacts(run: NonNullable<ImplementerResult['tests']>[number], taskId: string): RecordedFact[] {
  const subject = `test:${run.command}`;
  if (run.passed) return facts(subject, 'test_result', [`passed in ${task(taskId)}`], ['test']);
  const failures = run.failures?.length ? run.failures : ['no failure text given'];
  return facts(
    subject,
    'test_result',
    failures.map((failure) => `failed in ${task(taskId)}: ${failure}`),
    ['test', 'error'],
  );
}

function facts(
  subject: string,
  relation: string,
  objects: readonly string[] | undefined,
  tags: readonly SessionFactTag[],
): RecordedFact[] {
  return each(objects, (object) => recordedFact(subject, relation, object, tags));
}

/** The facts that `toFact` makes of the items, without empty ones. */
function each<Item>(
  items: readonly Item[] | undefined,
  toFact: (item: Item) => RecordedFact | undefined,
): RecordedFact[] {
  const found: RecordedFact[] = [];
  for (const item of items ?? []) {
    const fact = toFact(item);
    if (fact !== undefined) found.push(fact);
  }
  return found;
}
