import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REJECTED_STREAM, SERVICE_NAMES, token } from '../../src/contracts/names.js';
import { tracesOf } from '../../src/memory/session/session-state.js';
import { instancesOf } from '../../src/nats/doctor/service-findings.js';
import { allRejected } from '../support/all-rejected.js';
import { capturedLog } from '../support/captured-log.js';
import { cli, startCli } from '../support/cli.js';
import { newFolder, ofFile } from '../support/of-file.js';
import { TASKS_MD } from '../support/runs.js';
import { leaks, oneOfEach } from '../support/secrets.js';
import {
  allDealtWith,
  eventsOf,
  freshState,
  type System,
  soon,
  startPrivateSystem,
  startSystem,
} from '../support/system.js';

const SECRETS = oneOfEach();
const PASSWORD = 'q7hunter2hunter2';

/** A text with secret number `index` in it; they come round again. */
function secretText(index: number): string {
  return `found ${SECRETS[index % SECRETS.length]?.text}\nin the file`;
}

/** Which of the secrets can be read in a text, in JSON or plain. */
function readable(text: string): string[] {
  const plain = text.replaceAll('\\n', '\n').replaceAll('\\"', '"');
  return SECRETS.filter(({ secret }) => leaks(text, secret) || leaks(plain, secret)).map(
    ({ text: found }) => found,
  );
}

let next = 0;
const another = () => {
  next += 1;
  return secretText(next);
};

function implementerBody() {
  return {
    task_id: '1',
    status: 'completed',
    summary: another(),
    files_modified: [another()],
    tests: [{ command: another(), passed: false, failures: [another(), another()] }],
    follow_up_actions: [another()],
    blockers: [another(), another()],
    extra: { deep: [another()] },
    [another()]: true,
  };
}

function reviewerBody() {
  return {
    task_id: '1',
    assessment: 'needs_changes',
    strengths: [another()],
    required_fixes: [another(), another()],
    issues: [{ severity: 'critical', file: another(), message: another(), fix: another() }],
  };
}

/** Sends secrets in every field of every request and dispatch, good ones and bad ones. */
async function sendEverything({ client, ports }: System, session: string, file: string): Promise<string[]> {
  const { tools } = client;
  const bad: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    await ports.source.publish(
      `dispatch.${session}.implementer`,
      Buffer.from(JSON.stringify(implementerBody())),
    );
    const raw = `Here:\nBEGIN_DISPATCH_RESULT\n${JSON.stringify(reviewerBody())}\nEND_DISPATCH_RESULT ${another()}`;
    await ports.source.publish(`dispatch.${session}.reviewer`, Buffer.from(raw));
  }
  for (const { text } of SECRETS) {
    bad.push(
      JSON.stringify({ task_id: '1', status: text, summary: text }),
      JSON.stringify({ task_id: '1', status: text, summary: 7, files_modified: text }),
      `{"task_id": ${text}`,
      `${text.slice(0, 18)}`,
      `{"task_id":"1","status":"unclear","summary":"${text}`,
      text,
    );
    // Read all the same: mended, and with a list and a text made of other things.
    const mended = `{'task_id': '1', 'status': 'done', 'summary': ["${text.replaceAll('\\', '').replaceAll('"', "'")}"], 'notes': None, }`;
    await ports.source.publish(`dispatch.${session}.implementer`, Buffer.from(mended));
    const repaired = { task_id: '1', status: 'done', blockers: [text], files_modified: { [text]: text } };
    await ports.source.publish(`dispatch.${session}.implementer`, Buffer.from(JSON.stringify(repaired)));
  }
  for (const body of bad) await ports.source.publish(`dispatch.${session}.implementer`, Buffer.from(body));
  for (let each = 0; each < SECRETS.length; each += 1) {
    await tools.noteAdd({ session, content: another() });
    await tools.inboxAdd({ session, content: another() });
    await tools.taskAdd({ session, content: `${each}: ${another()}` });
  }
  await tools.taskContent({ session, id: '1', content: another() });
  await tools.taskStatus({ session, id: '1', status: 'blocked', reason: another() });
  await tools.taskNext({ session, claim: another().slice(0, 120) });
  await tools.noteEdit({ session, id: '1', content: another() });
  await tools.iterationStart({ session });
  await tools.iterationSummary({ session, summary: another() });
  await tools.sessionOpen({ session, goal: another(), spec: another(), specPath: another() });
  await client.runs.init({ session, spec: 'parser', goal: another(), tasksPath: file });
  await client.runs.init({
    session,
    spec: 'parser',
    goal: another(),
    tasksText: `${TASKS_MD}- [ ] 9. ${another()}\n`,
  });
  const entry = () => ({
    intent_id: 'INT-1',
    action_type: 'TOOL_EXECUTION' as const,
    state: 'ACTION' as const,
    payload: { tool_name: 'bash', target_files: [another()], command: another(), reasoning: another() },
    result: { status: 'FAILURE' as const, output_summary: another(), error_message: another() },
  });
  await client.traces.append({ session, entries: Array.from({ length: 25 }, entry) });
  const wrong: [string, object][] = SECRETS.flatMap(({ text }): [string, object][] => [
    ['tool.task-add', { session, content: 'x', status: text }],
    ['tool.task-status', { session, id: text, status: 'completed' }],
    ['tool.note-add', { session: text, content: 'x' }],
    ['trace.append', { session, entries: [{ intent_id: text, action_type: text }] }],
    ['run.init', { session, spec: 'x', tasksText: text }],
    ['prompt.compile', { session, taskId: '1', taskPrompt: text, role: text, kind: text }],
  ]);
  for (const [subject, request] of wrong) await client.request(subject, request).catch(() => {});
  await client.tools.sessionComplete({ session, force: true, reason: another() });
  await client.tools.sessionRestart({ session, reason: another() });
  return bad;
}

