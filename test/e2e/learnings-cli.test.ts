import { userInfo } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { startUp } from '../support/cli.js';
import { connectFolder } from '../support/connected.js';
import { folderOfTest, ofFile } from '../support/of-file.js';
import { newSession } from '../support/system.js';

/** Learnings and proposals on the command line, against the running system. */

const up = await ofFile(startUp());

let project: string = newSession('project');
/** Runs a command in the current project. */
const run = (...args: string[]) => up.cli(args, { env: { THROUGHLINE_PROJECT: project } });
/** Runs it at a terminal, as a person does who decides. */
const person = (...args: string[]) => up.cli(args, { env: { THROUGHLINE_PROJECT: project }, terminal: true });

/** Proposes a learning and gives its id. */
async function propose(text: string, ...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await run('learning', 'propose', text, '--json', ...options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { proposal }: { proposal: { id: string } } = JSON.parse(stdout);
  return proposal.id;
}

async function learn(text: string, ...options: string[]): Promise<string> {
  const id = (await propose(text, ...options)).slice(0, 5);
  expect((await person('learning', 'accept', id)).code).toBe(0);
  return id;
}

it('in a connected folder, learnings and proposals are those of its project, unless another is named', async () => {
  const connected = newSession('connected');
  const cwd = await folderOfTest();
  connectFolder(cwd, { project: connected });
  const here = (...args: string[]) => up.cli(args, { cwd, terminal: true });

  const made = await here('learning', 'propose', 'Read the grammar first');
  const id = made.stdout.slice(0, 5);
  expect(made.stderr).toBe(
    `-- "throughline learning accept ${id}" makes it a learning of project ${connected}\n`,
  );
  expect((await here('learning', 'accept', id)).code).toBe(0);
  expect((await here('learning', 'ls')).stdout).toContain('Read the grammar first');
  const session = newSession('learned');
  expect((await here('note', 'add', 'No docker', '-s', session)).stderr).toContain(`of project ${connected}`);
  expect(await here('facts', session)).toMatchObject({
    stdout: expect.stringMatching(
      new RegExp(`No docker.*\n${id} .*Read the grammar first \\(learning\\)\n$`),
    ),
    stderr: expect.stringContaining(`-- 1 learning of project ${connected}: "throughline learning ls"\n`),
  });
  expect((await here('facts', session, '--kind', 'note')).stdout).not.toContain('Read the grammar first');
  const elsewhere = await here('learning', 'ls', '--project', newSession('elsewhere'));
  expect(elsewhere.stdout).toBe('');
  const named = await up.cli(['learning', 'ls'], { cwd, env: { THROUGHLINE_PROJECT: newSession('named') } });
  expect(named.stdout).toBe('');
});

describe('a proposal on the command line', () => {
  beforeAll(() => {
    project = newSession('proposals');
  });

  it('proposal commands make, list, show and accept a proposal, which is then listed as a learning', async () => {
    const none = await run('learning', 'ls', '--status', 'pending');
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(none.stderr).toMatch(
      /^-- project proposals-\d+ has no pending proposals: .*"throughline learning propose TEXT" adds/,
    );
    expect((await run('learning', 'ls')).stderr).toMatch(
      /has no learnings yet: "throughline learning propose TEXT" proposes/,
    );

    const sure = ['--type', 'pattern', '--confidence', '.8'];
    const made = await run('learning', 'propose', 'Run the linter', ...sure);
    expect(made.stdout).toMatch(/^[0-9a-f]{5} proposed: Run the linter\n$/);
    const id = made.stdout.slice(0, 5);
    expect(made.stderr).toBe(
      `-- "throughline learning accept ${id}" makes it a learning of project ${project}\n`,
    );
    expect((await run('learning', 'propose', 'run the linter!')).stdout).toBe(
      `${id} is proposed already: Run the linter\n`,
    );
    expect((await run('session', 'open', 'demo', '--goal', 'A parser')).code).toBe(0);
    const other = (await propose('Read the spec first', '--tags', 'spec', 'start', '-s', 'demo')).slice(0, 5);

    const listed = await run('learning', 'ls', '--status', 'pending');
    expect(listed.stdout).toBe(
      `ID     TYPE     SURE  TEXT\n${other}  insight  0.50  Read the spec first\n${id}  pattern  0.80  Run the linter\n`,
    );
    expect(listed.stderr).toMatch(
      /^-- 2 pending proposals of project \S+: decide with "throughline learning accept ID/,
    );
    const queue = await run('learning', 'ls');
    expect(queue.stdout).toContain(`${other}  insight  0.50  Read the spec first  (pending)\n`);
    expect(queue.stderr).toContain('decide with "throughline learning accept ID');
    const json = JSON.parse((await run('learning', 'ls', '--status', 'pending', '--json')).stdout);
    expect(json).toMatchObject({
      project,
      proposals: [{ content: 'Read the spec first' }, { confidence: 0.8 }],
    });

    const shown = await run('learning', 'show', other);
    expect(shown.stdout).toMatch(
      /^status {7}pending\n[\s\S]*^tags {9}spec, start\nmethod {7}manual\nsource {7}session demo$/m,
    );

    const accepted = await person('learning', 'accept', id, '--by', 'anna');
    expect(accepted).toEqual({ code: 0, stdout: `${id} accepted: Run the linter\n`, stderr: '' });
    const rejected = await person('learning', 'reject', other, '--reason', 'obvious');
    expect(rejected.stdout).toBe(`${other} rejected: Read the spec first\n`);
    const decided = await run('learning', 'show', other);
    expect(decided.stdout).toMatch(new RegExp(`^status {7}rejected by ${userInfo().username} at `, 'm'));
    expect(decided.stdout).toMatch(/^reason {7}obvious$/m);

    const all = await run('learning', 'ls', '--status', 'all');
    expect(all.stdout).toMatch(/Run the linter {2}\(accepted by anna at \S+\)\n$/);
    expect((await run('learning', 'ls')).stdout).toBe(
      `ID     TYPE     SURE  TEXT\n${id}  pattern  0.80  Run the linter\n`,
    );
  });
});

describe('a learning on the command line', () => {
  beforeAll(() => {
    project = newSession('learnings');
  });

  it('learning commands find and retract a learning', async () => {
    const lint = await learn('Run the linter before you hand in', '--tags', 'lint');
    const parse = await learn('Parsers need a test for empty input');
    const found = await run('learning', 'search', 'write a parser test', '--max-learnings', '1');
    expect(found.stdout).toMatch(new RegExp(`^\\[[01]\\.\\d\\d\\] ${parse} {2}insight {9}Parsers need`));
    expect(found.stderr).toMatch(/^-- 1 of 2 learnings of project \S+, hybrid\n$/);
    expect((await person('learning', 'retract', lint, '--reason', 'wrong')).stdout).toBe(
      `${lint} retracted: Run the linter before you hand in\n`,
    );
    expect((await run('learning', 'ls')).stdout).not.toContain('Run the linter');
    const retracted = await run('learning', 'ls', '--status', 'retracted');
    expect(retracted.stdout).toMatch(
      new RegExp(
        `\\n${lint}  insight  0.50  Run the linter before you hand in  \\(retracted by \\S+ at \\S+: wrong\\)\\n$`,
      ),
    );
    expect(retracted.stderr).toMatch(/^-- 1 retracted proposal of project \S+\n$/);
  });
});

describe('compile with learnings', () => {
  it('compile prints what a session starts with: goal and learnings; and learnings in other prompts', async () => {
    project = newSession('start');
    const session = newSession('start');
    await run('session', 'open', session, '--goal', 'A test for empty input', '--project', project);
    await learn('Parsers need a test for empty input', '--type', 'pattern');
    await propose('A'.repeat(50), '--confidence', '0.5');
    const starting = ['prompt', '-s', session, '--kind', 'session-start'];
    const start = await run(...starting);
    expect(start.stdout).toMatch(
      new RegExp(
        [
          `^\\[Memory of ${project}, .*\\]\nGoal: A test for empty input\n\n`,
          'Relevant learnings \\(1/1\\):\n {2}- pattern: Parsers need a test for empty input \\(\\d\\.\\d\\d\\)\n\n',
          `Pending proposals \\(1\\):\n {2}[0-9a-f]{5} insight {2}"A{37}\\.{3}" \\(0\\.50\\)\n\n`,
          `Review: \`throughline learning ls --project ${project}\`\n$`,
        ].join(''),
      ),
    );
    expect((await run('status')).stdout).toContain(
      `1 proposal to review: "throughline learning ls --project ${project}"`,
    );
    expect(start.stderr).toMatch(
      /^-- 0 of 0 facts, 1 of 1 learning \(hybrid\), 1 proposal pending, about \d+ tokens, event 1 /,
    );

    const none = await run(...starting, '--max-learnings', '0', '--json');
    expect(JSON.parse(none.stdout)).toMatchObject({ learningsShown: 0, learningsTotal: 1, proposalCount: 1 });
    const dispatch = ['prompt', '-s', session, '-t', '1', '-p', 'test the parser'];
    expect((await run(...dispatch, '--max-learnings', '0')).stdout).not.toContain('learnings (');
    const asked = await run(...dispatch, '--explain');
    expect(asked.stdout).toContain('Relevant learnings (1/1):\n');
    expect(asked.stderr).toMatch(/\n-- {3}[0-9a-f]{8} {2}.*Parsers need/);
    const other = await run(...dispatch, '--max-learnings', '3', '--project', 'elsewhere');
    expect(other.stdout).not.toContain('learnings (');
    const then: { learningsSequence: number } = JSON.parse(none.stdout);
    await learn('Test the parser with text of every length', '--type', 'pattern');
    const asOf = ['--learnings-as-of', String(then.learningsSequence)];
    const past = await run(...dispatch, '--max-learnings', '3', ...asOf);
    expect(past.stdout).toContain('Relevant learnings (1/1):\n');
    const fresh = await run('prompt', '-s', newSession('fresh'), '--kind', 'session-start');
    expect(fresh.stderr).not.toContain('does not exist');
  });
});
