import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { cacheDirOf } from '../../src/nats/server/server-version.js';
import { cli, cliProcess } from '../support/cli.js';
import { credentialsFolder } from '../support/credentials.js';
import { argumentsOf, documentedCommands } from '../support/documented-commands.js';
import { git, gitRepository } from '../support/git.js';
import { afterTest, folderOfTest, ofFile } from '../support/of-file.js';
import { onTerminal, PTY_MISSING } from '../support/pty.js';

/** Two users of the operating system share a memory, by the commands of the page as they stand there. */

const ANN = 65_534;
const NOT_HERE = process.getuid?.() === 0 ? PTY_MISSING : 'a second user needs root';

const files = await ofFile(credentialsFolder());
const cert = await files.authority('server');

/** The commands of the section, each by its first words. */
function documented(begin: string): string[] {
  const commands = documentedCommands().filter(({ page }) => page === 'docs/how-to/secure.md');
  const found = commands
    .map(({ line }) => argumentsOf(line)[0])
    .find((args) => args?.join(' ').startsWith(begin));
  expect(found, begin).toBeDefined();
  return found ?? [];
}

async function clone(home: string) {
  const shop = join(home, 'shop');
  await mkdir(shop);
  await writeFile(join(shop, 'readme.md'), 'x');
  gitRepository(shop);
  git(shop, ['remote', 'add', 'origin', 'https://host.example/acme/shop.git']);
  const env = {
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: dirname(cacheDirOf(process.env, homedir())),
  };
  return { shop, env };
}

it.skipIf(NOT_HERE !== undefined)(
  "a colleague's decision is in one's own session start after the commands of the page",
  async () => {
    const [bobsHome, annsHome] = [await folderOfTest(), await folderOfTest()];
    const bob = await clone(bobsHome);
    const ann = await clone(annsHome);
    execFileSync('chown', ['-R', `${ANN}:${ANN}`, annsHome]);
    await copyFile(cert, join(bob.shop, 'cert.pem'));
    await copyFile(cert.replace(/pem$/, 'key'), join(bob.shop, 'key.pem'));
    afterTest(() => cli(['down'], { env: bob.env, cwd: bob.shop }));

    let printed = '';
    for (const begin of ['down', 'up --detach --listen', 'team invite ann']) {
      const { code, stdout, stderr } = await cliProcess(documented(begin), { env: bob.env, cwd: bob.shop });
      expect({ begin, code, stderr }).toMatchObject({ code: 0 });
      printed = stdout;
    }
    const [command = '', invitation = ''] = printed.split('\n');
    expect(command).toMatch(/^throughline team join tls:\/\/127\.0\.0\.1:\d+$/);

    const asAnn = async (
      args: readonly string[],
      answers: readonly (readonly [asked: string, typed: string])[],
    ) => {
      await using terminal = await onTerminal(args, ann.env, ann.shop, 400, ANN);
      for (const [asked, typed] of answers) {
        await terminal.shows(asked);
        terminal.type(`${typed}\r`);
      }
      expect({ screen: terminal.screen(), code: (await terminal.ended()).code }).toMatchObject({ code: 0 });
      expect(terminal.screen()).not.toContain(invitation);
    };
    const [url = ''] = /tls:.*/.exec(command) ?? [];
    const join_ = documented('team join tls:').map((word) => word.replace('tls://host:4222', url));
    await asAnn(join_, [['Invitation', invitation]]);
    await asAnn(documented('connect claude'), [['Change ', 'y']]);
    await asAnn(documented('note add'), []);

    const event = { hook_event_name: 'SessionStart', session_id: '1', source: 'startup', cwd: bob.shop };
    const options = { env: bob.env, cwd: bob.shop, input: JSON.stringify(event) };
    const { stdout } = await cliProcess(['hook', 'claude', '--within', '20000'], options);
    expect(stdout).toMatch(/Decided: The parser is recursive \[N1, ann, \d+ \w{3} \d\d:\d\d\]/);
  },
);
