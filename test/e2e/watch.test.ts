import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { BIN, cleanEnv } from '../support/cli.js';
import { startGuardedSystem } from '../support/guarded-system.js';
import { wayTo } from '../support/listener.js';
import { allDealtWith, newSession, publishWork, soon, systemOfFile } from '../support/system.js';

/** `throughline log -f`, once it says that it watches or has ended. */
async function watching(env: Readonly<Record<string, string>>, ...args: string[]) {
  const child = spawn(process.execPath, [BIN, 'log', '-f', ...args], {
    env: cleanEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close') as Promise<[number | null]>;
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  await soon(() => {
    if (child.exitCode === null) expect(stderr).toContain('-- watching');
  });
  /** Ctrl-C, and the exit code. */
  const end = async () => {
    child.kill('SIGINT');
    return (await exited)[0];
  };
  return {
    lines: () => stdout.split('\n').filter((line) => line !== ''),
    stdout: () => stdout,
    stderr: () => stderr,
    end,
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
}

const system = await systemOfFile();
const { client } = system;

describe('throughline log -f', () => {
  it(`throughline log -f shows what happens in all sessions, and what was missed while the connection was lost`, async () => {
    const [old, fresh, quiet] = [newSession('old'), newSession('fresh'), newSession('quiet')];
    await publishWork(client, old, 'before');
    await publishWork(client, quiet, 'before');
    await allDealtWith(system.ports);
    await using way = await wayTo(system.url);
    await using all = await watching({ NATS_URL: way.url }, '--json');
    const told = () =>
      all.lines().map((line) => {
        const { session, type, task } = JSON.parse(line);
        return `${session} ${type} ${task ?? '-'}`;
      });
    await publishWork(client, old, '1', { summary: 'Parser \u001b[31mdone\u0007' });
    await publishWork(client, fresh, '1');
    await client.tools.taskAdd({ session: fresh, content: 'Write the printer' });
    await client.publishText(old, 'reviewer', 'not a result');
    const first = [
      `${old} fact.recorded 1`,
      `${fresh} fact.recorded 1`,
      `${fresh} task.added TAS-1`,
      `${old} dispatch.rejected -`,
    ];
    await soon(() => expect(told().sort()).toEqual(first.sort()));
    expect(all.stdout()).not.toContain('\u001b');
    expect(all.stdout()).not.toContain('\u0007');

    await way.cut();
    await soon(() => expect(all.stderr()).toContain('-- the connection is lost'));
    await publishWork(client, quiet, 'missed');
    for (const task of ['2', '3']) await publishWork(client, old, task);
    const born = newSession('born');
    await publishWork(client, born, '1');
    await allDealtWith(system.ports);
    expect(told()).toHaveLength(first.length);
    await way.mend();
    await soon(() => expect(all.stderr()).toContain('-- connected again'));
    await soon(() => expect(told()).toHaveLength(first.length + 4));
    expect(told().slice(first.length).sort()).toEqual(
      [
        `${quiet} fact.recorded missed`,
        ...['2', '3'].map((task) => `${old} fact.recorded ${task}`),
        `${born} fact.recorded 1`,
      ].sort(),
    );
    await publishWork(client, fresh, '4');
    await soon(() => expect(told().at(-1)).toBe(`${fresh} fact.recorded 4`));
    expect(await all.end()).toBe(0);
  });

  it(`throughline log -f shows one session, or those of a project`, async () => {
    const [one, other] = [newSession('one'), newSession('other')];
    await client.tools.sessionOpen({ session: one, project: 'print er' });
    await client.tools.sessionOpen({ session: other, project: 'scanner' });
    // What the list does not know yet counts as new.
    await soon(async () => {
      const { sessions } = await client.tools.sessionList({ project: 'print-er' });
      expect(sessions.map(({ session }) => session)).toContain(one);
    });
    await using way = await wayTo(system.url);
    await using mine = await watching({ NATS_URL: way.url }, '--session', one);
    await using printer = await watching({ NATS_URL: system.url }, '--project', 'print er');
    expect(printer.stderr()).toContain('-- the project is print-er: "print er" is kept under this name');
    await publishWork(client, other, 'elsewhere');
    await publishWork(client, one, '1', { summary: 'Parser done' });
    const line =
      /^\d{4}-\S+ \S+ {2}one-\d+ {2}result +1 {2}implementer completed {2}Parser done \(result \d+\)$/;
    // The list may date a session a moment before its event, which is then shown as new.
    const news = (of: typeof mine) => of.lines().filter((each) => !each.includes('session opened'));
    for (const each of [mine, printer]) {
      await soon(() => expect(news(each)).toEqual([expect.stringMatching(line)]));
    }
    await way.cut();
    await soon(() => expect(mine.stderr()).toContain('-- the connection is lost'));
    for (const task of ['2', '3']) await publishWork(client, one, task);
    await allDealtWith(system.ports);
    await way.mend();
    await soon(() => expect(mine.lines()).toHaveLength(3));
    expect(mine.lines().map((each) => /did (\d)/.exec(each)?.[1])).toEqual([undefined, '2', '3']);
    await soon(() => expect(news(printer)).toHaveLength(3));
    expect(await mine.end()).toBe(0);
    expect(await printer.end()).toBe(0);
  });

  it(`throughline log -f of a session that is not there says so, and shows it once it begins`, async () => {
    const later = newSession('later');
    await using watch = await watching({ NATS_URL: system.url }, '--session', later);
    expect(watch.stderr()).toContain(`-- there is no session ${later} yet: waiting for it to begin\n`);
    await publishWork(client, later, '1');
    await soon(() => expect(watch.lines()).toHaveLength(1));
    await using again = await watching({ NATS_URL: system.url }, '--session', later);
    expect(again.stderr()).not.toContain('there is no session');
  });

  it(`a reader of one session watches that one alone, and a reader of all watches all`, async () => {
    await using guarded = await startGuardedSystem([
      { name: 'visitor', role: 'reader', args: ['--session', 'mine'] },
      { name: 'reader', role: 'reader' },
    ]);
    const { client } = guarded;
    await publishWork(client, 'mine', 'before');
    await allDealtWith(guarded.ports);
    await using visitor = await watching({ ...guarded.env('visitor') }, '--session', 'mine');
    await using reader = await watching(guarded.env('reader'));
    await publishWork(client, 'mine', '1');
    await publishWork(client, 'theirs', '2');
    await soon(() => expect(visitor.lines()).toEqual([expect.stringContaining('did 1')]));
    await soon(() => expect(reader.lines()).toHaveLength(2));
    await using bound = await watching({ ...guarded.env('visitor') });
    expect(bound.stderr()).toContain('a user who is bound to sessions gives --session');
    await using stranger = await watching({ ...guarded.env('visitor') }, '--session', 'theirs');
    expect(stranger.stderr()).toContain('permission_denied');
    expect(reader.stderr()).not.toContain('denied');
  });
});
