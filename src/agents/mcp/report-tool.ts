import { randomUUID } from 'node:crypto';
import { parseDispatchBody } from '../../contracts/dispatch-body.js';
import { codeOf, messageOf, ThroughlineError, withRemedy } from '../../contracts/errors.js';
import { isRole, ROLES } from '../../contracts/kinds.js';
import { repairsInWords } from '../../contracts/reading/repairs.js';
import type { DispatchResult } from '../../contracts/result-requests.js';
import { withLines, withoutLabelled } from '../../memory/traces/labelled-lines.js';
import { withShownOnly } from '../../memory/traces/shown-statements.js';
import { defined } from '../../shared/collections.js';
import { counted, quoted } from '../../shared/text.js';
import { shownTo } from '../hooks/hook-turn.js';
import { textOfAgent } from '../hooks/returned-result.js';
import { UNREACHABLE } from '../hooks/send-waiting.js';
import { knownTask, type McpAnswer, type McpTool } from './mcp-tools.js';

/** Timeout for publishing, well below the minute that clients wait for a tool. */
const PATIENCE_MS = 15_000;

/** `report`: publishes a result, waits, and returns its outcome. A result that cannot be read is not sent. */
export const reportTool: McpTool<'report'> = async (memory, input) => {
  const { session, branch } = memory;
  if (memory.isPausedNow()) return { text: PAUSED, data: { status: 'paused' } };
  const { role = input.assessment === undefined ? 'implementer' : 'reviewer', ...given } = input;
  if (!isRole(role)) {
    throw new ThroughlineError('schema_invalid', `role is ${JSON.stringify(role)}: use ${ROLES.join(', ')}`);
  }
  const id = given.result_id || randomUUID();
  const { summary = '', task_id: task } = given;
  const stated = withLines(
    { ...given, summary: withoutLabelled(summary).trim() || undefined },
    summary,
    task,
  );
  const named = { ...(branch !== undefined && { branch }), ...stated, result_id: id };
  // Without the name of the conversation, anything counts that an agent of the session was shown on this machine.
  const readers = [memory.agent, ...(memory.conversation === undefined ? [session] : [])];
  const shown = readers.flatMap((reader) => shownTo(reader, memory.state));
  const whole = JSON.stringify(withShownOnly(named, shown));
  const read = parseDispatchBody(new TextEncoder().encode(whole), role, Number.POSITIVE_INFINITY);
  if (!read.ok) throw unreadable(`nothing was stored: ${read.reason}`, read.fix);
  const text = textOfAgent(role, whole, read.value.result);
  try {
    const client = await memory.client();
    const { result } = await client.publishText(session, role, text, { wait: true, timeoutMs: PATIENCE_MS });
    // Without a warning where board and plan cannot be asked: the result is stored.
    const known =
      result.status === 'recorded' && (await knownTask(client, session, result.task).catch(() => undefined));
    const unknown = known ? known.unknown : undefined;
    return answerOf(result, unknown);
  } catch (error) {
    // A stored result is read by the services later.
    const isStored = error instanceof ThroughlineError && typeof error.details?.dispatch === 'number';
    if (!UNREACHABLE.has(codeOf(error)) || isStored) throw error;
    await memory.keep({ role, text, messageId: `${session}:${id}` });
    const keptText = `It is kept on this machine and sent when the server can be reached: do not report it again.`;
    return { text: `${keptText} Now it cannot: ${messageOf(error)}`, data: { status: 'kept' } };
  }
};

const PAUSED =
  'Throughline is paused in this folder: nothing was stored. Only the user resumes it, with "throughline resume"; do not report again.';

function answerOf(result: DispatchResult, unknown: string | undefined): McpAnswer<'report'> {
  const { status, dispatch } = result;
  switch (result.status) {
    case 'recorded': {
      const { facts, role, task, repairs: made, repairsOmitted = 0 } = result;
      const repairs = made && quoted(repairsInWords({ repairs: made, repairsOmitted }));
      const text = [
        `Stored as result ${dispatch}: ${role}, task ${task}, ${counted(facts.length, 'fact')}.`,
        ...(repairs ? [`It was ${repairs}.`] : []),
        `context with after: ${dispatch} gives a prompt that knows it.`,
      ].join(' ');
      const data = { status, ...defined({ dispatch, facts: facts.length, repairs, unknown_task: unknown }) };
      return { text: [text, ...(unknown === undefined ? [] : [`${unknown} ${MEANT}`])].join('\n'), data };
    }
    case 'rejected':
      throw unreadable(`result ${dispatch} could not be used: ${result.reason}`, result.fix);
    case 'repeated':
      return {
        text: `Result ${dispatch} repeats one that had counted before: nothing changed, and nothing is left to do.`,
        data: { status, dispatch },
      };
    case 'counted':
      return {
        text: `Stored as result ${dispatch}: newer results have taken its place.`,
        data: { status, dispatch },
      };
  }
}

const MEANT = 'If you meant another task, report again with its id.';

function unreadable(why: string, fix: string | undefined): ThroughlineError {
  return new ThroughlineError('dispatch_rejected', withRemedy(why, fix));
}
