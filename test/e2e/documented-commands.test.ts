import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { pages, ROOT } from '../../scripts/docs/pages.js';
import { connectThroughline } from '../../src/index.js';
import { BIN, cleanEnv, startUp } from '../support/cli.js';
import { documentedCommands } from '../support/documented-commands.js';
import { gitRepository } from '../support/git.js';
import { folderOfFile, ofFile } from '../support/of-file.js';
import { TASKS_MD } from '../support/runs.js';
import { shellCommand } from '../support/shell-command.js';
import { METRICS_PLAN } from '../support/stories.js';
import { implemented, reviewed, soon } from '../support/system.js';

/** The commands of the pages, run as they stand there: in a shell, in one folder, against a running `up`. */

const run = promisify(execFile);

/** Pages whose commands belong to a running session, in the order in which a reader comes to them. */
const PAGES = [
  'README.md',
  'docs/how-to/publish-results.md',
  'docs/how-to/run-a-plan.md',
  'docs/reference/sdk.md',
  'docs/explanation/what-holds.md',
  'docs/how-to/everyday.md',
  'docs/how-to/see-what-it-knows.md',
  'docs/explanation/prompts.md',
  'docs/explanation/scale.md',
  'docs/reference/configuration.md',
];

/** What begins so is not run here, and why. */
const NOT_HERE: readonly [begins: RegExp, why: string][] = [
  [/^(THROUGHLINE_LAYOUT=sharded )?throughline up\b/, 'it runs already'],
  [/^throughline connect\b/, 'it writes where a client looks: test/agents'],
  [/^throughline admin (backup|restore) \/backups\//, 'it needs an empty server: test/e2e/backup.test.ts'],
  [/^throughline log -f\b/, 'it runs until it is stopped: test/e2e/watch.test.ts'],
  [/^(git worktree add|cd|throughline work)\b/, 'agents work: test/e2e/work.test.ts'],
  [
    /^throughline (open|doctor|admin serve)\b/,
    'it opens a browser or starts services: test/inspector, test/e2e',
  ],
  [
    /^throughline (facts erase|learning (accept|reject))\b/,
    'only a person does it, at a terminal: test/e2e/persons-word.test.ts',
  ],
  [/^source <\(/, 'it is for a shell that a person uses: test/cli/completion.test.ts'],
];

/** A command that has not ended by then waits for something. */
const LONGEST_MS = 30_000;

const root = await folderOfFile();
const folder = join(root, 'work');
await mkdir(join(folder, 'specs/parser'), { recursive: true });
await mkdir(join(folder, 'bin'));
await ofFile(shellCommand(join(folder, 'bin', 'throughline')));
// A snapshot after each event: there is one to look at.
const up = await ofFile(startUp({ THROUGHLINE_TUNING: 'snapshotEvery=1' }, folder));
const client = await ofFile(connectThroughline({ url: up.url }));
beforeAll(async () => {
  await mkdir(join(folder, 'own-process'));
  const own = `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(BIN)} "$@"\n`;
  await writeFile(join(folder, 'own-process', 'throughline'), own, { mode: 0o755 });
  await writeFile(join(folder, 'specs/parser/tasks.md'), TASKS_MD);
  await writeFile(join(folder, 'tasks.md'), METRICS_PLAN);
  await writeFile(join(folder, 'result.json'), JSON.stringify(implemented('1')));
  await writeFile(join(folder, 'corrected.json'), JSON.stringify(implemented('2.1')));
  const result = { status: 'SUCCESS', output_summary: 'src/parser.ts: 120 lines' };
  const entry = { id: 'step-7', intent_id: 'INT-1', action_type: 'TOOL_EXECUTION', result };
  await writeFile(join(folder, 'entries.jsonl'), `${JSON.stringify(entry)}\n`);
  await gitProject(join(root, 'project'));
});

async function gitProject(path: string): Promise<void> {
  await mkdir(join(path, 'src'), { recursive: true });
  await writeFile(join(path, 'src', 'parser.ts'), 'export {};\n');
  gitRepository(path);
}

/** Commands are hosted; in `own-process` each is a process, as those that run agents which run commands need it. */
async function shell(line: string, programs = 'bin'): Promise<string> {
  const path = `${join(folder, programs)}${delimiter}${process.env.PATH}`;
  const env = { ...cleanEnv({ NATS_URL: up.url }), PATH: path };
  const options = { cwd: folder, env, timeout: LONGEST_MS };
  const running = run('bash', ['-eo', 'pipefail', '-c', line], options);
  // Nobody types: the host of commands gets all of the input with the command.
  running.child.stdin?.end();
  const { stdout, stderr } = await running;
  return stdout || stderr;
}

/** The command with names that are there in place of those that stand for them. */
async function filledIn(line: string): Promise<string> {
  let filled = line;
  if (/\bID\b/.test(line)) filled = filled.replace(/\bID\b/, String(await newRejection(line)));
  if (line.includes('3f2a') || line.includes('result show 7')) {
    const { facts } = await client.tools.factFind({ session: 'demo', limit: 1 });
    filled = filled.replace('3f2a', facts[0]?.id ?? '');
    filled = filled.replace('show 7', `show ${facts[0]?.dispatch}`);
  }
  if (line.includes('M7')) {
    const ref = await newStatement();
    if (line.includes('throughline restore M')) await shell(`throughline facts retract ${ref} -s shop`);
    filled = filled.replace('M7', ref);
  }
  if (line.includes('accept abc12')) {
    const proposed = await client.proposals.list({ status: 'pending' });
    filled = filled.replace('abc12', proposed.proposals[0]?.id.slice(0, 5) ?? '');
  }
  if (line.includes('4f1c09ab23de')) {
    await client.compile({ session: 'demo', taskId: '2.1', taskPrompt: 'Write it' });
    await soon(async () => expect((await keptPrompts()).length).toBeGreaterThan(0));
    filled = filled.replace('4f1c09ab23de', (await keptPrompts())[0]?.id ?? '');
  }
  return filled;
}

const keptPrompts = async () => (await client.tools.promptList({ session: 'demo' })).prompts;

async function newStatement(): Promise<string> {
  const facts = [{ subject: randomUUID(), relation: 'decided', object: 'port 3000' }];
  const { sequence } = await client.publishText(
    'shop',
    'implementer',
    JSON.stringify(implemented('1', { facts })),
  );
  return soon(async () => {
    const found = await client.tools.factFind({ session: 'shop', subject: facts[0]?.subject });
    expect(found.facts[0]?.ref).toBe(`M${sequence}`);
    return `M${sequence}`;
  });
}

/** A result that could not be used, such that the command is what mends it. */
async function newRejection(line: string): Promise<number> {
  const before = (await client.tools.rejectedList({})).rejected[0]?.id ?? 0;
  const body = line.includes('--role reviewer') ? reviewed('2.1', 'approved') : { status: 'completed' };
  await client.publishText('demo', 'implementer', JSON.stringify(body)).catch(() => {});
  await soon(async () =>
    expect((await client.tools.rejectedList({})).rejected[0]?.id ?? 0).toBeGreaterThan(before),
  );
  return (await client.tools.rejectedList({})).rejected[0]?.id ?? 0;
}

const shown = documentedCommands();

describe.each(PAGES)('the commands of %s', (page) => {
  const lines = shown
    .filter((each) => each.page === page && !NOT_HERE.some(([begins]) => begins.test(each.line)))
    .map(({ line }) => line);

  it.each(lines)(`${page}: %s`, async (line) => {
    expect(await shell(await filledIn(line))).not.toBe('');
  });
});

it('the prompt of the README is the one that its commands give', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/\n\n```\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const lines = shown.filter(({ page, line }) => page === 'README.md' && line.includes('--session demo'));
  const [last = '', ...others] = lines.map(({ line }) => line.replaceAll('demo', 'read-me')).reverse();
  for (const line of others.reverse()) await shell(line);
  await soon(async () => {
    const { session } = await client.runs.status({ session: 'read-me' });
    expect(session.dispatches).toMatchObject({ implementer: 1, reviewer: 1 });
  });
  // Each line ends with the day.
  const printed = (await shell(last)).replaceAll(/, \d{1,2} \w{3}\]$/gm, ', 27 Nov]');
  expect(printed).toBe(blocks.find((block) => block.startsWith('[Session Context]')));
});

it('the plan of two agents goes as its page says, from the first file to the last prompt', async () => {
  const page = await readFile(join(ROOT, 'docs/tutorial/two-agents.md'), 'utf8');
  const blocks = (language: string) =>
    [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, of, block = '']) =>
      of === language ? [block.trimEnd()] : [],
    );
  const script = blocks('sh').join('\n').replace('throughline up --detach', '');
  const said = comparable(
    await shell(`exec 2>&1\n${script}\ncat tasks.md && sh greet.sh you`, 'own-process'),
  );
  for (const block of blocks('')) expect(said).toContain(comparable(block));
  expect(said).toContain(
    '- [x] 1. Write greet.sh, which says hello\n- [x] 2. Let greet.sh take a name\nHello you',
  );
});

/** How long something took is another time each time, and other pages have dispatched before. */
function comparable(text: string): string {
  const numbers = [...text.matchAll(/\bresult (\d+)/g)].map(([, number]) => Number(number));
  const before = Math.min(...numbers) - 1;
  return text
    .replace(/\b[\d.]+ (ms|s)\b/g, 'a while')
    .replace(/\bresult (\d+)/g, (_, number) => `result ${number - before}`);
}

it('every page with commands of a session is run, or its commands are said to need something else', () => {
  const elsewhere: Readonly<Record<string, string>> = {
    'docs/how-to/connect-an-agent.md': 'test/agents',
    'docs/how-to/run-in-production.md': 'test/cli and test/e2e/health.test.ts: it starts services',
    'docs/how-to/secure.md':
      'test/cli/detached-up.test.ts, and test/e2e/two-users.test.ts: two users run them',
    'docs/how-to/sessions.md':
      'test/e2e/archive.test.ts, forget.test.ts, session-file.test.ts, retention.test.ts: it removes what others read',
    'docs/how-to/troubleshoot.md': 'test/cli and test/e2e/logs.test.ts: it starts services',
    'docs/tutorial/claude-code.md': 'test/agents and test/clients: it runs Claude Code',
    'docs/how-to/upgrade-and-uninstall.md': 'test/e2e/backup.test.ts, test/agents',
    'docs/reference/python.md': 'the program starts nothing: it runs already',
    'docs/tutorial/two-agents.md': 'the test above',
    'docs/reference/clients.md': 'test/e2e/hooks.test.ts',
  };
  const known = new Set([...PAGES, ...Object.keys(elsewhere)]);
  // Examples of help: test/docs/documented-commands.test.ts.
  const isHelp = (page: string) => page === 'docs/reference/commands.md';
  expect(pages().length).toBeGreaterThan(20);
  expect(
    [...new Set(shown.map(({ page }) => page))].filter((page) => !known.has(page) && !isHelp(page)),
  ).toEqual([]);
});
