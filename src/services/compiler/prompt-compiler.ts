import type { WordVectorsLoader } from '../../config/load-word-vectors.js';
import { checkedRequest } from '../../contracts/checked.js';
import { type CompileRequest, compileRequest, pastPromptRequest } from '../../contracts/compile-request.js';
import { ThroughlineError, withRemedy } from '../../contracts/errors.js';
import { LEARNINGS_SUBJECTS, projectOfSubject, type Token, token } from '../../contracts/names.js';
import type { CompileReply, LedgerReport } from '../../contracts/replies/compile-reply.js';
import { caughtUp, waitLimit } from '../../engine/folding/caught-up.js';
import type { LoadedSession, ProjectReader, SessionReader } from '../../engine/folding/session-folding.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import { type ConcurrencyLimit, systemClock } from '../../engine/runtime/pacing.js';
import { scannerFor } from '../../memory/redaction/redactor.js';
import { idInPlan } from '../../memory/session/charter.js';
import { rejectionsOf, type SessionState } from '../../memory/session/session-state.js';
import { Announcements } from '../../nats/connection/connect-nats.js';
import { compilePrompt } from '../../prompt/compile-prompt.js';
import type { Chosen } from '../../prompt/prompt-kind.js';
import { DEFAULT_BUDGET } from '../../prompt/prompt-kind.js';
import { defined } from '../../shared/collections.js';
import { nearIdsHint } from '../../shared/nearest-name.js';
import { clipText } from '../../shared/text.js';
import type { Process } from '../common/process-parts.js';
import type { ProgressTracker, Refreshed } from '../common/progress-tracker.js';
import { numbersOf } from '../common/service-context.js';
import { endpointOf, type Service } from '../common/service-shell.js';
import { PromptKeeper } from './prompt-keeper.js';
import { createPromptLearnings, type PromptLearnings } from './prompt-learnings.js';

/** Answers `prompt.compile`: validate, load the session, wait for `after`, update progress, find learnings, compile. */
interface PromptCompilerOptions {
  readonly reader: SessionReader;
  readonly log: SessionLog;
  readonly tracker: ProgressTracker;
  readonly learnings: PromptLearnings;
  readonly wordVectors: WordVectorsLoader;
  readonly waiters: ConcurrencyLimit;
  /** Longest wait for the dispatch in `after`, in milliseconds. */
  readonly afterTimeoutMs: number;
  /** Counts the compiled prompts and their milliseconds. */
  readonly times?: CompileTimes;
}

interface CompileTimes {
  count: number;
  ms: number;
}

interface PromptObservers {
  readonly keeper: Pick<PromptKeeper, 'add'>;
}

/** Handles a request's JSON. Throws a ThroughlineError. */
export type PromptCompiler = (request: unknown) => Promise<CompileReply>;

export function createPromptCompiler(options: PromptCompilerOptions & PromptObservers): PromptCompiler {
  const { keeper, times = { count: 0, ms: 0 } } = options;
  return async (input) => {
    const started = performance.now();
    const request = checkedRequest(compileRequest, input);
    const session = token(request.session, 'session');
    const { reply, chosen, resolved } = await compile(session, request, options);
    const durationMs = performance.now() - started;
    times.count += 1;
    times.ms += durationMs;
    keeper.add({ session, request: resolved, reply, chosen, durationMs });
    return reply;
  };
}

/** Answers `prompt.past`: the prompt as it was, without counting or storing it. */
export function createPastPrompts(options: PromptCompilerOptions): PromptCompiler {
  return async (input) => {
    const request = checkedRequest(pastPromptRequest, input);
    const session = token(request.session, 'session');
    return (await compile(session, request, options)).reply;
  };
}

interface Compiled {
  readonly reply: CompileReply;
  readonly chosen: Chosen;
  readonly resolved: CompileRequest;
}

