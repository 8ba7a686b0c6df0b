import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { factsOfEvent } from '../../src/memory/facts/statements.js';
import { factsOf } from '../../src/memory/session/session-state.js';
import { cli } from '../support/cli.js';
import { git, gitRepository } from '../support/git.js';
import { folderOfFile } from '../support/of-file.js';
import { allDealtWith, eventsOf, freshState, newSession, systemOfFile } from '../support/system.js';

/** The history of real repositories, imported by the command line. */

const NAMES = [
  'with space.txt',
  'ünï/日本.txt',
  'q"uo\'te.txt',
  '-dash.txt',
  'tab\there.txt',
  'new\nline.txt',
];

const folder = await folderOfFile();
const system = await systemOfFile();
const COMMITS = 300;
const [odd, long] = [await oddRepository(), longRepository()];

/** Four commits, of odd names and without any. */
async function oddRepository(): Promise<string> {
  const repo = join(folder, 'odd');
  await mkdir(join(repo, 'ünï'), { recursive: true });
  git(repo, ['init', '-q']);
  for (const name of NAMES) await writeFile(join(repo, name), 'one');
  git(repo, ['add', '-A']);
  git(repo, ['commit', '-q', '-m', 'Add files with "odd" names\n\nA body.\n\n- that has lines']);
  git(repo, ['commit', '-q', '--allow-empty', '-m', 'Change nothing']);
  await writeFile(join(repo, 'with space.txt'), 'two');
  git(repo, ['commit', '-q', '-a', '--allow-empty-message', '-m', '']);
  await writeFile(join(repo, 'last.txt'), 'three');
  git(repo, ['add', '-A']);
  git(repo, ['commit', '-q', '-m', 'Add the last one — ünïcode']);
  return repo;
}

/** Many commits on one day in January and one in June, with a branch and a tag in between. */
function longRepository(): string {
  const repo = join(folder, 'long');
  const seconds = (date: string) => Date.parse(date) / 1000;
  const commits = Array.from({ length: COMMITS }, (_, index) => {
    const when =
      index === COMMITS - 1 ? seconds('2026-06-15T12:00:00Z') : seconds('2026-01-15T12:00:00Z') + index;
    const files = index % 100 === 99 ? [`src/f${index}.ts`, `docs/f${index}.md`] : [`src/f${index % 40}.ts`];
    const subject = `Change ${index}`;
    return [
      'commit refs/heads/main',
      `committer n <n@example.com> ${when} +0000`,
      `data ${subject.length}\n${subject}`,
      ...files.map((file) => `M 100644 inline ${file}\ndata ${subject.length}\n${subject}`),
      ...(index === 99 ? ['reset refs/heads/old', 'from refs/heads/main\n'] : []),
    ].join('\n');
  });
  fastImported(repo, `${commits.join('\n')}\ndone\n`);
  return repo;
}

/** Makes a bare repository of a stream of `git fast-import`. */
function fastImported(repo: string, stream: string): void {
  git(folder, ['init', '--quiet', '--bare', repo]);
  git(repo, ['fast-import', '--quiet'], stream);
  git(repo, ['symbolic-ref', 'HEAD', 'refs/heads/main']);
}

const importing = (session: string, repo: string, ...args: string[]) =>
  cli(['result', 'import-git', '-s', session, '--repo', repo, ...args], { env: { NATS_URL: system.url } });

interface Imported {
  readonly commits: number;
  readonly shortened: number;
  readonly sequence: number;
}

