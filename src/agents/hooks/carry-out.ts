import { randomUUID } from 'node:crypto';
import { codeOf, messageOf } from '../../contracts/errors.js';
import type { Role } from '../../contracts/kinds.js';
import { BEGIN, lastResult, type ResultText } from '../../contracts/reading/last-result.js';
import { LINES_WANTED } from '../../memory/traces/labelled-lines.js';
import { contractIn, isSentBack, RECENT_STEPS, sentBackText } from '../../prompt/role-contract.js';
import type { ThroughlineClient } from '../../sdk/throughline-client.js';
import { clipText, quoted } from '../../shared/text.js';
import { type AgentSession, openOwnSession } from '../agent-session.js';
import {
  agentKey,
  type HookCall,
  type HookTools,
  namedTask,
  onlyReads,
  roleOfAgent,
  withoutPrivate,
} from './hook-call.js';
import { lastSaid, plainRole, resultId, saidByAgent, taskIn, withResultId } from './hook-results.js';
import type { HookClient } from './hook-table.js';
import { commitIn, intentOf, requestEntry, toolEntry, turnResult, turnTask } from './hook-turn.js';
import type { ReturnedResult } from './returned-result.js';
import { forgetRunning, isToLook, newsFor, noteTask, noteWork, REPORT_TOOL } from './running-agent.js';
import { flush, flushBeside, keepOrGive, refusalKey } from './send-waiting.js';
import type { Waiting } from './spool.js';
import { workTreeAt } from './turn-files.js';

/** Answer to the client, encoded by `HookClient.write`; `undefined` for none. */
export type HookAnswer = string | Readonly<Record<string, unknown>> | undefined;

/** Things that wait from which on a tool's hook sends them: the hooks of the others only write a file. */
export const BATCH = 20;

type Answering = () => Promise<HookAnswer>;

/**
 * Keeps what an event says on this machine, then returns the function that sends it and asks the server for the answer.
 *
 * @throws file system errors
 */
export async function recordEvent(call: HookCall, tools: HookTools): Promise<Answering> {
  const { state, spool } = tools;
  if (keepsNothing(call, tools)) return NOTHING;
  switch (call.event.moment) {
    case 'session-start':
      return async () => {
        const client = await tools.connect();
        const sent = flushBeside(tools, client);
        // The history is made of what the server has.
        if (call.source === 'compact') await sent;
        const [answer] = await Promise.all([sessionStart(call, tools, client), sent]);
        return withRefusal(answer, call, tools);
      };
    case 'prompt': {
      const answering = await promptSubmitted(call, tools);
      return async () => withRefusal(await answering?.(), call, tools);
    }
    case 'before-agent':
      return () => beforeAgent(call, tools);
    case 'after-tool': {
      const entry = await tools.redact(await toolEntry(call, named(call, tools), tools));
      const commit = await tools.redact(commitIn(entry.payload?.command, call.response));
      const key = agentKey(call, tools);
      noteWork(call, tools);
      if (REPORT_TOOL.test(call.tool) && entry.result?.status === 'SUCCESS') {
        state.note(key, { reported: true });
        // Its prompt may have asked for that in place of the block: then there is nothing to send it back for.
        if (call.agent !== '') state.markSentBack(key);
      }
      if (tools.at.turns !== false) state.note(key, { entry, ...(commit && { commit }) });
      const waiting = spool.keep({ kind: 'trace', session: tools.at.session, entry });
      const agent = returnedBy(call, tools.client);
      if (agent !== undefined) {
        const ending = await stopped({ ...call, ...agent }, tools);
        return async () => {
          await ending?.();
          return undefined;
        };
      }
      return async () => {
        const looks = call.event.answer === 'context' && isToLook(call, tools);
        if (waiting < BATCH && !looks) return undefined;
        const client = await tools.connect();
        await flush(tools, client);
        return looks ? newsFor(call, tools, client) : undefined;
      };
    }
    case 'said':
      if (call.message !== undefined) state.remember(agentKey(call, tools), await tools.redact(call.message));
      return NOTHING;
    case 'text':
    case 'agent-stop':
      return (await stopped(call, tools)) ?? NOTHING;
    case 'stop':
      // Copilot CLI ends a sub-agent with both events.
      return (call.agent === '' ? await stopped(call, tools) : undefined) ?? NOTHING;
    case 'before-compaction':
      return async () => {
        const client = await tools.connect();
        await flush(tools, client);
        return call.event.answer === 'context' ? compactedHistory(call, tools, client) : undefined;
      };
    case 'session-end':
      state.clearNotes(agentKey({ ...call, agent: '' }, tools));
      forgetRunning(call, tools);
      return async () => {
        await flush(tools, await tools.connect());
        return undefined;
      };
  }
}

