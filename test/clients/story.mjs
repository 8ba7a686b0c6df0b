// An everyday turn in one client, without any wording of ours, and the start of the next session in another client.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEndpoint } from './endpoint.mjs';
import { run, until } from './processes.mjs';
import { BIN } from './services.mjs';

const ANSWER = `The package is private now: package.json has "private": true, and the tests pass.

Decided: use node:test, no jest

Open: should generated files end with a semicolon?`;

const NEXT = 'What is left to do?';

/** The root of this repository, where clients find our packages. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Plays it in a folder: what the second client is given, and the fault or none. The clients are connected for their user, or with
 * `isPackaged` install our package with their own commands.
 */
export async function story({ first, second, folder, services, isPackaged = false }) {
  const [home, project, bin] = ['home', 'shop', 'bin'].map((each) => join(folder, each));
  for (const each of [folder, home, project, bin]) mkdirSync(each);
  const git = (...args) => execFileSync('git', args, { cwd: project, stdio: 'ignore' });
  git('init', '--initial-branch', 'main');
  const [owner, repository] = [isPackaged ? 'packaged' : first.name, second.name];
  git('remote', 'add', 'origin', `https://host.example/${owner}/${repository}.git`);
  const servers = join(folder, 'servers');
  writeFileSync(servers, '');
  // On a busy machine a hook may take its time here; how long it takes is measured elsewhere.
  const cases = `mcp) pwd >> "${servers}" ;; hook) set -- "$@" --within 8000 ;;`;
  const shim = `#!/bin/sh\ncase "$1" in ${cases} esac\nexec "${process.execPath}" "${BIN}" "$@"\n`;
  writeFileSync(join(bin, 'throughline'), shim, { mode: 0o755 });
  const endpoint = await startEndpoint();
  try {
    for (const { client } of [first, second]) {
      for (const [file, text] of Object.entries(client.files({ home, project, url: endpoint.url }))) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
    }
    const turn = async ({ name, client, program }, prompt) => {
      const path = [bin, dirname(program), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
      const env = { HOME: home, PATH: path, NATS_URL: services.url, ...client.env(endpoint.url) };
      const steps = isPackaged
        ? client.plugin(ROOT).map((args) => [program, args])
        : [[process.execPath, [BIN, 'connect', name, '--user', '--yes']]];
      for (const [command, args] of prompt === NEXT && isPackaged ? [] : steps) {
        const { code, output } = await run(command, args, { env, cwd: project, input: 'y\n' });
        if (code !== 0) throw new Error(`${args.join(' ')}: ${output}`);
      }
      return run(program, client.args(prompt), { env, cwd: project, timeout: 120_000 });
    };
    const { tools } = first.client;
    endpoint.scripts.set('Make the package private', [
      tools.write(join(project, 'package.json'), 'package.json', '{ "private": true }'),
      tools.shell('echo all tests pass'),
      { say: ANSWER },
    ]);
    endpoint.scripts.set('What is left to do', [{ say: 'See above.' }]);
    const done = await turn(first, 'Make the package private');
    const session = `${owner}-${repository}`;
    await until(
      (facts) => facts.length > 0,
      () => services.ask('facts', session, '--relation', 'summary').catch(() => []),
    );
    const next = await turn(second, NEXT);
    const body =
      endpoint.requests.find((each) => each.tools.length > 0 && each.body.includes('What is left'))?.body ??
      '';
    const told = /\[Memory of .*?Last: [^\]]*\]/
      .exec(body)?.[0]
      .replaceAll('\\n', '\n')
      .replaceAll('\\"', '"');
    const knows = ['The package is private now', 'package.json', 'node:test, no jest'].every((text) =>
      told?.includes(text),
    );
    const elsewhere = readFileSync(servers, 'utf8')
      .split('\n')
      .filter((place) => place !== '' && place !== project);
    const texts = [
      told ?? 'it is told nothing',
      ...elsewhere.map((place) => `the MCP server ran in ${place}`),
    ];
    const fault = [...texts, done.output.slice(-800), next.output.slice(-800)].join('\n');
    return { told, ...((!knows || elsewhere.length > 0) && { fault }) };
  } finally {
    endpoint.close();
  }
}
