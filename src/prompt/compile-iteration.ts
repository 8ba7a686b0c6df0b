import type { IterationRequest } from '../contracts/compile-request.js';
import { ThroughlineError } from '../contracts/errors.js';
import { formatRelevantLearnings, type LearningsInPrompt } from '../learnings/format-learnings.js';
import type { Charter } from '../session/charter.js';
import { currentNumber } from '../session/iterations.js';
import { factsOf, type SessionState, tracesOf } from '../session/session-state.js';
import { quoted, quotedBlock } from '../shared/text.js';
import { compactedReport, RECENT_STEPS, recentLines, summarise } from '../traces/trace-summary.js';
import type { CompiledAs } from './compiled-prompt.js';
import { describeFacts } from './described-facts.js';
import { describeLearnings, learningsShare } from './described-learnings.js';
import {
  countBlockedTasks,
  countCompletedTasks,
  countReadyTasks,
  formatInbox,
  formatIterationHistory,
  formatNotes,
  formatTasksWithDeps,
} from './iteration-sections.js';
import { ITERATION_TEMPLATE } from './iteration-template.js';
import type { PromptBudget } from './prompt-budget.js';
import { renderTemplate, unknownPlaceholders } from './render-template.js';
import { describeFiles, factsFor, filesFor, sessionContextOf } from './session-context.js';
import { whatIsAhead } from './what-is-ahead.js';

/** Names that an iteration template may use. */
export const ITERATION_VARIABLES = [
  'session',
  'iteration',
  'ready_count',
  'blocked_count',
  'completed_count',
  'history',
  'spec',
  'inbox',
  'notes',
  'tasks',
  'binary',
  'extra',
  'sessionContext',
  'learnings',
] as const;

/**
 * Compiles an iteration prompt. Ages are counted from the session's last event, so the same sequence gives the same
 * bytes.
 *
 * @throws ThroughlineError `template_invalid` that names each unknown placeholder
 */
export function compileIteration(
  state: SessionState,
  request: IterationRequest,
  { tokenizer, maxSummaryTokens }: PromptBudget,
  known?: LearningsInPrompt,
): CompiledAs<'iteration'> {
  const template = request.template ?? ITERATION_TEMPLATE;
  checkTemplate(template);
  const { board, notebook, history, charter, lastEventAt: now } = state;
  const store = factsOf(state);
  const { learnings, tokens } = learningsShare(known, request.maxTokens);
  const ahead = request.taskPrompt ?? whatIsAhead(state);
  const files = filesFor(state, ahead, request);
  const ranked = factsFor(state, ahead, request, files, request.maxTokens - tokens);
  const sessionContext = sessionContextOf(ranked, files);
  const values: Record<(typeof ITERATION_VARIABLES)[number], string> = {
    session: state.session,
    iteration: String(currentNumber(history)),
    ready_count: String(countReadyTasks(board)),
    blocked_count: String(countBlockedTasks(board)),
    completed_count: String(countCompletedTasks(board)),
    history: formatIterationHistory(history, board, now) || 'No iterations yet',
    spec: specOf(charter),
    inbox: formatInbox(notebook, now),
    notes: formatNotes(notebook),
    tasks: formatTasksWithDeps(board),
    binary: request.binary,
    extra: request.extra ?? '',
    sessionContext,
    learnings: formatRelevantLearnings(learnings),
  };
  const trace =
    request.activeIntentId === undefined ? undefined : tracesOf(state).intents.get(request.activeIntentId);
  const summary = trace === undefined ? null : summarise(trace, tokenizer, maxSummaryTokens);
  const rendered = renderTemplate(template, values);
  const recent =
    trace === undefined || trace.recent.length === 0
      ? []
      : [[RECENT_STEPS, ...recentLines(trace)].join('\n')];
  const prompt = [...(summary === null ? [] : [summary.text]), rendered, ...recent].join('\n\n');
  return {
    kind: 'iteration',
    prompt,
    sessionContext,
    ...describeFiles(files),
    ...describeFacts(ranked, store.count(), request.explain),
    ...(known && describeLearnings(learnings)),
    compacted: summary && compactedReport(summary),
    tokenEstimate: tokenizer.count(prompt),
  };
}

/** @throws ThroughlineError `template_invalid` that names each unknown placeholder */
export function checkTemplate(template: string): void {
  const unknown = unknownPlaceholders(template, ITERATION_VARIABLES);
  if (unknown.length === 0) return;
  const named = unknown.map(({ name, line }) => `{{${name}}} in line ${line}`);
  throw new ThroughlineError(
    'template_invalid',
    `unknown placeholders: ${named.join(', ')}. Known: ${ITERATION_VARIABLES.join(', ')}`,
    { details: { unknown: unknown.map(({ name }) => name) } },
  );
}

/** The specification as a quoted block, or one line that says where it is, or the goal. */
function specOf({ spec, spec_path, goal }: Charter): string {
  if (spec !== undefined) return quotedBlock(spec);
  if (spec_path !== undefined) return `See ${quoted(spec_path)}`;
  return goal === undefined ? 'No spec given' : quoted(goal);
}
