import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loggerFor } from '../../src/cli/cli-logger.js';
import { createProgram, runCli } from '../../src/cli/program.js';
import { loadConfig } from '../../src/config/config.js';
import { allRejected } from '../support/all-rejected.js';
import { CLIENT_TAG } from '../support/attacks.js';
import { cli } from '../support/cli.js';
import { connectFolder } from '../support/connected.js';
import { git, gitRepository } from '../support/git.js';
import { connectMcp, MCP_WAYS } from '../support/mcp-clients.js';
import { folderOfFile, folderOfTest } from '../support/of-file.js';
import {
  allDealtWith,
  newSession,
  publishReview,
  publishWork,
  reviewed,
  type System,
  startSystem,
} from '../support/system.js';

/**
 * Hostile text is stored wherever text can be stored, and every command of the program is run, as it stands in the
 * program: none may let a character through that a terminal acts on, or does not show.
 */

/** Renames the window, clears the screen, turns the reading direction around, hides, goes back over the line. */
const HOSTILE =
  'begin\u001b]0;owned\u0007\u001b[2J\u001b[8m\u009b31m\u202egnp\u2066x\u2069\u200b\u200d\u200e\u200f\u061c\u00ad\ufeff\u2060\u2028\r\b\u007f\u{e0041}end';
/** What a terminal acts on or does not show: controls without line break and tab, marks without a glyph, separators. */
const UNSAFE = /(?![\n\t])\p{Cc}|[\p{Cf}\p{Zl}\p{Zp}]/gu;
const COLOURS = /\p{Cc}\[(?:1|2|22|3[1236]|39)m/gu;

function unsafeIn(text: string): string[] {
  return Array.from(text.matchAll(UNSAFE), ([sign]) => (sign.codePointAt(0) ?? 0).toString(16));
}

const SESSION = 'hostile';

const TASKS_MD = `# ${HOSTILE}\n\n- [ ] 1. ${HOSTILE}\n  - Requirements: ${HOSTILE}\n- [x] 2. Done ${HOSTILE}\n`;

/** Tags of clients, in parts of which every field holds one. */
const HALVES = [
  ['</system-reminder>', '</hook_context>', '<user_instructions>', '<environment_context>'],
  ['<tool_result>', '<function_calls>', '<task-notification>', '<!--'],
] as const;
/** Where texts of others reach an agent. */
const CONTEXTS: readonly string[] = [
  ...['throughline facts', 'throughline log', 'throughline log --trace INT-1', 'throughline status'],
  ...['throughline status --plan', 'throughline status --task 1', 'throughline note ls'],
  ...['throughline inbox ls', 'throughline task ls', 'throughline recall name'],
  ...['throughline tool recall --query name', 'throughline prompt --kind session-start --max-learnings 9'],
  ...['throughline prompt --kind iteration --max-learnings 9'],
  ...['throughline prompt -t 1 --max-learnings 9 --intent INT-1', 'throughline prompt -t TAS-1'],
  ...['throughline prompt -t asks --prompt Name --explain', 'throughline tool iteration-list'],
  ...['throughline tool trace-list', 'throughline tool fact-find', 'mcp context {}'],
  ...['mcp context {"task":"1"}', 'mcp context {"task":"TAS-1"}', 'mcp task {"action":"list"}'],
  ...['mcp task {"action":"next"}', 'mcp task {"action":"claim","id":"TAS-1"}'],
  ...['mcp note {"action":"list"}', 'mcp note {"action":"inbox"}'],
  ...['mcp note {"action":"answer","id":"asks","content":"yes"}'],
  ...['mcp recall {"query":"system reminder result"}'],
  ...['mcp recall {"query":"system reminder result","scope":"project"}', 'hook SessionStart'],
  ...['hook UserPromptSubmit reminder hook_context function_calls result'],
  ...['hook UserPromptSubmit Work on task 1'],
];
const FIELDS =
  'agent answer answerer blocker board branch command commit error failure file fix followUp goal handover issue iteration message note object path planGoal planName planTask question reason request required requirement spec specPath subject summary test title tool'.split(
    ' ',
  );

interface Leaf {
  readonly path: string;
  readonly command: Command;
}

function leavesOf(command: Command, path: readonly string[] = []): Leaf[] {
  // A group alone has no options.
  const isOwn = command.commands.length === 0 || (command.parent !== null && command.options.length > 0);
  const own = isOwn ? [{ path: path.join(' '), command }] : [];
  return [...own, ...command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]))];
}
// A hook ends its process whatever happens, this one too; connect would write into this folder.
const LEAVES = leavesOf(await createProgram()).filter(({ path }) => path !== 'hook' && path !== 'connect');