async function compile(
  session: Token,
  request: CompileRequest,
  options: PromptCompilerOptions,
): Promise<Compiled> {
  const { reader, tracker } = options;
  const { asOf, after } = request;
  let loaded: LoadedSession;
  if (asOf !== undefined) loaded = await reader.loadAsOf(session, asOf);
  else if (after === undefined) loaded = await reader.load(session);
  else {
    const timeoutMs = Math.min(options.afterTimeoutMs, request.afterTimeoutMs ?? Number.POSITIVE_INFINITY);
    loaded = await caughtUp(options, session, after, timeoutMs);
    requireUsable(loaded.folded.state, after);
  }
  let refreshed: Refreshed = { outcome: 'unchanged' };
  if (asOf === undefined) {
    refreshed = await tracker.refresh(session, loaded.folded.state);
    if (refreshed.outcome === 'rebuilt') {
      const { replayed } = loaded;
      loaded = await reader.load(session);
      loaded = { ...loaded, replayed: loaded.replayed + replayed };
    }
  }
  const task = request.kind === 'session-start' ? undefined : request.taskId;
  const resolved = {
    ...request,
    ...(task !== undefined && { taskId: idInPlan(loaded.folded.state.run, task) }),
    ...(refreshed.outcome === 'failed' && { degraded: clipText(refreshed.message, MAX_REASON) }),
  };
  const [{ learnings, learningsError }, words] = await Promise.all([
    options.learnings(loaded.folded.state, request),
    options.wordVectors(),
  ]);
  // No await from here on: the next load of the session changes the state.
  const { state, snapshotSequence } = loaded.folded;
  const replied = { sequence: state.sequence, snapshotSequence, replayed: loaded.replayed };
  const reflects = { ...replied, ...(learningsError && { learningsError }) };
  if (resolved.kind !== 'dispatch') {
    const { chosen, ...compiled } = compilePrompt(state, resolved, DEFAULT_BUDGET, learnings, words);
    return { reply: { ...compiled, ...reflects }, chosen, resolved };
  }
  const ledger = ledgerReport(state, resolved.taskId, refreshed);
  const { chosen, ...compiled } = compilePrompt(state, resolved, DEFAULT_BUDGET, learnings, words);
  return { reply: { ...compiled, ledger, ...reflects }, chosen, resolved };
}

const MAX_REASON = 300;

/** Throws ThroughlineError `dispatch_rejected` for a rejected dispatch, as long as the session remembers it. */
function requireUsable(state: SessionState, dispatch: number): void {
  const rejection = rejectionsOf(state).find(({ sequence }) => sequence === dispatch);
  if (rejection === undefined) return;
  const { sequence, task, error } = rejection;
  const { code, reason, fix } = error;
  const remedy = fix ?? 'publish a corrected result';
  const shown = `"throughline result ls --session ${state.session}" shows the result`;
  throw new ThroughlineError(
    'dispatch_rejected',
    `${withRemedy(`result ${sequence} could not be used, ${code}: ${reason}`, remedy)}; ${shown}`,
    { details: defined({ dispatch: sequence, ...error, task }) },
  );
}

function ledgerReport({ run, dispatches }: SessionState, taskId: string, refreshed: Refreshed): LedgerReport {
  if (refreshed.outcome === 'failed') {
    return { mode: 'ledger_plus_fallback', reason: 'rebuild_failed', message: refreshed.message };
  }
  const planned = run?.document.tasks.map(({ id }) => id);
  if (planned !== undefined && !planned.includes(taskId)) {
    const message = `the plan has no task ${JSON.stringify(taskId)}${nearIdsHint(taskId, planned)}`;
    return { mode: 'ledger_plus_fallback', reason: 'progress_ledger_incomplete', message };
  }
  return { mode: run !== undefined || dispatches.current().ledgers.has(taskId) ? 'ledger' : 'none' };
}

export function openCompiler({ nats, sessions, projects, config, logger, shutdown }: Process): Service {
  const times: CompileTimes = { count: 0, ms: 0 };
  const secrets = scannerFor(config);
  const keeper = new PromptKeeper({ ring: nats.prompts, secrets, clock: systemClock, logger });
  shutdown.add('the keeper of prompts', () => keeper.stop());
  const { relevance, wordVectors } = projects;
  const announced = new Announcements(nats.connection, LEARNINGS_SUBJECTS, projectOfSubject);
  const reader: Pick<ProjectReader, 'load' | 'loadAsOf'> = {
    load: (project) => projects.reader.loadUnlessQuiet(project, (since) => announced.isQuiet(project, since)),
    loadAsOf: (...request) => projects.reader.loadAsOf(...request),
  };
  const options = {
    ...sessions,
    log: nats.log,
    learnings: createPromptLearnings({ reader, relevance, logger }),
    wordVectors,
    waiters: waitLimit(),
    afterTimeoutMs: config.afterTimeoutMs,
  };
  const compile = createPromptCompiler({ ...options, keeper, times });
  const past = createPastPrompts(options);
  const lower = 'maxFacts, maxTokens or a shorter taskPrompt';
  return {
    numbers: () => ({ ...numbersOf(sessions), prompts: keeper.counts, compiled: times }),
    // Requests are redacted only when stored: the prompt contains them as written.
    redacts: false,
    endpoints: [endpointOf('prompt.compile', compile, { lower }), endpointOf('prompt.past', past, { lower })],
  };
}
