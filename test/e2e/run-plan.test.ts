import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { runPlan } from '../../src/work/run-plan.js';
import type { AgentAnswer, RunPlanEvent, RunPlanOptions } from '../../src/work/run-types.js';
import { taskLeases } from '../../src/work/session-tasks.js';
import { newFolder, ofFile } from '../support/of-file.js';
import { answerOf, type Script, scriptedAgents } from '../support/scripted-agents.js';
import { newSession, soon, systemOfFile } from '../support/system.js';

/** `runPlan` with agents in this process, on real services. */

const folder = await ofFile(newFolder());
const system = await systemOfFile({ env: { THROUGHLINE_TASKS_ROOTS: folder.path } });

const PLAN = `# Parser

- [x] 1. Set up the project
- [ ] 2. Write the parser
  - [ ] 2.1 Expressions
  - [ ] 2.2 Statements
`;

type Given = Omit<RunPlanOptions, 'client' | 'plan' | 'implementer'> & { readonly script?: Script };

async function prepared(name: string, { script, ...options }: Given = {}, text = PLAN) {
  const session = newSession(name);
  const plan = await folder.write(`${session}.md`, text);
  const events: RunPlanEvent[] = [];
  const agents = scriptedAgents(script);
  const { implementer, reviewer } = agents;
  const onEvent = (event: RunPlanEvent) => void events.push(event);
  const given = { client: system.client, plan, session, patienceMs: 20_000, implementer, reviewer, onEvent };
  const run = (more: Partial<RunPlanOptions> = {}) => runPlan({ ...given, ...options, ...more });
  return { session, plan, events, agents, run, text: () => readFile(plan, 'utf8') };
}

/** The results of a session that count, as `task role verdict`, the oldest first. */
async function resultsOf(session: string): Promise<string[]> {
  const { entries } = await system.client.tools.timelineList({ session, kinds: ['result'], limit: 500 });
  const counts = await Promise.all(
    entries.map(async ({ dispatch = 0 }) => {
      const { status } = await system.client.tools.dispatchShow({ session, dispatch });
      return status !== 'repeated';
    }),
  );
  return entries
    .filter((_, index) => counts[index])
    .map(({ task, role, verdict }) => `${task} ${role} ${verdict}`)
    .reverse();
}

async function leased(name: string, beatMs?: number) {
  const session = newSession(name);
  await system.client.runs.init({
    session,
    spec: name,
    tasksPath: await folder.write(`${session}.md`, PLAN),
  });
  const leases = taskLeases((ask) => ask(system.client), session, { holder: 'the first' }, beatMs);
  const lease = await leases('2.1');
  if (!('lost' in lease)) throw new Error('the lease was free');
  return { session, lease };
}

/** Gives a claim to another run, as one does that knows that the first has ended. */
async function takenOver(other: { readonly session: string; readonly id: string; readonly claim: string }) {
  const { tools } = system.client;
  await soon(async () => {
    // A heartbeat of the first may come in between.
    await tools.taskRelease({ ...other, claim: 'the first' }).catch(() => {});
    expect(await tools.taskNext(other)).toMatchObject({ plan: { claimed_by: other.claim } });
  });
}

