import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stateDirOf } from '../config/config.js';
import { serverText, userStore } from '../config/user-server.js';
import { ThroughlineError } from '../contracts/errors.js';
import { INSPECTOR_TOKEN_FILE } from '../nats/server/server-store.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, note, out } from './command-context.js';
import { runningUp, startUserServer } from './detached-up.js';

type OpenOptions = Flags<'print' | 'newToken' | 'json'> & Texts<'store'>;

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

export function openCommand(program: Command): void {
  program
    .command('open')
    .description(
      'Prints the URL of the inspector that "throughline up" serves, and opens it in a browser where this is a terminal.\n' +
        'The URL contains a token: anyone who has it can use the inspector.',
    )
    .option('--store <dir>', 'the store of that server (default: the one in your state directory)')
    .option('--print', 'only print the URL')
    .option('--new-token', 'forget the token: the next start of "throughline up" makes a new one')
    .option('--json', 'only print {"url"} as JSON')
    .examples('throughline open', 'throughline open --print')
    .action(async ({ store, print, newToken, json }: OpenOptions, command: Command) => {
      const { config, autostart, server } = cliOf(command);
      const storeDir = resolve(store ?? userStore(stateDirOf(config.env)));
      if (newToken) {
        rmSync(join(storeDir, INSPECTOR_TOKEN_FILE), { force: true });
        return note(
          '-- the next "throughline up" makes a new token: run "throughline down", then "throughline up"',
        );
      }
      const mayStart = autostart !== undefined && store === undefined;
      const start = () => startUserServer(config, (line) => note(`-- ${line}`));
      const up = (await runningUp(storeDir)) ?? (mayStart ? await start() : undefined);
      if (up === undefined)
        throw new ThroughlineError(
          'unavailable',
          server.kind === 'own'
            ? 'nothing runs: start it with "throughline up --detach"'
            : `the inspector runs where the server does: run "throughline open" there; in use here is ${serverText(server)}`,
        );
      const { inspector: url } = up;
      if (url === null)
        throw new ThroughlineError(
          'unavailable',
          'the running "throughline up" serves no inspector: stop it with "throughline down", then start it without --no-inspector',
        );
      out(json ? JSON.stringify({ url }) : url);
      if (print !== true && json !== true && process.stdout.isTTY) openInBrowser(url, storeDir);
    });
}

/** Opens a private file that redirects to the URL, because other users can read the arguments of a process. */
export function openInBrowser(url: string, privateDir: string): void {
  const page = join(privateDir, 'open-inspector.html');
  rmSync(page, { force: true });
  writeFileSync(page, `<!doctype html><meta http-equiv="refresh" content="0;url=${encodeURI(url)}">\n`, {
    mode: 0o600,
  });
  const [program = 'xdg-open', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, pathToFileURL(page).href], { detached: true, stdio: 'ignore' });
  child.once('error', () => note('-- no browser could be started: open the URL above'));
  child.unref();
}
