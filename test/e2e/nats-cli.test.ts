import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { INDEX_BUCKET, token } from '../../src/contracts/names.js';
import { connectThroughline } from '../../src/index.js';
import { cleanEnv, startUp, type Up } from '../support/cli.js';
import { natsCli } from '../support/nats-cli.js';
import { folderOfFile } from '../support/of-file.js';
import { openPorts, soon, writeSnapshot } from '../support/system.js';

/** The cheat sheet of docs/reference/subjects-and-streams.md, run as it stands there: by the real command line, against a running `up`. */

const root = new URL('../../', import.meta.url);
const HEADING = '## Read them with the nats CLI';
const SESSION = 'demo';
const LEARNING = 'Parsers need a test for empty input';

/** The commands of the first fenced block under the heading: one a line, comments left out. */
function cheatSheet(page: string): string[] {
  const section = page.split(`\n${HEADING}\n`)[1]?.split(/\n## /)[0] ?? '';
  const block = /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
  return block
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

const commands = cheatSheet(
  await readFile(new URL('docs/reference/subjects-and-streams.md', root), 'utf8').catch(() => ''),
);
const found = await natsCli();
const home = await folderOfFile();

/** The JSON of a reply as `nats req` prints it. */
function repliedIn(stdout: string): unknown {
  return JSON.parse(stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1));
}

/** What the output of a command must look like, by what stands in the command. */
const EXPECTED: readonly [name: string, command: RegExp, check: (stdout: string) => void][] = [
  [
    'kv get session_snapshots',
    /\bkv get session_snapshots demo --raw/,
    (stdout) =>
      expect(JSON.parse(stdout).view).toMatchObject({
        results: expect.any(Number),
        newest_facts: expect.arrayContaining([expect.any(String)]),
      }),
  ],
  ['micro ls', /\bmicro (ls|list)\b/, (stdout) => expect(stdout).toContain('prompt-compiler')],
  ['micro info', /\bmicro info\b/, (stdout) => expect(stdout).toContain('prompt.compile')],
  [
    'req prompt.compile',
    /\b(req|request)\b.*prompt\.compile/,
    (stdout) => {
      expect(repliedIn(stdout)).toMatchObject({ prompt: expect.stringContaining('Task prompt:') });
    },
  ],
  [
    'stream get',
    /\bstream get\b/,
    (stdout) => expect(stdout).toMatch(/session\.demo\.|dispatch\.demo\.|rejected\.|learning\.default\./),
  ],
  [
    'req proposal.list',
    /\breq\b.*proposal\.list/,
    (stdout) =>
      expect(repliedIn(stdout)).toMatchObject({
        project: 'default',
        proposals: expect.arrayContaining([expect.objectContaining({ content: LEARNING })]),
      }),
  ],
  [
    'req learning.search',
    /\breq\b.*learning\.search/,
    (stdout) => expect(repliedIn(stdout)).toMatchObject({ method: 'recency', results: [], total: 0 }),
  ],
  [
    'stream get LEARNINGS',
    /\bstream get LEARNINGS\b/,
    (stdout) => {
      const { data }: { data: string } = JSON.parse(stdout);
      expect(JSON.parse(atob(data))).toMatchObject({
        type: 'proposed',
        data: { content: expect.any(String) },
      });
    },
  ],
  [
    'kv get of a project',
    /\bkv get session_snapshots project=default --raw/,
    (stdout) => expect(stdout).toContain(LEARNING),
  ],
  ['pub', /\bpub\b.*dispatch\.demo\./, (stdout) => expect(stdout).not.toMatch(/error/i)],
];

describe('the cheat sheet for the nats CLI', () => {
  it.each(EXPECTED)('the cheat sheet for the nats CLI shows %s', (_name, command) => {
    expect(commands.filter((line) => command.test(line))).not.toEqual([]);
  });
});

describe.skipIf('missing' in found)(
  `the real nats command line${'missing' in found ? ` (skipped: ${found.missing})` : ''}`,
  () => {
    let up: Up;

    beforeAll(async () => {
      // A snapshot of a project is written after a hundred events; here, after each.
      up = await startUp({ THROUGHLINE_TUNING: 'snapshotEvery=1' });
      await feedRecordedSession(up.url);
      // A snapshot, as `up` itself writes one after a hundred events.
      await writeSnapshot(up.url, SESSION);
      await using client = await connectThroughline({ url: up.url });
      await client.learnings.propose({ content: LEARNING });
      await client.compile({ session: SESSION, taskId: '1', taskPrompt: 'x' });
      const ports = await openPorts({ url: up.url, config: loadConfig({}) });
      await soon(async () =>
        expect(await ports.learningSnapshots.load(token('default', 'project'))).toBeDefined(),
      );
      const entry = `$KV.${INDEX_BUCKET}.${SESSION}`;
      const jsm = await ports.connection.jetstreamManager({ checkAPI: false });
      await soon(() => jsm.streams.getMessage(`KV_${INDEX_BUCKET}`, { last_by_subj: entry }));
      await ports.close();
    });
    afterAll(() => up.stop());

    it.each(commands)('the nats CLI runs this command of the cheat sheet: %s', async (command) => {
      const path = 'path' in found ? `${dirname(found.path)}${delimiter}${process.env.PATH}` : '';
      // A home of its own: the contexts of the user who runs this would point elsewhere.
      const env = cleanEnv({ NATS_URL: up.url, PATH: path, HOME: home, XDG_CONFIG_HOME: home });
      // It rejects, with what the command printed, for any exit code but 0.
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { env, timeout: 15_000 });
      for (const [, pattern, check] of EXPECTED) if (pattern.test(command)) check(stdout);
    });

    it('what the nats CLI published has become facts', async () => {
      if (!commands.some((line) => /\bpub\b.*dispatch\.demo\./.test(line))) return;
      const recorded = (await recordedSession()).length;
      await soon(async () => {
        const { stdout } = await up.cli(['prompt', '-s', SESSION, '-t', 'x', '-p', 'x', '--json']);
        const { sequence }: { sequence: number } = JSON.parse(stdout);
        expect(sequence).toBeGreaterThan(recorded);
      });
    });
  },
);

async function recordedSession(): Promise<{ role: 'implementer' | 'reviewer'; body: string }[]> {
  const file = new URL('scripts/demo-session.jsonl', root);
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return lines.map((line): { role: 'implementer' | 'reviewer'; body: string } => JSON.parse(line));
}

async function feedRecordedSession(url: string): Promise<void> {
  await using client = await connectThroughline({ url });
  const lines = await recordedSession();
  const published = await Promise.all(lines.map(({ role, body }) => client.publishText(SESSION, role, body)));
  for (const { sequence: after } of published) {
    await client.tools.dispatchShow({ session: SESSION, dispatch: after });
  }
}