const folder = await ofFile(newFolder());

describe('secrets that agents send', () => {
  const log = capturedLog();
  const session = token('secrets', 'session');
  let system: System;
  let bad: string[];
  beforeAll(async () => {
    const file = await folder.write(
      'tasks.md',
      `${TASKS_MD}${SECRETS.map(({ text }, at) => (text.includes('\n') ? '' : `- [ ] ${at + 10}. ${text}\n`)).join('')}`,
    );
    system = await startSystem({ logger: log.logger, env: { THROUGHLINE_TASKS_ROOTS: folder.path } });
    bad = await sendEverything(system, session, file);
    await allDealtWith(system.ports);
    await soon(async () => {
      expect(tracesOf(await freshState(system, session)).intents.get('INT-1')?.total).toBe(25);
    });
  });
  afterAll(() => system.stop());

  it('secrets that agents send stand in no event, though everything was appended', async () => {
    const events = await eventsOf(system, session);
    const text = events.map(({ event }) => JSON.stringify(event)).join('\n');
    expect(readable(text)).toEqual([]);
    expect(new Set(events.map(({ event }) => event.type)).size).toBeGreaterThan(15);
    expect(text.match(/<redacted:[a-z0-9-]+>/g)?.length).toBeGreaterThan(200);
    expect(events.filter(({ event }) => event.type === 'dispatch.rejected')).toHaveLength(bad.length);
  });

  it('secrets that agents send stand in no prompt and in no answer of a tool', async () => {
    const { client } = system;
    const dispatch = await client.compile({
      session,
      taskId: '1',
      taskPrompt: 'go on',
      activeIntentId: 'INT-1',
      maxFacts: 50,
      maxTokens: 5000,
    });
    const iteration = await client.compile({ kind: 'iteration', session, activeIntentId: 'INT-1' });
    const answers = [
      dispatch,
      iteration,
      await client.runs.status({ session }),
      await client.traces.compact({ session, intentId: 'INT-1' }),
    ];
    expect(readable(JSON.stringify(answers))).toEqual([]);
    expect(dispatch.prompt).toContain('<redacted:');
  });

  it('secrets that agents send stand in no log line, and the log counts them by rule', () => {
    expect(readable(log.lines.join(''))).toEqual([]);
    expect(log.lines.length).toBeGreaterThan(100);
    for (const line of log.lines) expect(() => JSON.parse(line)).not.toThrow();
    expect(log.lines.join('')).toContain('secrets taken out of a dispatch');
    expect(log.lines.join('')).toContain('"redacted":{"');
  });

  it('secrets that agents send are counted in the statistics of the service', async () => {
    const { connection } = system.ports;
    const instances = await instancesOf(connection, SERVICE_NAMES.tools, 5000);
    const stats = instances.flatMap(({ endpoints = [] }) => endpoints.map(({ data }) => data));
    expect(stats).toContainEqual({ redacted: expect.objectContaining({ github: expect.any(Number) }) });
    expect(readable(JSON.stringify(stats))).toEqual([]);
  });

  it('secrets that agents send stay in what was rejected, byte for byte, and in no reason', async () => {
    const entries = await allRejected(system.ports.rejected);
    expect(entries.map(({ id }) => id)).toHaveLength(bad.length);
    expect(readable(entries.map(({ reason }) => reason).join('\n'))).toEqual([]);
    const bodies = await Promise.all(entries.map(({ id }) => system.ports.rejected.get(id)));
    expect(bodies.map((each) => Buffer.from(each?.body ?? []).toString())).toEqual(bad);
    const jsm = await system.ports.connection.jetstreamManager();
    expect((await jsm.streams.info(REJECTED_STREAM)).state.messages).toBe(bad.length);
  });
});