describe('runPlan', () => {
  it('takes each open task through work and review, and ends when the plan is done', async () => {
    const { session, agents, run, text } = await prepared('plain');
    const summary = await run();
    expect(agents.asked()).toEqual([
      ...['2.1 implementer 1', '2.1 reviewer 1'],
      ...['2.2 implementer 1', '2.2 reviewer 1'],
    ]);
    expect(summary).toMatchObject({ session, outcome: 'done', total: 3, done: 3, rounds: 2, findings: 0 });
    expect(await text()).toBe(PLAN);
    expect(await run()).toMatchObject({ outcome: 'done', tasks: [], rounds: 0 });
    expect(agents.calls).toHaveLength(4);
  });

  it('names a session after its plan, and refuses a second plan for it', async () => {
    const plan = await folder.write('unnamed-parser.md', '- [ ] 1. It\n');
    const { agents, run } = await prepared('unused');
    const { implementer, reviewer } = agents;
    const { client } = system;
    expect(await runPlan({ client, plan, implementer, reviewer })).toMatchObject({
      session: 'unnamed-parser',
    });
    await expect(run({ session: 'unnamed-parser' })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('unnamed-parser follows'),
    });
  });

  it('sends a plan that the service cannot read, and works on it all the same', async () => {
    await using outside = await newFolder();
    const plan = await outside.write('tasks.md', '- [ ] 1. It\n- [ ] 2. That\n');
    const { run, agents } = await prepared('outside', { tick: true });
    expect(await run({ plan })).toMatchObject({ outcome: 'done', done: 2 });
    expect(await readFile(plan, 'utf8')).toBe('- [x] 1. It\n- [x] 2. That\n');
    expect(agents.calls).toHaveLength(4);
  });

  it('works on the board of a session without a plan, in the order of its dependencies', async () => {
    const { session, agents } = await prepared('board');
    const { tools } = system.client;
    await tools.taskAdd({ session, content: 'The second' });
    await tools.taskAdd({ session, content: 'The first' });
    await tools.taskDepends({ session, id: 'TAS-1', dependsOn: ['TAS-2'] });
    const { implementer, reviewer } = agents;
    expect(await runPlan({ client: system.client, session, implementer, reviewer })).toMatchObject({
      outcome: 'done',
    });
    expect(agents.asked().filter((asked) => asked.includes('implementer'))).toEqual([
      'TAS-2 implementer 1',
      'TAS-1 implementer 1',
    ]);
    expect((await tools.taskList({ session })).tasks.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
    ]);
  });

  it('asks once more with the contract where no result came, and says so', async () => {
    const { session, events, agents, run } = await prepared('none', {
      script: {
        '2.1 implementer': ['none'],
        '2.1 reviewer': [{ text: answerOf({ task: '9', role: 'reviewer', round: 1 }, 'approved') }],
      },
    });
    expect(await run()).toMatchObject({ outcome: 'done' });
    const [first, second, review, again] = agents.calls;
    expect(second).toMatchObject({ task: '2.1', attempt: 2, resultId: first?.resultId });
    expect(second?.prompt).toContain('the last message does not end in a result block');
    expect(second?.prompt).toContain('I have done it, and it works.');
    expect(second?.messages.at(-1)?.content).toContain('BEGIN_DISPATCH_RESULT');
    expect(review?.role).toBe('reviewer');
    expect(again?.prompt).toContain('it is the result of task 9, and yours is 2.1');
    expect(events.filter((event) => event.type === 'call-ended' && event.fault !== undefined)).toHaveLength(
      2,
    );
    expect((await resultsOf(session)).slice(0, 2)).toEqual([
      '2.1 implementer completed',
      '2.1 reviewer approved',
    ]);
  });

  it('takes an agent without a result as failed work, and a reviewer without one to a person', async () => {
    const { session, run } = await prepared('silent', {
      script: { '2.1 implementer': ['none', 'none'], '2.1 reviewer': ['none', 'none'] },
    });
    expect(await run()).toMatchObject({
      outcome: 'needed',
      done: 1,
      tasks: [{ task: '2.1', outcome: 'needed' }],
    });
    expect(await resultsOf(session)).toEqual([
      ...['2.1 implementer failed', '2.1 implementer completed', '2.1 reviewer blocked'],
    ]);
    expect(await run()).toMatchObject({ outcome: 'needed', rounds: 0 });
    expect(await run({ again: true })).toMatchObject({ outcome: 'done', done: 3 });
  });

  it('ends at its limits: rounds, tokens and cost', async () => {
    const script = { '2.1 reviewer': ['needs_changes', 'needs_changes'] };
    const rounds = await prepared('rounds', { script, maxRounds: 2 });
    expect(await rounds.run()).toMatchObject({ outcome: 'limit', rounds: 2 });
    expect(await rounds.run({ maxRounds: 3 })).toMatchObject({ outcome: 'done' });
    const used = (task: string): AgentAnswer => ({
      text: answerOf({ task, role: 'implementer', round: 1 }, 'completed'),
      tokens: 600,
      cost: 0.2,
    });
    const costly = { '2.1 implementer': [used('2.1')], '2.2 implementer': [used('2.2')] };
    const tokens = await prepared('tokens', { script: costly, maxTokens: 500 });
    expect(await tokens.run()).toMatchObject({
      outcome: 'limit',
      tokens: 600,
      why: '600 of 500 tokens are used',
    });
    const cost = await prepared('cost', { script: costly, maxCost: 0.4 });
    expect(await cost.run()).toMatchObject({ outcome: 'limit', cost: 0.4, done: 2 });
  });

  it('takes a check that fails as a finding', async () => {
    const passes = [false, true, true];
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    const check = async () => ({
      passed: passes.shift() ?? true,
      command: 'npm test',
      // Its end is a finding: where that begins stands a secret.
      output: `${secret} expected 3, got 4 ${'x '.repeat(180)}`,
    });
    const named = Object.assign(check, { command: 'npm test' });
    const { session, agents, run } = await prepared('check', { check: named });
    expect(await run()).toMatchObject({ outcome: 'done', findings: 1 });
    // A check that fails spares the review.
    expect(agents.asked().slice(0, 3)).toEqual(['2.1 implementer 1', '2.1 implementer 2', '2.1 reviewer 2']);
    expect(agents.calls[0]?.prompt).toContain('This command judges the work: npm test (it must pass)');
    expect(agents.calls[1]?.prompt).toContain('expected 3, got 4');
    expect(agents.calls[1]?.prompt).not.toContain('a1B2a1B2');
    expect((await resultsOf(session))[1]).toBe('2.1 reviewer needs_changes');
  });

  it('stops the step of a task whose lease another run has taken, publishes nothing of it, and goes on after that one', async () => {
    const run = { holder: 'the first' };
    const { session, agents, events, run: first } = await prepared('lost', { run });
    const { tools } = system.client;
    const other = { session, id: '2.1', claim: 'the second' };
    let calls = 0;
    const implementer: RunPlanOptions['implementer'] = async (call) => {
      calls += 1;
      if (calls === 1) await takenOver(other);
      return agents.implementer(call);
    };
    const running = first({ implementer });
    await soon(() => {
      const notes = events.flatMap((event) => (event.type === 'note' ? [event.message] : []));
      expect(notes).toContainEqual(expect.stringMatching(/2\.1 is being worked on by the second since /));
    });
    expect(await tools.taskNext(other)).toMatchObject({ plan: { claimed_by: 'the second' } });
    await tools.taskRelease(other);
    expect(await running).toMatchObject({ outcome: 'done', done: 3 });
    // The task that the other run had comes last, and no result of the step that was stopped counts.
    expect((await resultsOf(session)).sort()).toEqual([
      ...['2.1 implementer completed', '2.1 reviewer approved'],
      ...['2.2 implementer completed', '2.2 reviewer approved'],
    ]);
    expect(calls).toBe(3);
  });

  it('tells at its next heartbeat that another run has its lease', async () => {
    const { tools } = system.client;
    const { session, lease } = await leased('beat', 50);
    const fired = new Promise<void>((resolve) => lease.lost.addEventListener('abort', () => resolve()));
    const other = { session, id: '2.1', claim: 'the second' };
    await expect(tools.taskNext(other)).rejects.toMatchObject({ code: 'conflict' });
    await takenOver(other);
    await fired;
    await expect(lease.confirm()).rejects.toMatchObject({ code: 'conflict' });
    await lease.release();
    expect(await tools.taskNext(other)).toMatchObject({ plan: { claimed_by: 'the second' } });
  });

  it('takes a lease that another run has had in between for lost, and gives it back', async () => {
    const { tools } = system.client;
    const { session, lease } = await leased('lapsed');
    await lease.confirm();
    const other = { session, id: '2.1', claim: 'the second' };
    await takenOver(other);
    await tools.taskRelease(other);
    await expect(lease.confirm()).rejects.toMatchObject({ code: 'conflict' });
    expect(lease.lost.aborted).toBe(true);
    await lease.release();
    expect(await tools.taskNext(other)).toMatchObject({ plan: { claimed_by: 'the second' } });
  });

  it('begins no step of a task whose lease another run has taken between two steps', async () => {
    const { session, agents, run } = await prepared('between', { run: { holder: 'the first' } });
    const { tools } = system.client;
    const other = { session, id: '2.1', claim: 'the second' };
    let [taken, isHeldByOther] = [false, false];
    const onEvent = async (event: RunPlanEvent) => {
      if (event.type === 'note' && event.message.includes('the second')) {
        isHeldByOther = false;
        await tools.taskRelease(other);
      }
    };
    // Between two steps the run reads its tasks.
    const status: typeof system.client.runs.status = async (asked) => {
      if (agents.calls.length === 1 && !taken) {
        taken = true;
        isHeldByOther = true;
        await takenOver(other);
      }
      return system.client.runs.status(asked);
    };
    const client = new Proxy(system.client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'runs') return { init: target.runs.init, status };
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const askedMeanwhile: string[] = [];
    const reviewer: RunPlanOptions['reviewer'] = async (call) => {
      if (isHeldByOther) askedMeanwhile.push(call.task);
      return agents.reviewer(call);
    };
    expect(await run({ client, reviewer, onEvent })).toMatchObject({ outcome: 'done', done: 3 });
    expect([taken, askedMeanwhile.includes('2.1')]).toEqual([true, false]);
    expect(agents.asked().filter((asked) => asked.startsWith('2.1'))).toEqual([
      '2.1 implementer 1',
      '2.1 reviewer 1',
    ]);
  });

  it('refuses options that contradict each other', async () => {
    const { agents, run } = await prepared('options');
    const { implementer } = agents;
    const { client } = system;
    await expect(runPlan({ client, implementer })).rejects.toThrow('neither plan nor session is given');
    await expect(runPlan({ client, session: 'a', implementer })).rejects.toThrow(
      'nothing would approve the work',
    );
    await expect(run({ maxRounds: 0 })).rejects.toThrow('maxRounds is 0: use a number above 0');
    const long = Array.from({ length: 301 }, (_, at) => `- [ ] ${at + 1}. Task`).join('\n');
    await expect((await prepared('long', {}, long)).run()).rejects.toThrow('have lines ticked');
  });
});