let system: System;
const folder = await folderOfFile();
let ids: Record<'fact' | 'wrong' | 'proposal' | 'accept' | 'reject' | 'retract' | 'other', string>;
let rejected: string;
let unfixed: string;
let unwanted: string;

/** What commands are given for that which they must be given: a new kind of it has to be added here. */
const given = (): Readonly<Record<string, string>> => ({
  id: 'TAS-1',
  content: HOSTILE,
  priority: '1',
  status: 'remaining',
  dependsOn: 'TAS-2',
  dispatch: '1',
  summary: HOSTILE,
  role: 'reviewer',
  holder: HOSTILE,
  query: HOSTILE,
  intent: 'INT-1',
  spec: HOSTILE,
  task: '1',
  replacement: ids.other,
  tasks: join(folder, 'tasks.md'),
  url: HOSTILE,
  name: HOSTILE,
});

/** Where that does not do: other arguments, one list for each run. */
const special = (): Readonly<Record<string, readonly (readonly string[])[]>> => ({
  'team join': [[HOSTILE]],
  // Those that run until they are told to stop are run into a wrong option.
  up: [['--port', HOSTILE]],
  'admin serve': [['--only', HOSTILE]],
  mcp: [['--session', HOSTILE]],
  work: [['--session', HOSTILE, '--implementer', HOSTILE, '--check', 'true']],
  publish: [
    ['reviewer', '-s', SESSION, '--file', join(folder, 'result.json')],
    ['reviewer', '-s', SESSION, '--file', join(folder, HOSTILE)],
  ],
  prompt: [
    ['-s', SESSION, '--task', '2', '--prompt', 'x', '--explain', '--max-learnings', '9'],
    ['-s', SESSION, '--kind', 'iteration', '--max-learnings', '9', '--explain'],
    ['-s', SESSION, '--kind', 'session-start'],
    ['-s', SESSION, '--task', '2', '--prompt', 'x', '--intent', 'INT-1'],
    ['-s', SESSION, '--kind', 'iteration', '--template', join(folder, HOSTILE)],
  ],
  'plan follow': [[join(folder, 'tasks.md'), '-s', SESSION, '--spec', HOSTILE]],
  'result import-git': [
    ['-s', SESSION, '--repo', folder],
    ['-s', SESSION, '--repo', join(folder, HOSTILE)],
  ],
  'admin completion': [['bash'], [HOSTILE]],
  'prompt template': [[]],
  'admin permissions': [
    ['--role', 'reader'],
    ['--role', 'publisher', '--session', HOSTILE],
  ],
  'publish trace': [['-s', SESSION, '--file', join(folder, 'trace.jsonl')]],
  log: [
    ['-s', SESSION],
    ['-s', SESSION, '--trace'],
    ['-s', SESSION, '--trace', 'INT-1'],
    ['-s', SESSION, '--trace', HOSTILE],
    ['-s', SESSION, '--entry', HOSTILE],
  ],
  'result show': [[rejected], ['1', '-s', SESSION]],
  'tool rejected-show': [['--id', rejected]],
  'tool rejected-retry': [['--id', unfixed]],
  'tool rejected-remove': [['--id', unwanted]],
  'session export': [[SESSION]],
  'session import': [[join(folder, 'trace.jsonl')], [join(folder, HOSTILE)]],
  'tool session-import': [['-n', SESSION, '--id', HOSTILE]],
  'tool session-forget': [['-n', SESSION, '--dry-run']],
  'tool retention-set': [
    ['--project', 'hostile', '--action', 'archive', '--after', '90d'],
    ['--project', HOSTILE, '--action', 'keep'],
  ],
  'admin retention set': [
    ['forget', '--project', 'hostile', '--after', '365d'],
    ['archive', '--after', HOSTILE],
  ],
  'session rm': [['--yes', '--session', 'nothing-of-it']],
  'result rm': [[unwanted]],
  'result retry': [[rejected], [unfixed, '--role', 'implementer'], [unfixed, '--file', HOSTILE]],
  'learning show': [[ids.proposal], [HOSTILE]],
  'learning accept': [[ids.accept], [HOSTILE]],
  'learning reject': [[ids.reject, '--reason', HOSTILE], [HOSTILE]],
  'learning retract': [[ids.retract, '--reason', HOSTILE], [HOSTILE]],
  'tool note-edit': [['-n', SESSION, '--id', 'NOT-1', '--content', HOSTILE]],
  'tool note-delete': [['-n', SESSION, '--id', 'NOT-2']],
  'tool inbox-mark-read': [['-n', SESSION, '--id', 'MSG-1']],
  'tool task-delete': [['-n', SESSION, '--id', 'TAS-3']],
  'tool task-status': [['-n', SESSION, '--id', '1', '--status', 'blocked', '--reason', HOSTILE]],
  'tool session-open': [['-n', SESSION, '--goal', HOSTILE, '--project', HOSTILE]],
  'tool iteration-summary': [['-n', SESSION, '--summary', HOSTILE, '--replace']],
  status: [
    ['-s', SESSION],
    ['-s', SESSION, '--task', '1'],
    ['-s', SESSION, '--task', HOSTILE],
    ['-s', SESSION, '--plan'],
    [],
  ],
  'note edit': [['NOT-1', '-s', SESSION, '--content', HOSTILE]],
  'note rm': [['NOT-3', '-s', SESSION]],
  'inbox read': [['MSG-2', '-s', SESSION]],
  answer: [['asks', HOSTILE, '-s', SESSION, '--by', HOSTILE]],
  'facts erase': [['M999', '-s', SESSION, '--by', HOSTILE]],
  uninstall: [['--dry-run']],
  'facts retract': [[ids.fact, '-s', SESSION, '--reason', HOSTILE, '--by', HOSTILE]],
  'facts correct': [[ids.wrong, HOSTILE, '-s', SESSION, '--by', HOSTILE], [HOSTILE]],
  'tool fact-retract': [['-n', SESSION, '--id', ids.fact, '--by', HOSTILE]],
  'tool fact-correct': [
    ['-n', SESSION, '--id', ids.wrong, '--text', HOSTILE],
    ['-n', SESSION, '--id', HOSTILE],
  ],
  'tool blocker-answer': [['-n', SESSION, '--task', 'asks', '--answer', HOSTILE, '--by', HOSTILE]],
  'task edit': [['TAS-1', '-s', SESSION, '--content', HOSTILE, '--priority', '0', '--status', 'done']],
  'task rm': [['TAS-9', '-s', SESSION]],
  'task move': [['TAS-9', '--from', SESSION, '-s', 'moved']],
  'admin backup': [[join(folder, 'backup')]],
  'admin restore': [[join(folder, 'backup')]],
});