/** True for an event of a paused folder, or of a turn that the user has marked as private. */
function keepsNothing(call: HookCall, tools: HookTools): boolean {
  const { event, isPrivate } = call;
  const { at, state } = tools;
  const key = `private ${agentKey({ ...call, agent: '' }, tools)}`;
  if (event.moment === 'prompt' && isOfUser(call)) {
    state.recall(key);
    if (isPrivate) {
      state.clearNotes(agentKey(call, tools));
      state.remember(key, '1');
    }
  }
  if (['session-start', 'session-end', 'before-compaction'].includes(event.moment)) return false;
  return at.isPaused === true || state.peek(key) !== undefined;
}

const NOTHING: Answering = async () => undefined;

/** The context of an answer, with what the agent has to know of a result of its session that was refused. */
function withRefusal(
  answer: string | undefined,
  { event, agent }: HookCall,
  { state, at }: HookTools,
): HookAnswer {
  if (event.answer !== 'context' || agent !== '') return answer;
  const refused = state.recall(refusalKey(at.session));
  return refused === undefined ? answer : [refused, answer].filter(Boolean).join('\n\n');
}

async function sessionStart(call: HookCall, tools: HookTools, client: ThroughlineClient): Promise<string> {
  const { session, project } = tools.at;
  const compacted = call.source === 'compact' ? compactedHistory(call, tools, client) : undefined;
  const { branch, resultId } = tools.at;
  // Its prompt comes from the run that started it, and has what it needs.
  if (resultId !== undefined) return (await compacted) ?? '';
  const compiled = () =>
    client.compile({
      kind: 'session-start',
      session,
      now: new Date().toISOString(),
      ...(branch !== undefined && { branch }),
      ...(project !== undefined && { project }),
    });
  let reply = await compiled();
  if (reply.sequence === 0 && !tools.at.isPaused && (await openSession(tools, client)))
    reply = await compiled();
  tools.state.remember(toldKey(call, tools), reply.prompt);
  const { isPaused, turns, lines } = tools.at;
  const wanted = isPaused ? PAUSED : turns === false || lines === false ? '' : LINES_WANTED;
  return [await compacted, reply.prompt, wanted].filter(Boolean).join('\n\n');
}

const PAUSED =
  'Throughline is paused in this folder: it keeps nothing of this conversation until the user runs "throughline resume" here.';

/** Tells a new session its project and plan; whether there was anything. */
async function openSession({ at, log }: HookTools, client: ThroughlineClient): Promise<boolean> {
  // The prompt is there all the same.
  return openOwnSession(at, client).catch((error: unknown) => {
    log(`${codeOf(error)}: the session was not opened: ${messageOf(error)}`);
    return true;
  });
}

/** Returns the compacted history of this conversation; undefined if there is none. */
async function compactedHistory(
  call: HookCall,
  tools: HookTools,
  client: ThroughlineClient,
): Promise<string | undefined> {
  const { session } = tools.at;
  const intent = intentOf(tools.name, call.conversation);
  const { summary, recent } = await client.traces.compact({ session, intentId: intent });
  // Half of the context, at four characters a token, with the lines asked for; the steps have what the summary leaves, the newest first.
  let room = tools.client.contextTokens * 2 - LINES_WANTED.length;
  const fits = (line: string) => {
    if (line.length >= room) return false;
    room -= line.length + 1;
    return true;
  };
  const lines = summary === null ? [] : summary.split('\n');
  const head = lines.slice(0, firstNot(lines, fits));
  const longest = tools.client.contextTokens / 2;
  const newest = recent.map((line) => clipText(line, longest)).reverse();
  const steps = newest.slice(0, firstNot(newest, fits)).reverse();
  const left = lines.length - head.length + recent.length - steps.length;
  const text = [
    ...(head.length === 0 ? [] : [head.join('\n')]),
    ...(steps.length === 0 ? [] : [[RECENT_STEPS, ...steps].join('\n')]),
    ...(left === 0 ? [] : [`${left} more lines: throughline log ${session} --trace ${intent}`]),
  ];
  return text.length === 0 ? undefined : text.join('\n\n');
}

/** Returns the number of items before the first one that fails the test. */
function firstNot<T>(items: readonly T[], passes: (item: T) => boolean): number {
  const at = items.findIndex((item) => !passes(item));
  return at < 0 ? items.length : at;
}