/** Where a run is killed: at a request, before or after it had its effect, or at an agent. */
const KILLS = ['publishText', 'compile', 'initRun', 'agent'].flatMap((at) =>
  ['before', 'after'].flatMap((when) =>
    Array.from({ length: at === 'initRun' ? 1 : 6 }, (_, index) => ({ at, when, nth: index + 1 })),
  ),
);
const SCRIPT = { '2.1 reviewer': ['needs_changes'] };
const EXPECTED = [
  ...[
    '2.1 implementer completed',
    '2.1 reviewer needs_changes',
    '2.1 implementer completed',
    '2.1 reviewer approved',
  ],
  ...['2.2 implementer completed', '2.2 reviewer approved'],
];

describe('a run that is killed', () => {
  it('goes on where it was, at every step: no task twice, none skipped', { timeout: 120_000 }, async () => {
    const left = [...KILLS];
    let killed = 0;
    const worker = async () => {
      for (let kill = left.shift(); kill !== undefined; kill = left.shift()) {
        const { session, agents, run, text } = await prepared('killed', { script: SCRIPT, tick: true });
        const { client, implementer, reviewer, wasKilled } = mortal(system.client, agents, kill);
        await expect(run({ client, implementer, reviewer })).rejects.toThrow('killed');
        expect(wasKilled(), JSON.stringify(kill)).toBe(true);
        expect(await run(), JSON.stringify(kill)).toMatchObject({ outcome: 'done', done: 3 });
        expect(await resultsOf(session), JSON.stringify(kill)).toEqual(EXPECTED);
        expect(await text()).toBe(PLAN.replaceAll('[ ]', '[x]'));
        // A call is made again if its answer was not published.
        const isLost =
          kill.at === 'agent' ? kill.when === 'after' : kill.at === 'publishText' && kill.when === 'before';
        expect(agents.calls.length, JSON.stringify(kill)).toBe(isLost ? 7 : 6);
        killed += 1;
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    expect(killed).toBe(KILLS.length);
  });
});

/** A client and agents that die at one place, and answer nothing after it. */
function mortal(
  client: ThroughlineClient,
  agents: Pick<RunPlanOptions, 'implementer'> & Required<Pick<RunPlanOptions, 'reviewer'>>,
  { at, when, nth }: (typeof KILLS)[number],
) {
  let count = 0;
  let isDead = false;
  const dying =
    <Args extends unknown[], Reply>(name: string, call: (...args: Args) => Promise<Reply>) =>
    async (...args: Args): Promise<Reply> => {
      if (isDead) throw new Error('killed');
      count += name === at ? 1 : 0;
      const isIt = name === at && count === nth;
      if (isIt && when === 'before') isDead = true;
      if (isDead) throw new Error('killed');
      const reply = await call(...args);
      if (isIt) isDead = true;
      if (isDead) throw new Error('killed');
      return reply;
    };
  const dead = new Proxy(client, {
    get(target, name) {
      const { runs } = target;
      if (name === 'runs') return { init: dying('initRun', runs.init), status: dying('status', runs.status) };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? dying(String(name), value.bind(target)) : value;
    },
  });
  return {
    client: dead,
    implementer: dying('agent', agents.implementer),
    reviewer: dying('agent', agents.reviewer),
    wasKilled: () => isDead,
  };
}