async function imported(session: string, repo: string, ...args: string[]): Promise<Imported> {
  const { code, stdout, stderr } = await importing(session, repo, '--json', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function recordedIn(session: string) {
  await allDealtWith(system.ports);
  return (await eventsOf(system, session)).map(({ event }) => {
    if (event.type !== 'fact.recorded') throw new Error(event.type);
    return { summary: event.data.dispatch.outcome.summary, facts: factsOfEvent(event) };
  });
}

async function rememberedIn(session: string) {
  await allDealtWith(system.ports);
  const state = await freshState(system, session);
  return { counts: state.dispatches.current().counts, facts: factsOf(state).all() };
}

describe('import git', () => {
  it('import git makes each commit a result, whatever its files are called', async () => {
    const session = newSession('git');
    expect(await imported(session, odd)).toMatchObject({ commits: 4 });
    const results = await recordedIn(session);
    const shown = NAMES.map((name) => name.replace(/[\t\n]/, ' '));
    const modified = results.map(({ facts }) =>
      facts.flatMap(({ subject, relation }) => (relation === 'modified_by' ? [subject] : [])).sort(),
    );
    expect(modified).toEqual([shown.sort(), [], ['with space.txt'], ['last.txt']]);
    expect(results.map(({ summary }) => summary)).toEqual([
      'Add files with "odd" names',
      'Change nothing',
      '(no subject)',
      'Add the last one — ünïcode',
    ]);
    const newest = await importing(newSession('git'), odd, '--limit', '1');
    expect(newest.stdout).toMatch(/^1 commit imported; the last one is result \d+\n$/);
  });

  it('import git shortens a commit that no dispatch can hold, says so, and imports the others', async () => {
    const repo = join(folder, 'huge');
    const commit = (subject: string, files: readonly string[]) =>
      [
        'commit refs/heads/main',
        'committer n <n@example.com> 1767225600 +0000',
        `data ${Buffer.byteLength(subject)}`,
        subject,
        ...files.flatMap((file) => [`M 644 inline ${file}`, 'data 1', 'x']),
        '',
      ].join('\n');
    const long = (at: number) => `${'\u00fc'.repeat(100)}/${'d'.repeat(200)}/${'e'.repeat(200)}/${at}`;
    const files = Array.from({ length: 1500 }, (_, at) => `a/${long(at)}`);
    const huge = commit(`Huge ${'s'.repeat(3_000_000)}`, []);
    fastImported(repo, huge + commit('Many', files) + commit('Small', ['a.txt']));
    const session = newSession('huge');
    expect(await imported(session, repo)).toMatchObject({ commits: 3, shortened: 2 });
    const summaries = (await recordedIn(session)).map(({ summary = '' }) => summary.slice(0, 6));
    expect(summaries).toEqual(['Huge s', 'Many', 'Small']);
  });

  it('import git names the branches that were merged', async () => {
    const repo = join(folder, 'merged');
    await mkdir(repo);
    await writeFile(join(repo, 'a.txt'), 'a');
    gitRepository(repo);
    for (const [branch, message] of [
      ['feat-x', `Merge branch 'feat-x' into main`],
      ['ann/feat-y', 'Merge pull request #7 from shop/ann/feat-y'],
    ] as const) {
      git(repo, ['checkout', '-qb', branch]);
      git(repo, ['commit', '-q', '--allow-empty', '-m', branch]);
      git(repo, ['checkout', '-q', 'main']);
      git(repo, ['merge', '-q', '--no-ff', '-m', message, branch]);
    }
    const session = newSession('merged');
    expect(await imported(session, repo)).toMatchObject({ commits: 3 });
    const ended = (await rememberedIn(session)).facts.filter(({ relation }) => relation === 'branch_ended');
    expect(ended.map(({ subject, object }) => `${subject} ${object}`).sort()).toEqual([
      'branch:ann/feat-y merged',
      'branch:feat-x merged',
    ]);
  });

  it('import git changes nothing when it is repeated, whatever is selected then', async () => {
    const session = newSession('again');
    await imported(session, long, '--limit', '5');
    const before = await rememberedIn(session);
    expect(before.counts).toMatchObject({ implementer: 5 });
    expect(await imported(session, long, '--limit', '5')).toMatchObject({ commits: 5 });
    await imported(session, long, '--limit', '1', '--path', 'docs', '--branch', 'main');
    expect(await rememberedIn(session)).toEqual(before);
    expect(await recordedIn(session)).toHaveLength(11);
  });

  it('import git refuses more commits than a session remembers', async () => {
    const refused = await importing('x', long, '--limit', '2001');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('2000');
  });

  it('import git makes history: facts, and no ledger that waits for a review', async () => {
    const session = newSession('history');
    await imported(session, odd);
    await allDealtWith(system.ports);
    const state = await freshState(system, session);
    expect(factsOf(state).count()).toBeGreaterThan(8);
    expect([...state.dispatches.current().ledgers]).toEqual([]);
  });

  it.each([
    ['--branch of a commit', ['--branch', 'main~297'], 'Change 2', 3],
    ['--path of several', ['--path', 'docs', 'src/f1.ts'], 'Change 299', 11],
    ['all of them', ['--path', 'docs', '--since', '2020-01-01', '--branch', 'old'], 'Change 99', 1],
    ['--path without a match', ['--path', 'nowhere'], undefined, 0],
  ])('import git is narrowed by %s', async (_, args, newest, count) => {
    const session = newSession('narrow');
    expect(await imported(session, long, '--limit', '100', ...args)).toMatchObject({ commits: count });
    const results = await recordedIn(session);
    expect(results).toHaveLength(count);
    expect(results.at(-1)?.summary).toBe(newest);
  });

  it('import git says in one line that git knows no branch of this name, even if it looks like an option', async () => {
    const refused = await importing('x', long, '--branch=--output=stolen');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^throughline: --repo .*bad revision '--output=stolen'.*\n$/);
  });

  it('import git exits 2 and names the folder that has no repository', async () => {
    const refused = await importing('x', '/');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/--repo \/: .*not a git repository/);
  });
});
