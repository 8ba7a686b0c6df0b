import { describe, expect, it } from 'vitest';
import type { PromptTrace } from '../../src/contracts/prompt-requests.js';
import { connectThroughline } from '../../src/index.js';
import { startUp } from '../support/cli.js';
import { ofFile } from '../support/of-file.js';
import { implemented, newSession, publishWire, publishWork, reviewed, soon } from '../support/system.js';

const FINDINGS = 12;
const session = newSession('room');
const base = ['prompt', '-s', session, '-t', '99', '-p', 'Extend the parser for empty input'];

const up = await ofFile(startUp());
const client = await ofFile(connectThroughline({ url: up.url }));
const fix = 'Return an empty list for empty input of the parser, and say in a comment what reads it, case';
for (let task = 1; task <= FINDINGS; task += 1) {
  const review = reviewed(String(task), 'needs_changes', { required_fixes: [`${fix} ${task}`] });
  await publishWire(client, 'reviewer', session, review);
}
const result = implemented('1', { summary: 'Parser done', files_modified: ['src/parser.ts'] });
await publishWire(client, 'implementer', session, result, { wait: true });

describe('compile in a small room', () => {
  it('compile --room says on standard error what it left out', async () => {
    const { code, stdout, stderr } = await up.cli([...base, '--room', '400']);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /\n-- shortened from \d+ to [34]\d\d of 400 tokens; shown are findings \d of \d+\b.*\n$/,
    );
    const shown = stdout.match(/^- required fix: /gm) ?? [];
    expect(shown.length).toBeLessThan(FINDINGS);
  });
});

describe('facts', () => {
  it('facts shows each fact whole on one line, a finding with its severity and its fix', async () => {
    const long = newSession('whole');
    const [summary, message, fix] = ['s', 'm', 'f'].map((letter) => `${letter.repeat(300)} end`);
    await publishWork(client, long, '1', { summary: `${summary}\nof it` });
    const issues = [
      { severity: 'important' as const, file: 'src/a.ts', message: `${message}`, fix: `${fix}` },
      { severity: 'minor' as const, file: 'src/b.ts', message: 'short' },
    ];
    const review = reviewed('1', 'needs_changes', { issues });
    await publishWire(client, 'reviewer', long, review, { wait: true });
    const lines = (await up.cli(['facts', long])).stdout
      .replaceAll(/^[0-9a-f]{8} +1 +\d+ +/gm, '')
      .split('\n');
    expect(lines).toContain(`task:1 summary ${summary} of it`);
    expect(lines).toContain(`src/a.ts issue ${message} (important, fix: ${fix})`);
    expect(lines).toContain('src/b.ts issue short (minor)');
  });
});

describe('throughline prompt', () => {
  it('prompts ls lists what was compiled, and prompts show says what it held and compiles it again', async () => {
    const compiled = await up.cli([...base, '--role', 'reviewer', '--room', '600']);
    const [newest] = await soon(async () => {
      const { stdout } = await up.cli(['prompt', 'ls', session, '--json']);
      const found: PromptTrace[] = JSON.parse(stdout);
      expect(found[0]).toMatchObject({ role: 'reviewer', room: 600 });
      return found;
    });
    const id = newest?.id ?? '';
    const listed = await up.cli(['prompt', 'ls', '-s', session, '--limit', '1']);
    expect(listed.stdout).toMatch(new RegExp(`^${id} +\\S+ \\S+ +dispatch +reviewer +99 +13 +`, 'm'));
    expect(listed.stderr).toMatch(/^-- 1 of \d+ prompts\n$/);
    const shown = await up.cli(['prompt', 'show', id, '-s', session]);
    expect(shown.stdout).toMatch(
      /^ {2}[0-9a-f]{8} {2}- required fix: Return .*\[task:\d+, .*\]( {2}<- \S.*)?$/m,
    );
    expect(shown.stdout).toMatch(/^ {2}[0-9a-f]{8} {2}.* {2}<- [a-z ]+; score \d\.\d\d: result \d+, /m);
    const last = await up.cli(['last', session]);
    expect(shown.stdout).toContain(last.stdout);
    expect(last.stderr).toContain(
      `"throughline prompt show ${id} -s ${session}" also shows what was left out`,
    );
    const again = await up.cli(['prompt', 'show', id.slice(0, 8), '-s', session, '--text']);
    expect(again).toEqual({ code: 0, stdout: compiled.stdout, stderr: '' });
  });

  it('last shows the lines that a hook gave of a prompt, and nothing that was erased', async () => {
    const at = newSession('given');
    const person = (...args: string[]) => up.cli([...args, '-s', at], { terminal: true });
    for (const text of ['Uploads are retried three times with a growing pause', 'Dates are ISO 8601'])
      await person('note', 'add', text, '--type', 'decision');
    const compile = () => up.cli(['prompt', '--kind', 'iteration', '-p', 'Go on', '-s', at]);
    await compile();
    // A prompt is kept after its reply.
    const last = async (says: string, tokens = / of 8000 tokens/) =>
      soon(async () => {
        const shown = await up.cli(['last', at]);
        expect(shown.stderr).toContain(says);
        expect(shown.stdout).toMatch(tokens);
        return shown.stdout;
      });
    expect(await last('compiled, not given by a hook here')).toMatch(/retried[\s\S]*ISO|ISO[\s\S]*retried/);
    const { stdout } = await up.cli(['hook', 'claude', '--within', '20000'], {
      env: { THROUGHLINE_SESSION: at },
      input: JSON.stringify({
        hook_event_name: 'UserPromptSubmit',
        session_id: at,
        prompt_id: 'p1',
        prompt: 'After which pause are uploads retried?',
      }),
    });
    expect(stdout).toMatch(/Uploads are retried three times[\s\S]*\[N1/);
    const given = await last('as a hook gave it, ', /^\d\d of 8000/m);
    expect(given).toMatch(/^ {2}N1 .*Uploads are retried three times/m);
    expect(given).not.toContain('ISO 8601');
    expect((await up.cli(['last', at, '--text'])).stdout).toContain('ISO 8601');
    await person('facts', 'erase', 'N1', '--yes');
    await compile();
    expect(await last('compiled, not given by a hook here')).not.toContain('growing pause');
  });

  it('a session that does not exist is named with one of a similar name', async () => {
    const session = newSession('similar');
    await up.cli(['task', 'add', 'Write the parser', '-s', session]);
    const named = `beginning-of-${session}`;
    await up.cli(['task', 'add', 'Write the parser', '-s', named]);
    for (const [given, meant] of [
      [session.replace('similar', 'simlar'), session],
      ['beginning-of', named],
    ] as const) {
      const { code, stderr } = await up.cli(['facts', '-s', given]);
      expect(code).toBe(3);
      expect(stderr).toContain(`did you mean ${meant}?`);
    }
  });

  it('a session that does not exist is named before a task without a text', async () => {
    const nobody = newSession('nobody');
    const asked = ['prompt', '-s', nobody, '-t', '2'];
    expect(await up.cli(asked)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`session ${nobody} does not exist`),
    });
    expect(await up.cli([...asked, '--new'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('on the command line as -p'),
    });
  });
});
