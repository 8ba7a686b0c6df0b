import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completedCommands, completionScript, SHELLS, type Shell } from '../../scripts/completion.mjs';
import { COMMANDS, SHOWN_GROUPS } from '../../src/cli/command-table.js';
import { createProgram } from '../../src/cli/program.js';
import { folderOfFile } from '../support/of-file.js';

/** What real shells offer behind a line that is not finished. */

const folder = await folderOfFile();

const TOP = COMMANDS.filter(({ group }) => SHOWN_GROUPS.some((each) => each === group)).map(
  ({ name }) => name,
);
const commands = completedCommands(await createProgram());
const script = (shell: Shell) => join(folder, shell);
for (const shell of SHELLS) writeFileSync(script(shell), completionScript(shell, commands));
// Stands for the command that the scripts ask for sessions.
writeFileSync(join(folder, 'throughline'), '#!/bin/sh\nprintf "login\\nlogout\\n"\n', { mode: 0o755 });
const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, HOME: folder };

const isThere = (shell: string) => {
  try {
    execFileSync(shell, ['-c', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const OFFERED: Record<Shell, (line: string) => string> = {
  bash: (line) =>
    `source ${script('bash')}
COMP_WORDS=(${line}); [[ ${JSON.stringify(line)} == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _throughline; printf '%s\n' "\${COMPREPLY[@]}"`.replaceAll(
      '\\$',
      '$',
    ),
  zsh: (line) =>
    `autoload -Uz compinit; compinit -u -d ${folder}/dump; source ${script('zsh')}
_describe() { while [[ $1 == -* ]]; do shift; done; print -rl -- \${(P)2%%:*}; }; compadd() { shift; print -rl -- "$@"; }
words=(\${(z)"$(print -r -- ${JSON.stringify(line)})"}); [[ ${JSON.stringify(line)} == *' ' ]] && words+=('')
CURRENT=\${#words}; _throughline`.replaceAll('\\$', '$'),
  fish: (line) => `source ${script('fish')}; complete -C ${JSON.stringify(line)}`,
};

const offered = (shell: Shell, line: string): string[] =>
  execFileSync(shell, ['-c', OFFERED[shell](line)], { env, encoding: 'utf8' })
    .split('\n')
    .map((each) => each.split('\t', 1)[0] ?? '')
    .filter((each) => each !== '' && each.startsWith(line.slice(line.lastIndexOf(' ') + 1)));

describe.each(SHELLS)('the completion of %s', (shell) => {
  it.skipIf(!isThere(shell)).each([
    ['throughline ', TOP],
    ['throughline pu', ['publish']],
    ['throughline session ', ['ls', 'telemetry']],
    ['throughline publish ', ['implementer', 'reviewer']],
    ['throughline prompt --session ', ['login', 'logout']],
    ['throughline facts ', ['login', 'logout']],
    ['throughline prompt --session login --ki', ['--kind']],
    ['throughline --nats nats://a facts --jso', ['--json']],
    ['throughline connect ', ['codex', 'ls']],
  ])(`${shell} completes %j`, (line, expected) => {
    expect(offered(shell, line)).toEqual(expect.arrayContaining([...expected]));
  });

  it.skipIf(!isThere(shell))(`${shell} offers no command behind one that has none below it`, () => {
    expect(offered(shell, 'throughline down ')).not.toContain('up');
    expect(offered(shell, 'throughline session l')).toEqual(['ls']);
  });
});

it('what is completed are all commands with all their options', () => {
  const of = (at: string) => commands.find((each) => each.at === at);
  const words = of('')
    ?.commands.map(({ word }) => word)
    .sort();
  expect(words).toEqual([...TOP, 'admin'].sort());
  expect(of('session ls')?.options.flatMap(({ flags }) => flags)).toEqual(
    expect.arrayContaining(['--json', '--nats', '--help']),
  );
  expect(of('session ls')?.options.flatMap(({ flags }) => flags)).not.toContain('--version');
});
