import { z } from 'zod';
import { KEPT, keptTexts } from '../contracts/kept-limits.js';
import { bySeverity, questionsOf, ROLES, SEVERITIES, VERDICTS, verdictIn } from '../contracts/kinds.js';
import { renamedFile } from '../contracts/results.js';
import type { Output } from '../contracts/schema-fields.js';
import type { DispatchOutcome } from '../contracts/session-events.js';
import { defined } from '../shared/collections.js';
import { clipSummary, clipText } from '../shared/text.js';

const texts = z.array(z.string());

export const digestIssue = z
  .object({
    severity: z.enum(SEVERITIES),
    message: z.string(),
    file: z.string().exactOptional(),
    fix: z.string().exactOptional(),
  })
  .meta({ id: 'DigestIssue', description: 'What a review found wrong.' });
export type DigestIssue = Output<typeof digestIssue>;

/** `failures` are the first ones; `count` is the total. */
export const failedTests = z.array(z.object({ command: z.string(), failures: texts, count: z.number() }));

export const openQuestions = z
  .array(z.object({ text: z.string(), options: texts.optional(), default: z.string().optional() }))
  .exactOptional();

/** The ledgers' copy of an outcome, bounded, since it stays in the state until the dispatch is settled. */
export const outcomeDigest = z
  .object({
    role: z.enum(ROLES),
    verdict: z.enum(VERDICTS).exactOptional(),
    summary: z.string().exactOptional(),
    blockers: texts,
    files: texts,
    /** Files that are gone, and those that have another name. */
    deleted: texts.exactOptional(),
    renamed: z.array(renamedFile).exactOptional(),
    passed: texts,
    failed: failedTests,
    followUps: texts,
    /** The most severe first. */
    issues: z.array(digestIssue),
    fixes: texts,
    /** Those of a blocked result without options or default are its blockers that ask. */
    questions: openQuestions,
    /** From before the session. */
    history: z.literal(true).exactOptional(),
    /** When it happened, if long before it was published. */
    at: z.string().exactOptional(),
  })
  .meta({ id: 'OutcomeDigest', description: 'What the ledgers need of a result.' });
export type OutcomeDigest = Output<typeof outcomeDigest>;

const { digest: MOST } = KEPT;

export function digestOf({ role, outcome }: DispatchOutcome): OutcomeDigest {
  const { summary, blockers = [], files_modified = [], files_deleted, files_renamed, tests = [] } = outcome;
  const { follow_up_actions = [], issues = [], required_fixes = [] } = outcome;
  const verdict = verdictIn(role, outcome);
  const questions = questionsOf(outcome, verdict);
  const passed = tests.filter((run) => run.passed).map((run) => run.command);
  const failed = tests.filter((run) => !run.passed).slice(0, MOST.list);
  return {
    role,
    ...defined({ verdict, summary: summary && clipSummary(summary, MOST.summary) }),
    blockers: keptTexts(blockers, MOST.demands, MOST.demand),
    files: keptTexts(files_modified, MOST.files, MOST.text),
    ...defined({
      deleted: files_deleted?.slice(0, MOST.files),
      renamed: files_renamed?.slice(0, MOST.files),
    }),
    passed: keptTexts(passed, MOST.list, MOST.text),
    failed: failed.map((run) => ({
      command: clipText(run.command, MOST.text),
      failures: keptTexts(run.failures ?? [], MOST.failures, MOST.text),
      count: run.failures?.length ?? 0,
    })),
    followUps: keptTexts(follow_up_actions, MOST.list, MOST.text),
    issues: bySeverity(issues)
      .slice(0, MOST.list)
      .map(({ severity, ...issue }) => {
        const [message, file, fix] = [issue.message, issue.file, issue.fix].map(
          (text) => text && clipText(text, MOST.text),
        );
        return defined({ severity, message: message ?? '', file, fix });
      }),
    fixes: keptTexts(required_fixes, MOST.demands, MOST.demand),
    ...(questions.length > 0 && { questions }),
    ...defined({ history: outcome.history, at: outcome.at }),
  };
}
