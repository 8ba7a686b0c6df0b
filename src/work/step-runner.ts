import { ThroughlineError } from '../contracts/errors.js';
import { sentBackText } from '../contracts/kinds.js';
import { redactedEnd } from '../memory/redaction/redactor.js';
import { defined } from '../shared/collections.js';
import { linkedSignal } from '../shared/deadlines.js';
import { quoted } from '../shared/text.js';
import { type AgentResult, readAnswer, resultIdOf } from './command-agent.js';
import type { RunStep } from './plan-run.js';
import type { Agent, AgentCall, AgentRole, Check, RunPlanEvent } from './run-types.js';
import type { PatientSession } from './session-tasks.js';
import type { WorkTask } from './task-step.js';

interface StepTools extends PatientSession {
  readonly session: string;
  readonly project: string | undefined;
  readonly directory: string;
  readonly implementer: Agent;
  readonly reviewer: Agent | undefined;
  readonly check: Check | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly tell: (event: RunPlanEvent) => void;
}

/** Time that an agent has to end after its signal is aborted, in milliseconds. */
const GRACE_MS = 15_000;
/** Characters from the end of an answer, for a second attempt, and of the output of a check, for a finding. */
const MAX_SHOWN = 4000;
const MAX_FINDING = 400;

export async function runStep(task: WorkTask, step: Exclude<RunStep, { kind: 'close' }>, tools: StepTools) {
  const { implementer, reviewer, check } = tools;
  if (step.kind === 'implement') {
    await agentTurn(task, { ...step, role: 'implementer', agent: implementer }, tools);
    return;
  }
  if (check !== undefined) {
    const { passed, command, output = '' } = await checked(check, task, step.round, tools);
    const passing = { assessment: 'approved', strengths: [`The check "${command}" passed`] };
    const outcome = passed ? passing : await failedCheck(command, output);
    if (!passed || reviewer === undefined)
      return publishForRun(task, { role: 'reviewer', round: step.round }, outcome, tools);
  }
  // runPlan refuses options with neither a reviewer nor a check.
  if (reviewer !== undefined) await agentTurn(task, { ...step, role: 'reviewer', agent: reviewer }, tools);
}

interface Turn {
  readonly role: AgentRole;
  readonly round: number;
}

/** Calls an agent, and again if its answer has no result. If both fail, publishes a result that says so. */
async function agentTurn(
  task: WorkTask,
  { role, round, agent, replans = false }: Turn & { readonly agent: Agent; readonly replans?: boolean },
  tools: StepTools,
): Promise<void> {
  const { session, project, directory, check: { command } = {} } = tools;
  const resultId = resultIdOf(session, task.id, role, task.results);
  const judged = command ? `\n\nThis command judges the work: ${quoted(command)} (it must pass)` : '';
  const compiled = await tools.ask((client) =>
    client.compile({
      session,
      role,
      taskId: task.id,
      taskPrompt: `${task.text}${judged}`,
      include: ['messages'],
      project,
    }),
  );
  let { prompt } = compiled;
  let messages: AgentCall['messages'] = compiled.messages;
  let fault = '';
  for (const attempt of [1, 2] as const) {
    const of = { task: task.id, role, round, attempt };
    const name = `${task.id}-${task.results + 1}-${role}${attempt === 1 ? '' : '-again'}`;
    const call = { ...of, session, resultId, name, directory, prompt, messages };
    tools.tell({ type: 'call-started', ...of, ...(replans && attempt === 1 && { replans }) });
    const { result = '', ms, isLate } = await timed((signal) => agent({ ...call, signal }), tools);
    const answer = typeof result === 'string' ? { text: result } : result;
    const read = readAnswer(answer.text, role, task.id, resultId, prompt);
    const late = isLate ? lateText(tools) : answer.fault;
    fault = read.ok ? '' : [late, read.fault].filter(Boolean).join('; ');
    const use = defined({ tokens: answer.tokens, cost: answer.cost });
    tools.tell({ type: 'call-ended', ...of, ms, ...use, ...(fault !== '' && { fault }) });
    if (read.ok) {
      const refused = await publish(task, { role, round }, read.result, tools);
      if (refused === undefined) return;
      fault = refused;
    }
    // A second attempt would take as long again.
    if (isLate) break;
    const again = `You were asked this before, and your answer ended with:\n\n${end(answer.text, MAX_SHOWN)}\n\n${sentBackText(role, fault)}`;
    prompt = `${compiled.prompt}\n\n${again}`;
    messages = [...compiled.messages, { role: 'user', content: again }];
  }
  const summary = `No result from the ${role}: ${await shortEnd(fault)}`;
  const outcome = role === 'implementer' ? { status: 'failed', summary } : { assessment: 'blocked', summary };
  await publishForRun(task, { role, round }, outcome, tools);
}