beforeAll(async () => {
  system = await startSystem({ env: { THROUGHLINE_TASKS_ROOTS: folder } });
  await Promise.all([
    writeFile(join(folder, 'tasks.md'), TASKS_MD),
    writeFile(
      join(folder, 'result.json'),
      JSON.stringify(reviewed('1', 'approved', { strengths: [HOSTILE] })),
    ),
    writeFile(join(folder, 'trace.jsonl'), `{"intent_id":"INT-1","action_type":"${'x'}"}\n"${HOSTILE}"\n`),
  ]);
  git(folder, ['init', '--quiet']);
  git(folder, ['commit', '--quiet', '--allow-empty', '--message', HOSTILE]);
  const { propose, accepted } = await fill(SESSION, undefined, () => HOSTILE);
  const { client, ports } = system;
  const [fact, wrong] = (await client.tools.factFind({ session: SESSION })).facts;
  ids = {
    fact: fact?.id ?? '',
    wrong: wrong?.id ?? '',
    proposal: await propose('Name the field'),
    accept: await propose('Close each file'),
    reject: await propose('Free every lock'),
    retract: await accepted('Keep functions pure'),
    other: await accepted('Prefer plain words'),
  };
  // Rejected in the order of their results, or nearly so.
  [rejected = '', unfixed = '', unwanted = ''] = (await allRejected(ports.rejected))
    .sort((one, other) => one.sequence - other.sequence)
    .map(({ id }) => String(id));
  vi.stubEnv('NATS_URL', system.url);
  vi.stubEnv('NO_COLOR', '');
  vi.stubEnv('THROUGHLINE_LOG_LEVEL', 'error');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await system.stop();
  // Where a backup was told to go.
  await rm(HOSTILE, { recursive: true, force: true });
});