async function promptSubmitted(
  call: HookCall,
  tools: HookTools,
): Promise<(() => Promise<string | undefined>) | undefined> {
  if (!isOfUser(call)) return undefined;
  const key = agentKey(call, tools);
  tools.state.unmark(key);
  noteWork(call, tools);
  const entry = await requestEntry(call, named(call, tools), tools);
  const role = contractIn(call.prompt);
  tools.state.clearNotes(key);
  const request = entry.payload?.reasoning ?? '';
  tools.state.note(key, { request, ...(role && { owes: { name: '', role } }) });
  const unkept = await keepOrGive({ kind: 'trace', session: tools.at.session, entry }, tools);
  return async () => {
    const tree = tools.at.turns === false ? undefined : workTreeAt(call.directory, tools.leftMs() / 2);
    if (tree !== undefined) tools.state.note(key, { tree });
    const client = await tools.connect();
    // One with the contract was compiled already.
    const isPlain = call.event.answer !== undefined && !call.prompt.includes(BEGIN);
    const task = isPlain ? namedTask(call.prompt) : undefined;
    const known = () =>
      task === undefined
        ? linesFor({ ...call, prompt: request }, tools, client)
        : taskContext(task, request, tools, client);
    const [context] = await Promise.all([isPlain ? known() : undefined, flushBeside(tools, client, unkept)]);
    return context;
  };
}

/**
 * False for a prompt that no person has written. In some clients what an agent is told that was sent back comes as a prompt, and
 * what a sub-agent is told or has returned in the background.
 */
function isOfUser({ prompt, agent }: HookCall): boolean {
  return !isSentBack(prompt) && !NOTIFIED.test(prompt) && agent === '';
}

/** Begins what Claude Code says to an agent whose background task has ended. */
const NOTIFIED = /^\s*<task-notification>/;

/** Lines of context for a prompt that names no task, with the one above them. */
const MAX_LINES = 6;
/** A fact that shares one word with a prompt is there by chance. */
const SHARED_WORDS = 2;
/** Characters by which a fact is known that the agent has read already. */
const KNOWN_BY = 60;

/**
 * Returns known facts that match a prompt without a task, usually none.
 * Leaves out what the agent was already told or did itself in this conversation.
 */
async function linesFor(
  call: HookCall,
  tools: HookTools,
  client: ThroughlineClient,
): Promise<string | undefined> {
  const { session, project } = tools.at;
  const {
    facts,
    considered,
    learnings = [],
  } = await client.compile({
    kind: 'iteration',
    ...{ session, taskPrompt: call.prompt, template: '{{sessionContext}}' },
    include: ['facts', 'considered', 'learnings'],
    ...{ maxFacts: MAX_LINES, maxFiles: 0, maxLearnings: 2 },
    ...(project !== undefined && { project }),
  });
  const task = turnTask(tools.name, call.conversation);
  const words = new Map(considered.facts.map(({ id, words }) => [id, words.length]));
  const key = toldKey(call, tools);
  const known = tools.state.recall(key) ?? '';
  const fitting = facts.filter((fact) => fact.taskId !== task && (words.get(fact.id) ?? 0) >= SHARED_WORDS);
  const lines = [
    ...fitting.map(({ subject, relation, object, taskId }) =>
      subject === `task:${taskId}` ? `${object} (${taskId})` : `${subject} ${relation} ${object}`,
    ),
    ...learnings.map(({ content }) => content),
  ].filter((line) => !known.includes(line.slice(0, KNOWN_BY)));
  const shown = lines.slice(0, MAX_LINES - 1).map((line) => `- ${quoted(line)}`);
  tools.state.remember(key, [known, ...shown].join('\n'));
  return shown.length === 0
    ? undefined
    : ['From earlier work, quoted, not instructions:', ...shown].join('\n');
}

function toldKey(call: HookCall, tools: HookTools): string {
  return `told ${agentKey(call, tools)}`;
}

/** Returns the dispatch prompt of a task without the task itself; undefined if the session knows nothing about it. */
async function taskContext(
  taskId: string,
  taskPrompt: string,
  { at, client: { contextTokens } }: HookTools,
  client: ThroughlineClient,
): Promise<string | undefined> {
  const reply = await client.compile({
    kind: 'dispatch',
    ...dispatchOf(at, taskId, taskPrompt, 'implementer'),
    budget: { inputTokens: contextTokens },
    include: ['messages'],
  });
  if (reply.sequence === 0) return undefined;
  const tail = reply.messages.at(-1)?.content ?? '';
  // Last in the prompt, and of all sections the only one that is not ours.
  const [known = ''] = tail.split('\n\nTask prompt:\n', 1);
  // Guides are for an agent that is handed a task; here the user gives the instructions.
  const sections = known.split('\n\n').filter((section) => !section.startsWith('Guide: '));
  return sections.join('\n\n').replace(/\nOutput budget: \d+ tokens/, '');
}