async function checked(check: Check, task: WorkTask, round: number, tools: StepTools) {
  const { session, directory } = tools;
  const call = { session, task: task.id, round, name: `${task.id}-${task.results + 1}-check`, directory };
  const { result, ms, isLate } = await timed((signal) => check({ ...call, signal }), tools);
  const { command = check.command ?? 'check' } = result ?? {};
  const answer = isLate || result === undefined ? { passed: false, output: lateText(tools) } : result;
  tools.tell({ type: 'checked', task: task.id, round, passed: answer.passed, command, ms });
  return { ...answer, command };
}

function lateText({ timeoutMs }: StepTools): string {
  return `timed out after ${timeoutMs / 1000} s`;
}

/** Runs a call with a timeout, and abandons it if it does not end in time. Throws if the run stops. */
async function timed<T>(work: (signal: AbortSignal) => Promise<T>, tools: StepTools) {
  const { timeoutMs, signal: stopping } = tools;
  stopping.throwIfAborted();
  const started = performance.now();
  const { signal, release } = linkedSignal([stopping], timeoutMs);
  const abandoned = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => setTimeout(resolve, GRACE_MS, undefined).unref(), { once: true });
  });
  const working = work(signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return undefined;
  });
  try {
    const result = await Promise.race([working, abandoned]);
    stopping.throwIfAborted();
    return { result, ms: performance.now() - started, isLate: signal.aborted };
  } finally {
    release();
  }
}

async function publish(task: WorkTask, turn: Turn, { body, ...result }: AgentResult, tools: StepTools) {
  const became = await tools.publish(turn.role, body);
  if (became.status === 'rejected') return became.reason;
  tools.tell({ type: 'result', task: task.id, ...turn, ...result, dispatch: became.dispatch });
  return undefined;
}

type RunResult = { readonly summary?: string; readonly required_fixes?: readonly string[] } & (
  | { readonly status: string }
  | { readonly assessment: string }
);

/** Publishes a result of the run itself as plain JSON, because its texts may quote the markers of a result block. */
async function publishForRun(
  task: WorkTask,
  turn: Turn,
  outcome: RunResult,
  tools: StepTools,
): Promise<void> {
  const result_id = resultIdOf(tools.session, task.id, turn.role, task.results);
  const result = {
    body: JSON.stringify({ task_id: task.id, ...outcome, result_id }),
    verdict: 'status' in outcome ? outcome.status : outcome.assessment,
    findings: outcome.required_fixes?.length ?? 0,
    ...defined({ summary: outcome.summary }),
  };
  const refused = await publish(task, turn, result, tools);
  if (refused !== undefined) throw new ThroughlineError('internal', `task ${task.id}: ${refused}`);
}

async function failedCheck(command: string, output: string) {
  const lastOutput = await shortEnd(output.trim());
  const summary = `The check "${command}" failed`;
  const message = lastOutput === '' ? summary : `${summary}: ${lastOutput}`;
  return {
    assessment: 'needs_changes',
    summary,
    issues: [{ severity: 'critical', message }],
    required_fixes: [`Make the check "${command}" pass`],
  };
}

/** Redacts before it cuts, because half a secret is not recognised. */
async function shortEnd(text: string): Promise<string> {
  return end(await redactedEnd(text, MAX_FINDING + 1), MAX_FINDING);
}

function end(text: string, most: number): string {
  return text.length <= most ? text : `… ${text.slice(-most)}`;
}