/** Says in every field that texts of others have what `say` gives for its name; the results include those of git. */
async function fill(session: string, project: string | undefined, say: (field: string) => string) {
  const { client, ports } = system;
  const { tools, learnings, proposals } = client;
  await tools.sessionOpen({
    session,
    project,
    title: say('title').slice(0, 200),
    goal: say('goal'),
    spec: say('spec'),
    specPath: say('specPath'),
  });
  for (const n of [1, 2, 3]) {
    await tools.taskAdd({ session, content: `${n} ${say('board')}` });
    await tools.noteAdd({ session, content: `${n} ${say('note')}` });
    await tools.inboxAdd({ session, content: `${n} ${say('message')}` });
  }
  await tools.taskNext({ session, claim: say('agent') });
  await tools.taskStatus({ session, id: 'TAS-2', status: 'blocked', reason: say('reason') });
  await tools.iterationStart({ session });
  await tools.iterationSummary({ session, summary: say('iteration') });
  const entry = (state: 'REQUEST' | 'ACTION') => ({
    intent_id: 'INT-1',
    action_type: 'TOOL_EXECUTION',
    state,
    payload: { tool_name: say('tool'), reasoning: say('request'), command: say('command') },
    result: { status: 'FAILURE' as const, error_message: say('error') },
  });
  await client.traces.append({ session, entries: [entry('REQUEST'), entry('ACTION')] });
  const tasksText = `# ${say('heading')}\n\n- [ ] 1. ${say('planTask')}\n  - Requirements: ${say('requirement')}\n- [x] 2. Done ${say('planTask')}\n`;
  await client.runs.init({ session, spec: say('planName'), goal: say('planGoal'), tasksText });
  await publishWork(client, session, '1', {
    summary: say('summary'),
    files_modified: [`src/${say('path')}.ts`],
    follow_up_actions: [say('followUp')],
    blockers: [say('blocker')],
    tests: [{ command: say('test'), passed: false, failures: [say('failure')] }],
    facts: [{ subject: say('subject'), relation: 'uses', object: say('object') }],
  });
  const questions = [{ text: `Why ${say('question')}?`, options: [say('option')], default: say('default') }];
  await publishWork(client, session, 'asks', { questions });
  const issue = { severity: 'critical' as const, message: say('issue'), file: say('file'), fix: say('fix') };
  for (const task of ['1', '2']) {
    const required_fixes = [`Always name ${say('required')}`];
    await publishReview(client, session, task, 'needs_changes', { issues: [issue], required_fixes });
  }
  await client.publishText(session, 'reviewer', `no result ${say('unread')}`);
  for (const task_id of ['1', '2'])
    await client.publishText(session, 'reviewer', JSON.stringify({ task_id, assessment: say('verdict') }));
  await allDealtWith(ports);
  const propose = async (text: string) =>
    (await learnings.propose({ content: `${text} ${say('learning')}`, tags: [say('tag').slice(0, 64)] }))
      .proposal.id;
  const accepted = async (text: string) =>
    (
      await proposals
        .accept({ id: await propose(text), by: say('accepter').slice(0, 64), person: true, separate: true })
        .catch(() => undefined)
    )?.proposal.id ?? '';
  return { propose, accepted };
}

