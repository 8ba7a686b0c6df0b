import type { Agent, AgentAnswer, AgentCall } from '../../src/work/run-types.js';

/** What an agent answers in turn, by `task role`: a verdict, `none` for words without a block, or a whole answer. */
export type Script = Readonly<Record<string, readonly (string | AgentAnswer)[]>>;

/** Agents in this process that answer from a script, and what they were asked. */
export interface ScriptedAgents {
  readonly implementer: Agent;
  readonly reviewer: Agent;
  readonly calls: AgentCall[];
  /** The calls as `task role round`. */
  asked(): string[];
}

/** Beyond the script work is completed, and reviews approve. */
export function scriptedAgents(script: Script = {}): ScriptedAgents {
  const calls: AgentCall[] = [];
  const said = new Map<string, string[]>();
  const agent: Agent = async (call) => {
    calls.push(call);
    const key = `${call.task} ${call.role}`;
    const names = said.get(key) ?? [];
    // A call that is made again has the same answer.
    if (!names.includes(call.name)) said.set(key, [...names, call.name]);
    const turn = said.get(key)?.indexOf(call.name) ?? 0;
    const next = script[key]?.[turn] ?? (call.role === 'implementer' ? 'completed' : 'approved');
    if (typeof next !== 'string') return next;
    return next === 'none' ? 'I have done it, and it works.' : answerOf(call, next);
  };
  return {
    implementer: agent,
    reviewer: agent,
    calls,
    asked: () => calls.map(({ task, role, round }) => `${task} ${role} ${round}`),
  };
}

export function answerOf({ task, role, round }: Pick<AgentCall, 'task' | 'role' | 'round'>, verdict: string) {
  const fixes = verdict === 'needs_changes' ? { required_fixes: [`fix ${round} of ${task}`] } : {};
  const result =
    role === 'implementer'
      ? { task_id: task, status: verdict, summary: `${task} round ${round}` }
      : { task_id: task, assessment: verdict, ...fixes };
  return `Done.\n\nBEGIN_DISPATCH_RESULT\n${JSON.stringify(result)}\nEND_DISPATCH_RESULT\n`;
}
