import { ThroughlineError } from '../contracts/errors.js';
import { redactedEnd } from '../memory/redaction/redacted.js';
import { sentBackText } from '../prompt/role-contract.js';
import { LATE, withinDeadline } from '../shared/backoff.js';
import { linkedSignal } from '../shared/linked-signal.js';
import { type AgentResult, readAnswer, resultIdOf } from './command-agent.js';
import { changedFiles } from './git-worktrees.js';
import type { RunStep } from './plan-run.js';
import type {
  Agent,
  AgentCall,
  AgentRole,
  Check,
  GivenAnswer,
  KeptAnswers,
  RunPlanEvent,
} from './run-types.js';
import type { PatientSession } from './session-tasks.js';
import { type PromptRemarks, taskPromptOf } from './task-prompt.js';
import type { WorkTask } from './task-step.js';

interface StepTools extends PatientSession {
  readonly session: string;
  readonly project: string | undefined;
  /** Largest number of facts in a prompt. Default: as many as fit. */
  readonly maxFacts: number | undefined;
  readonly agents: { readonly implementer: Agent; readonly reviewer: Agent | undefined };
  readonly check: Check | undefined;
  readonly kept: KeptAnswers | undefined;
  /** For the reviewer. */
  readonly review: PromptRemarks['review'];
  /** Returns the output of hooks that no prompt has shown yet. */
  readonly hookOutput: () => readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly tell: (event: RunPlanEvent) => void;
}

/** Time that an agent has to end after its signal is aborted, in milliseconds. */
const GRACE_MS = 15_000;
/** Characters from the end of an answer, for a second attempt, and of the output of a check, for a finding. */
const MAX_SHOWN = 4000;
const MAX_FINDING = 400;

/** Runs one step, and publishes its result. */
export async function runStep(
  task: WorkTask,
  step: Exclude<RunStep, { kind: 'close' }>,
  directory: string,
  tools: StepTools,
): Promise<void> {
  if (step.kind === 'implement') return agentTurn(task, 'implementer', step, directory, tools);
  const { reviewer } = tools.agents;
  if (tools.check !== undefined) {
    const { passed, command, output = '' } = await checked(tools.check, task, step.round, directory, tools);
    if (!passed) return publishOwn(task, 'reviewer', step.round, await failedCheck(command, output), tools);
    if (reviewer === undefined) {
      const passing: OwnResult = { assessment: 'approved', strengths: [`The check "${command}" passed`] };
      return publishOwn(task, 'reviewer', step.round, passing, tools);
    }
  }
  return agentTurn(task, 'reviewer', step, directory, tools);
}

/** Calls an agent, and again if its answer has no result. If both fail, publishes a result that says so. */
async function agentTurn(
  task: WorkTask,
  role: AgentRole,
  { round, replans = false }: { readonly round: number; readonly replans?: boolean },
  directory: string,
  tools: StepTools,
): Promise<void> {
  const { session, project, maxFacts } = tools;
  const resultId = resultIdOf(session, task.id, role, task.results);
  const first = `${task.id}-${task.results + 1}-${role}`;
  const wasBegun = (await tools.kept?.begin?.(first)) === true;
  const taskPrompt = taskPromptOf(task.text, {
    check: tools.check?.command,
    hooks: tools.hookOutput(),
    ...(wasBegun && { interrupted: { files: await changedFiles(directory) } }),
    ...(role === 'reviewer' && tools.review !== undefined && { review: tools.review }),
  });
  const compiled = await tools.ask((client) =>
    client.compile({
      ...{ session, role, taskId: task.id, taskPrompt },
      include: ['messages'],
      ...(maxFacts !== undefined && { maxFacts }),
      ...(project !== undefined && { project }),
    }),
  );
  let { prompt } = compiled;
  let messages: AgentCall['messages'] = compiled.messages;
  let fault = '';
  const names = [first, `${first}-again`] as const;
  for (const attempt of [1, 2] as const) {
    const name = names[attempt - 1] ?? first;
    const call = {
      ...{ session, task: task.id, role, round, attempt, resultId, name, directory },
      ...{ prompt, messages, answers: () => answersTo(task.id, tools) },
    };
    const { answer, ms, isLate } = await answered(call, replans && attempt === 1, tools);
    const read = readAnswer(answer.text, role, task.id, resultId);
    fault = read.ok ? '' : [answer.fault, read.fault].filter(Boolean).join('; ');
    tools.tell({
      ...{ type: 'call-ended', task: task.id, role, round, attempt, ms },
      ...(answer.tokens !== undefined && { tokens: answer.tokens }),
      ...(answer.cost !== undefined && { cost: answer.cost }),
      ...(fault !== '' && { fault }),
    });
    if (read.ok) {
      const refused = await publish(task, role, round, read.result, tools);
      if (refused === undefined) return forget(names, tools);
      fault = refused;
    }
    if (isLate) break;
    const again = `You were asked this before, and your answer ended with:\n\n${end(answer.text, MAX_SHOWN)}\n\n${sentBackText(role, fault)}`;
    prompt = `${compiled.prompt}\n\n${again}`;
    messages = [...compiled.messages, { role: 'user', content: again }];
  }
  const summary = `No result from the ${role}: ${end(await redactedEnd(fault, MAX_FINDING + 1), MAX_FINDING)}`;
  const own: OwnResult =
    role === 'implementer' ? { status: 'failed', summary } : { assessment: 'blocked', summary };
  await publishOwn(task, role, round, own, tools);
  await forget(names, tools);
}