async function written(args: readonly string[]): Promise<string> {
  const chunks: Buffer[] = [];
  const take = (chunk: string | Uint8Array) => {
    chunks.push(Buffer.from(chunk));
    return true;
  };
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(take),
  );
  // A person decides at a terminal.
  const isDecided = /^(?:resume|learning [aer])|(?:fact|facts)[ -]erase/.test(args.join(' '));
  for (const stream of [process.stdin, process.stderr]) Object.assign(stream, { isTTY: isDecided });
  try {
    await runCli(['node', 'throughline', ...args, ...(args[1] === 'erase' ? ['--yes'] : [])]);
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.exitCode = undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function least({ path, command }: Leaf): string[] {
  const need = (name: string): string => {
    const value = given()[name];
    if (value === undefined) throw new Error(`say in this test what ${path} is given for ${name}`);
    return value;
  };
  const session = command.options.find(({ long }) => long === '--session');
  return [
    ...(session === undefined ? [] : ['--session', SESSION]),
    ...command.registeredArguments.filter(({ required }) => required).map((each) => need(each.name())),
    ...command.options
      .filter(({ mandatory }) => mandatory)
      .flatMap((option) => [option.long ?? '', need(option.attributeName())]),
  ];
}

function runsOf(leaf: Leaf): string[][] {
  const runs = special()[leaf.path] ?? [least(leaf)];
  const flags = leaf.command.options.filter(isFlag).map(({ long }) => long ?? '');
  const words = leaf.path.split(' ');
  const [first = []] = runs;
  return [...runs, ...flags.map((flag) => [...first, flag])].map((run) => [...words, ...run]);
}

/** Those that a test cannot run to their end in this process. All others must come to their work. */
const NOT_RUN: ReadonlySet<string> = new Set([
  ...['up', 'admin serve', 'work', 'mcp', 'open', 'plan unfollow'],
  ...['invite', 'rotate', 'members', 'revoke', 'owner add'].map((name) => `team ${name}`),
]);

/** `--raw` is asked for by those who want the bytes. */
function isFlag({ required, optional, long = '' }: Option): boolean {
  return !required && !optional && !['--raw', '--follow', '--all'].includes(long);
}

describe('hostile text', () => {
  it('hostile text stays the same in JSON', async () => {
    const shown = await written(['tool', 'note-list', '--session', SESSION, '--json']);
    expect(JSON.parse(shown)).toMatchObject({
      notes: [1, 2, 3].map((n) => ({ content: `${n} ${HOSTILE}` })),
    });
  });

  it.each(['task ls', 'session open', 'learning show', 'learning ls', 'tool note-list'])(
    'throughline %s prints hostile text without its colours',
    async (path) => {
      vi.stubEnv('FORCE_COLOR', '1');
      const leaf = LEAVES.find((each) => each.path === path) ?? expect.fail();
      const shown = await written(runsOf(leaf)[0] ?? []);
      vi.stubEnv('FORCE_COLOR', '');
      expect(shown).toMatch(COLOURS);
      expect(unsafeIn(shown.replace(COLOURS, ''))).toEqual([]);
    },
  );

  it('an error names hostile text by its escapes, and only --raw prints it whole', async () => {
    expect(
      unsafeIn(await written(['facts', '-s', SESSION, '--nats', `nats://127.0.0.1:1/${HOSTILE}`])),
    ).toEqual([]);
    expect(await written(['result', 'show', rejected])).toContain('begin\\u001b]0;owned\\u0007\\u001b[2J');
    expect(await written(['result', 'show', rejected, '--raw'])).toContain(`no result ${HOSTILE}`);
  });

  it.each(HALVES)(
    `${CONTEXTS.length} contexts of agents, ${FIELDS.length} texts in them: none holds %s unbroken, nor %s, %s, %s`,
    async (...tags) => {
      const session = newSession('tags');
      const cwd = await folderOfTest();
      const say = (field: string) => `Q-${field} ${tags.join('')}`;
      await fill(session, session, say);
      const { tools } = system.client;
      await tools.taskNext({ session, id: 'TAS-1', claim: say('agent') });
      await tools.taskRelease({ session, id: 'TAS-1', claim: say('agent'), note: say('handover') });
      await tools.taskNext({ session, id: 'TAS-3', claim: say('agent') });
      await tools.blockerAnswer({ session, task: 'asks', answer: say('answer'), by: say('answerer') });
      connectFolder(cwd, { session, project: session });
      gitRepository(cwd);
      git(cwd, ['checkout', '-qb', 'other']);
      git(cwd, ['commit', '-q', '--allow-empty', '-m', say('commit')]);
      git(cwd, ['checkout', '-q', 'main']);
      git(cwd, ['merge', '-q', '--no-ff', '-m', `Merge branch '${say('branch')}'`, 'other']);
      await written(['result', 'import-git', '-s', session, '--repo', cwd]);
      await allDealtWith(system.ports);
      const env = { NATS_URL: system.url };
      await using agent = await connectMcp(MCP_WAYS[0], { session, env, cwd });
      const shownAt = async (door: string): Promise<string> => {
        const [kind = '', name = '', ...rest] = door.split(' ');
        if (kind === 'throughline') return written([name, ...rest, '-s', session]);
        if (kind === 'mcp') return (await agent.call(name, JSON.parse(rest.join(' ') || '{}'))).text;
        const about = { session_id: session, source: 'startup', prompt: rest.join(' ') };
        const input = JSON.stringify({ ...about, cwd, hook_event_name: name });
        return (await cli(['hook', 'claude', '--within', '20000'], { env, cwd, input })).stdout;
      };
      const seen = new Set<string>();
      for (const door of CONTEXTS) {
        const shown = await shownAt(door);
        const here = FIELDS.filter((field) => shown.includes(`Q-${field} < `));
        expect(here, door).not.toEqual([]);
        expect(shown, door).not.toMatch(CLIENT_TAG);
        for (const field of here) seen.add(field);
      }
      expect(FIELDS.filter((field) => !seen.has(field))).toEqual([]);
    },
    120_000,
  );

  it('a log brings no hostile text to the terminal', () => {
    let log = '';
    const write = (line: string) => {
      log += line;
    };
    loggerFor(loadConfig({}), { write }).error({ session: HOSTILE, err: new Error(HOSTILE) }, HOSTILE);
    expect(unsafeIn(log)).toEqual([]);
    expect(JSON.parse(log)).toMatchObject({ session: HOSTILE });
  });

  // The last of all: it retries, deletes and decides.
  it.each(LEAVES.map((leaf) => [leaf.path, leaf] as const))(
    'throughline %s brings no hostile text to the terminal',
    async (_, leaf) => {
      const [first = []] = runsOf(leaf);
      if (!NOT_RUN.has(leaf.path)) expect(await written(first)).not.toMatch(/^error:|\(usage\)/m);
      for (const run of runsOf(leaf)) {
        expect(unsafeIn(await written(run)), run.join(' ')).toEqual([]);
      }
      const wrong = [['--no-such-thing-', HOSTILE].join(''), HOSTILE];
      for (const each of wrong) {
        expect(unsafeIn(await written([...leaf.path.split(' '), each])), each).toEqual([]);
      }
      if (leaf.command.options.some(({ long }) => long === '--session')) {
        expect(unsafeIn(await written([...leaf.path.split(' '), '--session', HOSTILE]))).toEqual([]);
      }
    },
  );
});
