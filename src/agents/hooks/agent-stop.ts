import type { Role } from '../../contracts/kinds.js';
import { sentBackText } from '../../contracts/kinds.js';
import type { ResultText } from '../../contracts/reading/last-result.js';
import { resultAmongLines } from '../../memory/traces/labelled-lines.js';
import {
  type Answering,
  agentKey,
  conversationKey,
  type HookCall,
  type HookTools,
  roleOfAgent,
} from './hook-call.js';
import { plainRole, resultId, taskIn, withResultId } from './hook-results.js';
import { agentOf, shownTo, turnResult } from './hook-turn.js';
import type { ReturnedResult } from './returned-result.js';
import { noteTask } from './running-agent.js';
import { flush, keepOrGive, refusalKey } from './send-waiting.js';
import type { Waiting } from './spool.js';
import { lastMessage, lastText } from './transcript.js';

/** The end of an agent: publishes its result or its turn, or sends it back for the result that it owes. */

/**
 * The role whose result an agent owes: that of its name, or of the contract that it was given. Stop events do not say what
 * a sub-agent was told, so of several with one name the first to stop is taken for the first that was given it.
 */
function owedRole(call: HookCall, tools: HookTools): Role | undefined {
  const { state, at } = tools;
  const role = roleOfAgent(call.agentName, at.agents);
  if (call.event.moment === 'text' || state.isSentBack(agentKey(call, tools))) return role;
  if (call.agent === '' && call.agentName === '')
    return role ?? state.notes(agentKey(call, tools)).find(({ owes }) => owes)?.owes?.role;
  const key = conversationKey('owed', call, tools);
  const owed = state.notes(key);
  const match =
    owed.find(({ owes }) => owes?.name === call.agentName) ?? owed.find(({ owes }) => owes?.name === '');
  if (match === undefined) return role;
  state.clearNotes(key);
  for (const other of owed) if (other !== match) state.note(key, other);
  return role ?? match.owes?.role;
}

export async function stopped(
  stopping: HookCall,
  tools: HookTools,
  unkept: Waiting[],
): Promise<Answering | undefined> {
  const { state, at, name } = tools;
  const key = agentKey(stopping, tools);
  // Gemini CLI and Copilot CLI name no turns: the same result in a later one counts again.
  const begun = state.peek(conversationKey('turn', stopping, tools)) ?? '';
  const call = { ...stopping, turn: stopping.turn || begun };
  const { keepsCalls, writesLate } = tools.client;
  const written = async () =>
    writesLate
      ? lastMessage(call.transcript, call.at, tools.leftMs)
      : keepsCalls && lastText(keepsCalls, call.transcript, tools.now, call.agent === '');
  const message = call.message ?? (await written()) ?? state.recall(key) ?? '';
  const block = resultAmongLines(message);
  const role = owedRole(call, tools);
  const isOver = call.event.moment !== 'text';
  if (block === undefined && !isOver) return undefined;
  let fault = 'the last message does not end in a result block';
  const mayGoBack =
    role !== undefined && call.event.answer === 'again' && !call.again && !state.isSentBack(key);
  let goesBack = mayGoBack;
  let messageId: string | undefined;
  if (block !== undefined) {
    const found = await readResult(block, role);
    fault = found.fault ?? '';
    if (fault !== '' && !isOver) return undefined;
    goesBack = mayGoBack && fault !== '';
    if ('text' in found && !goesBack) {
      const given = call.agent === '' ? at.resultId : undefined;
      const id = given ?? resultId({ ...call, client: name }, found.text);
      // Labelled lines of the main conversation are its user's word: they go with its turn, as a result has none.
      const isTurnKept = call.agent === '' && given === undefined && at.turns !== false;
      const text = withResultId(found.text, id, {
        isGiven: given !== undefined,
        branch: at.branch,
        around: isTurnKept ? '' : block.around,
        shown: shownTo(agentOf(name, call.conversation), state),
      });
      messageId = `${at.session}:${id}`;
      const result = { kind: 'result', session: at.session, role: found.role, text, messageId } as const;
      unkept.push(...(await keepOrGive(result, tools)));
      noteTask(call, tools, taskIn(found.text), true);
      if (at.turns !== false) state.note(key, { reported: true });
    }
  }
  const isStored = block !== undefined && messageId !== undefined;
  if (isOver && !goesBack && (call.agent === '' || !isStored)) {
    const turn = await turnResult(call, isStored ? block.around : message, tools);
    if (turn !== undefined) unkept.push(...(await keepOrGive(turn, tools)));
    if (call.agent !== '') state.clearNotes(key);
  }
  return async () => {
    const refused = await flush(tools, await tools.connect(), unkept);
    if (mayGoBack && messageId !== undefined && refused.includes(messageId)) {
      goesBack = true;
      fault = state.recall(refusalKey(at.session)) ?? 'it was refused';
    }
    if (!goesBack || role === undefined) return undefined;
    // On a disk that takes no mark it would be sent back again and again: then not at all.
    state.markSentBack(key);
    return sentBackText(role, fault);
  };
}

async function readResult(block: ResultText, expected: Role | undefined): Promise<ReturnedResult> {
  const role = plainRole(block, expected);
  if (role !== undefined) return { role, text: block.text };
  // Schemas take longer to load than all else here: most results need none.
  const { returnedResult } = await import('./returned-result.js');
  return returnedResult(block, expected);
}