async function answersTo(task: string, { ask, session }: StepTools): Promise<readonly GivenAnswer[]> {
  const { entries } = await ask(({ tools }) => tools.ledgerShow({ session, task }));
  const answers: unknown = entries['ledger.task.answers'];
  return Array.isArray(answers) ? answers : [];
}

/** Removes published answers, because a later session may have the same name. */
async function forget(names: readonly string[], { kept }: StepTools): Promise<void> {
  for (const name of names) await kept?.drop?.(name);
}

/** `isLate`: the call timed out, and a second attempt would take as long again. */
async function answered(
  call: Omit<AgentCall, 'signal'>,
  replans: boolean,
  { agents, kept, timeoutMs, signal, tell }: StepTools,
) {
  const { task, role, round, attempt, name } = call;
  const before = await kept?.read(name);
  const isKept = before !== undefined;
  tell({
    ...{ type: 'call-started', task, role, round, attempt },
    ...(replans && { replans }),
    ...(isKept && { kept: true }),
  });
  if (isKept) return { answer: before, ms: 0, isLate: false };
  const agent = agents[role];
  if (agent === undefined) throw new ThroughlineError('internal', `there is no ${role}`);
  const started = performance.now();
  const { result, isLate } = await timed((until) => agent({ ...call, signal: until }), timeoutMs, signal);
  const said = typeof result === 'string' ? { text: result } : (result ?? { text: '' });
  const late = isLate ? `timed out after ${timeoutMs / 1000} s` : undefined;
  const fault = late ?? said.fault;
  const answer = { ...said, ...(fault !== undefined && { fault }) };
  await kept?.keep(name, answer);
  return { answer, ms: performance.now() - started, isLate };
}

async function checked(
  check: Check,
  task: WorkTask,
  round: number,
  directory: string,
  { session, timeoutMs, signal, tell }: StepTools,
) {
  const started = performance.now();
  const name = `${task.id}-${task.results + 1}-check`;
  const { result, isLate } = await timed(
    (until) => check({ session, task: task.id, round, name, directory, signal: until }),
    timeoutMs,
    signal,
  );
  const late = {
    ...{ passed: false, command: result?.command ?? 'check' },
    output: `timed out after ${timeoutMs / 1000} s`,
  };
  const answer = isLate || result === undefined ? late : result;
  const { passed, command } = answer;
  tell({ type: 'checked', task: task.id, round, passed, command, ms: performance.now() - started });
  return answer;
}

/** Runs a call with a timeout, and abandons it if it does not end. Throws if the run stops. */
async function timed<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  stopping: AbortSignal,
): Promise<{ readonly result?: T; readonly isLate: boolean }> {
  stopping.throwIfAborted();
  const until = linkedSignal([stopping], timeoutMs);
  const aborted = new Promise<typeof LATE>((resolve) => {
    until.signal.addEventListener('abort', () => resolve(LATE), { once: true });
  });
  const working = work(until.signal);
  try {
    const first = await Promise.race([working, aborted]);
    if (first !== LATE) {
      stopping.throwIfAborted();
      return { result: first, isLate: until.signal.aborted };
    }
    const last = await withinDeadline(
      GRACE_MS,
      working.catch(() => LATE),
    );
    stopping.throwIfAborted();
    return last === LATE ? { isLate: true } : { result: last as T, isLate: true };
  } finally {
    until.release();
  }
}

/** Publishes a result and reports it. Returns the reason if it was rejected. */
async function publish(
  task: WorkTask,
  role: AgentRole,
  round: number,
  { body, verdict, findings, summary, repaired }: AgentResult,
  tools: StepTools,
): Promise<string | undefined> {
  const became = await tools.publish(role, body);
  if (became.status === 'rejected') return became.reason;
  tools.tell({
    ...{ type: 'result', task: task.id, role, round, verdict, findings, dispatch: became.dispatch },
    ...(summary !== undefined && { summary }),
    ...(repaired !== undefined && { repaired }),
  });
  return undefined;
}

/** Publishes a result of the run itself as plain JSON, because its texts may quote the markers of a result block. */
async function publishOwn(
  task: WorkTask,
  role: AgentRole,
  round: number,
  own: OwnResult,
  tools: StepTools,
): Promise<void> {
  const result_id = resultIdOf(tools.session, task.id, role, task.results);
  const result = {
    body: JSON.stringify({ task_id: task.id, ...own, result_id }),
    verdict: 'status' in own ? own.status : own.assessment,
    findings: 'required_fixes' in own ? own.required_fixes.length : 0,
    ...('summary' in own && { summary: own.summary }),
  };
  const refused = await publish(task, role, round, result, tools);
  if (refused !== undefined) throw new ThroughlineError('internal', `task ${task.id}: ${refused}`);
}

type OwnResult =
  | { readonly status: 'failed'; readonly summary: string }
  | { readonly assessment: 'blocked'; readonly summary: string }
  | { readonly assessment: 'approved'; readonly strengths: readonly string[] }
  | Awaited<ReturnType<typeof failedCheck>>;

async function failedCheck(command: string, output: string) {
  // Redacts before it cuts, because half a secret is not recognised.
  const said = end(await redactedEnd(output.trim(), MAX_FINDING + 1), MAX_FINDING);
  const message = `The check "${command}" failed${said === '' ? '' : `: ${said}`}`;
  return {
    assessment: 'needs_changes' as const,
    summary: `The check "${command}" failed`,
    issues: [{ severity: 'critical', message }],
    required_fixes: [`Make the check "${command}" pass`],
  };
}

function end(text: string, most: number): string {
  return text.length <= most ? text : `… ${text.slice(-most)}`;
}
