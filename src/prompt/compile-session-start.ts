import type { SessionStartRequest } from '../contracts/compile-request.js';
import { ROLES } from '../contracts/kinds.js';
import { DEFAULT_PROJECT, projectOf } from '../contracts/names.js';
import {
  formatCompactProposals,
  formatRelevantLearnings,
  type LearningsInPrompt,
} from '../learnings/format-learnings.js';
import { signalsOf } from '../ledger/task-ledger.js';
import { newest } from '../session/iterations.js';
import { unread } from '../session/notebook.js';
import { resolvedSettings } from '../session/resolved-settings.js';
import { factsOf, type SessionState } from '../session/session-state.js';
import type { CompiledAs } from './compiled-prompt.js';
import { describeLearnings, learningsWithin } from './described-learnings.js';
import { countBlockedTasks, countCompletedTasks, countReadyTasks, line } from './iteration-sections.js';
import type { PromptBudget } from './prompt-budget.js';
import { describeFiles, filesFor, sessionContextOf } from './session-context.js';
import { whatIsAhead } from './what-is-ahead.js';

/**
 * What an agent reads first in a session: who it works for, what the project has learned, which proposals wait, and
 * how the session stands. What has no content is left out.
 */
export function compileSessionStart(
  state: SessionState,
  request: SessionStartRequest,
  { tokenizer }: PromptBudget,
  learnings: LearningsInPrompt,
): CompiledAs<'session-start'> {
  const shown = learningsWithin(learnings, request.maxTokens);
  const files = filesFor(state, request.taskPrompt ?? whatIsAhead(state), request);
  const sessionContext = sessionContextOf([], files);
  const prompt = [
    formatIdentity(state, request.project),
    formatRelevantLearnings(shown),
    formatCompactProposals(shown.pending, reviewCommand(state, request)),
    formatSessionState(state),
    sessionContext,
  ]
    .filter((section) => section !== '')
    .join('\n\n');
  return {
    kind: 'session-start',
    prompt,
    sessionContext,
    ...describeFiles(files),
    facts: [],
    factsShown: 0,
    factsTotal: factsOf(state).count(),
    compacted: null,
    ...describeLearnings(shown),
    tokenEstimate: tokenizer.count(prompt),
  };
}

/** Session, project, goal and the roles that have worked on it. */
function formatIdentity({ session, charter, dispatches }: SessionState, project?: string): string {
  const { counts } = dispatches.current();
  const roles = ROLES.filter((role) => counts[role] > 0).map((role) => `${role} (${counts[role]})`);
  const named = project ?? charter.project;
  return [
    `Session: ${session}`,
    ...(named === undefined ? [] : [`Project: ${line(named)}`]),
    ...(charter.goal === undefined ? [] : [`Goal: ${line(charter.goal)}`]),
    ...(roles.length === 0 ? [] : [`Roles: ${roles.join(', ')}`]),
  ].join('\n');
}

/** How the session stands: tasks, iterations, facts, inbox, and what goes in circles. */
function formatSessionState(state: SessionState): string {
  const { board, history, notebook, charter, dispatches } = state;
  const facts = factsOf(state).count();
  const last = newest(history);
  const { stallThresholds } = resolvedSettings(charter.settings);
  const stalled = [...dispatches.current().ledgers.values()]
    .filter((ledger) => signalsOf(ledger, stallThresholds).length > 0)
    .map(({ task }) => line(task));
  const summary = history.iterations.findLast((iteration) => iteration.summary !== undefined)?.summary;
  const lines = [
    ...(charter.status === 'completed' ? ['completed'] : []),
    ...(last === undefined
      ? []
      : [`iteration #${last.number}${last.ended_at === undefined ? ', running' : ''}`]),
    ...(board.tasks.size === 0
      ? []
      : [
          `tasks: ${countReadyTasks(board)} ready, ${countBlockedTasks(board)} blocked, ${countCompletedTasks(board)} done`,
        ]),
    ...(facts === 0 ? [] : [`facts: ${facts} valid`]),
    ...(unread(notebook).length === 0 ? [] : [`inbox: ${unread(notebook).length} unread`]),
    ...(stalled.length === 0 ? [] : [`stalled: ${stalled.slice(0, 10).join(', ')}`]),
    ...(summary === undefined ? [] : [`last summary: ${line(summary)}`]),
  ];
  return ['Session state:', ...(lines.length === 0 ? ['new'] : lines).map((each) => `  - ${each}`)].join(
    '\n',
  );
}

function reviewCommand({ charter }: SessionState, { binary, project }: SessionStartRequest): string {
  const named = project ?? charter.project;
  const option = named === undefined || named === DEFAULT_PROJECT ? '' : ` --project ${projectOf(named)}`;
  return `${binary} proposals review${option}`;
}