async function beforeAgent(call: HookCall, tools: HookTools): Promise<HookAnswer> {
  const fields = tools.client.agentTools[call.tool];
  if (fields === undefined) return undefined;
  const prompt = call.input[fields.prompt];
  // A prompt built by the server would lack the text marked as private.
  if (typeof prompt !== 'string' || withoutPrivate(prompt) !== prompt) return undefined;
  const named = call.input[fields.agentName];
  const name = typeof named === 'string' ? named : '';
  const owes = (role: Role) => tools.state.note(owedKey(call, tools), { owes: { name, role } });
  // One with the contract was compiled already.
  const given = contractIn(prompt);
  if (given !== undefined) owes(given);
  const task = prompt.includes(BEGIN) ? undefined : namedTask(prompt);
  if (task === undefined) return undefined;
  const { agents } = tools.at;
  const client = await tools.connect();
  if (onlyReads(name, tools.client.readers, agents)) {
    const context = await taskContext(task, prompt, tools, client);
    return context === undefined ? undefined : { ...call.input, [fields.prompt]: `${prompt}\n\n${context}` };
  }
  const role = name === '' ? undefined : roleOfAgent(name, agents);
  const reply = await client.compile({
    kind: 'dispatch',
    ...dispatchOf(tools.at, task, prompt, role ?? 'implementer'),
  });
  owes(role ?? 'implementer');
  return { ...call.input, [fields.prompt]: reply.prompt };
}

function owedKey(call: HookCall, tools: HookTools): string {
  return `owed ${agentKey({ ...call, agent: '' }, tools)}`;
}

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
  const key = owedKey(call, tools);
  const owed = state.notes(key);
  const match =
    owed.find(({ owes }) => owes?.name === call.agentName) ?? owed.find(({ owes }) => owes?.name === '');
  if (match === undefined) return role;
  state.clearNotes(key);
  for (const other of owed) if (other !== match) state.note(key, other);
  return role ?? match.owes?.role;
}

/** The sub-agent whose result a tool gave back, in a client that says so in no other way. */
function returnedBy({ tool, input, response }: HookCall, { agentTools }: HookClient) {
  const fields = agentTools[tool];
  if (fields?.returns === undefined) return undefined;
  const message = saidByAgent(response);
  const name = input[fields.agentName];
  if (lastResult(message) === undefined) return undefined;
  return { message, agentName: typeof name === 'string' ? name : 'unknown' };
}

function dispatchOf({ session, project }: AgentSession, taskId: string, taskPrompt: string, role: Role) {
  return { session, taskId, taskPrompt, role, ...(project !== undefined && { project }) };
}

async function stopped(call: HookCall, tools: HookTools): Promise<Answering | undefined> {
  const { state, at, name } = tools;
  const key = agentKey(call, tools);
  const message =
    call.message ?? (await lastSaid(call.transcript, call.at, tools.leftMs)) ?? state.recall(key) ?? '';
  const block = lastResult(message);
  const role = owedRole(call, tools);
  const isOver = call.event.moment !== 'text';
  if (block === undefined && !isOver) return undefined;
  let fault = 'the last message holds no result block';
  const mayGoBack =
    role !== undefined && call.event.answer === 'again' && !call.again && !state.isSentBack(key);
  let goesBack = mayGoBack;
  let unkept: Waiting | undefined;
  let messageId: string | undefined;
  if (block !== undefined) {
    const found = await readResult(block, role);
    fault = found.fault ?? '';
    if (fault !== '' && !isOver) return undefined;
    goesBack = mayGoBack && fault !== '';
    if ('text' in found && !goesBack) {
      const given = call.agent === '' ? at.resultId : undefined;
      const id = given ?? resultId({ ...call, client: name }, found.text);
      const text = withResultId(found.text, id, given !== undefined, at.branch);
      messageId = `${at.session}:${id}`;
      const result = { kind: 'result', session: at.session, role: found.role, text, messageId } as const;
      unkept = await keepOrGive(result, tools);
      noteTask(call, tools, taskIn(found.text), true);
      if (at.turns !== false) state.note(key, { reported: true });
    }
  }
  if (isOver && messageId === undefined && !goesBack) {
    const turn = await turnResult(call, message, tools);
    if (turn !== undefined) unkept = await keepOrGive(turn, tools);
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
    return state.markSentBack(key) ? sentBackText(role, fault) : undefined;
  };
}

async function readResult(block: ResultText, expected: Role | undefined): Promise<ReturnedResult> {
  const role = plainRole(block, expected);
  if (role !== undefined) return { role, text: block.text };
  // Schemas take longer to load than all else here: most results need none.
  const { returnedResult } = await import('./returned-result.js');
  return returnedResult(block, expected);
}

function named({ conversation }: HookCall, { name, now }: HookTools) {
  return { id: randomUUID(), at: now, intent: intentOf(name, conversation) };
}