describe('with THROUGHLINE_REDACT=off', () => {
  it('secrets are not logged even with THROUGHLINE_REDACT=off', () => {
    const { logger, lines } = capturedLog({ THROUGHLINE_REDACT: 'off' });
    for (const { text } of SECRETS)
      logger.warn({ reason: text, err: new Error(text), list: [{ text }] }, text);
    expect(lines).toHaveLength(SECRETS.length);
    expect(readable(lines.join(''))).toEqual([]);
  });

  it('secrets are kept as they came with THROUGHLINE_REDACT=off', async () => {
    await using system = await startSystem({ env: { THROUGHLINE_REDACT: 'off' } });
    await system.client.tools.noteAdd({ session: 'open', content: secretText(3) });
    const [only] = await eventsOf(system, 'open');
    expect(JSON.stringify(only?.event)).toContain(JSON.stringify(secretText(3)).slice(1, -1));
  });
});

describe('a password in the URL of the server', () => {
  it('a password in the server’s URL is never printed by a command when no server answers', async () => {
    const env = {
      NATS_URL: `nats://deploy:${PASSWORD}@127.0.0.1:1,nats://deploy:${PASSWORD}@127.0.0.1:2`,
      THROUGHLINE_LOG_LEVEL: 'trace',
    };
    for (const command of ['admin serve', 'tool task-list --session demo', 'up', 'session ls']) {
      const { code, stdout, stderr } = await cli(command.split(' '), { env });
      expect(code).toBe(1);
      expect(stderr).toContain('127.0.0.1');
      expect(leaks(stdout + stderr, PASSWORD)).toBe(false);
    }
  });

  it('a password in the server’s URL is never printed by running services', async () => {
    await using system = await startPrivateSystem({ only: [] });
    const url = system.url.replace('//', `//deploy:${PASSWORD}@`);
    await using running = await startCli(['admin', 'serve'], {
      NATS_URL: url,
      THROUGHLINE_LOG_LEVEL: 'trace',
    });
    await system.client.tools.noteAdd({ session: 'demo', content: `see ${url}` });
    expect(leaks(JSON.stringify(await eventsOf(system, 'demo')), PASSWORD)).toBe(false);
    await running.stop();
    expect(running.stderr()).toContain('secrets taken out of a request');
    expect(leaks(running.readyLine + running.stderr(), PASSWORD)).toBe(false);
  });
});
