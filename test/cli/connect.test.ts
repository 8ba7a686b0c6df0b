import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CONNECT_NAMES } from '../../src/agents/connect/client-table.js';
import { cli } from '../support/cli.js';
import { newFolder } from '../support/of-file.js';
import { onTerminal, PTY_MISSING } from '../support/pty.js';

const run = promisify(execFile);

/** A project and a home of its own; with the programs that the path has. */
async function place(...programs: string[]) {
  const folder = await newFolder();
  const root = folder.path;
  const [project, home, bin] = ['app', 'home', 'bin'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [project, home, bin]) await mkdir(path);
  for (const name of programs) {
    await writeFile(join(bin, name), '#!/bin/sh\necho "$0 1.2.3"\n');
    await chmod(join(bin, name), 0o755);
  }
  const env = {
    HOME: home,
    XDG_STATE_HOME: join(home, '.local', 'state'),
    PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin`,
    NATS_URL: 'nats://127.0.0.1:9',
  };
  return {
    project,
    home,
    env,
    connect: (...args: string[]) => cli(['connect', ...args], { cwd: project, env }),
    write: async (name: string, text: string) => {
      await mkdir(join(project, name, '..'), { recursive: true });
      await writeFile(join(project, name), text);
    },
    read: (name: string) => readFile(join(project, name), 'utf8'),
    /** Every file of the project and the home with its text, but for the owners of sessions, who stay as these do. */
    async files() {
      const names = await readdir(root, { recursive: true, withFileTypes: true });
      const files = names
        .filter((each) => each.isFile() && each.name !== 'session-names')
        .map((each) => join(each.parentPath, each.name));
      return Object.fromEntries(
        await Promise.all(files.map(async (name) => [name, await readFile(name, 'utf8')])),
      );
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const SETTINGS = `{
  // Mine, and it stays.
  "permissions": { "allow": ["Bash(ls:*)"] },
  "hooks": {
    "Stop": [
      { "hooks": [{ "type": "command", "command": "say done" }] } // rings
    ]
  }
}
`;

describe.each(CONNECT_NAMES)('connecting %s', (client) => {
  it.each(client === 'agents-md' ? [[[]]] : [[[]], [['--user']]])(
    `${client} is connected once, and taken out without a trace, with options %j`,
    async (scope) => {
      await using at = await place('throughline', 'claude', 'codex', 'gemini', 'cursor', 'opencode');
      const before = await at.files();
      const first = await at.connect(client, '--yes', ...scope);
      expect(first).toMatchObject({ code: 0 });
      const isText = client === 'opencode' || client === 'agents-md';
      expect(first.stdout).toContain(isText ? '+++ ' : `throughline hook ${client}`);
      const connected = await at.files();
      const second = await at.connect(client, '--yes', ...scope);
      expect(second).toMatchObject({ code: 0, stdout: '' });
      expect(second.stderr).toContain('connected already');
      expect(await at.files()).toEqual(connected);
      expect(Object.values(connected).join('')).toMatch(/mcp/i);

      expect(await at.connect(client, '--remove', '--yes', ...scope)).toMatchObject({ code: 0 });
      expect(await at.files()).toEqual(before);
      expect((await at.connect(client, '--remove', '--yes', ...scope)).stderr).toContain(
        'nothing to take out',
      );
    },
  );
});

describe('connecting a client', () => {
  it('connecting shows the exact change and keeps all else, with one copy of the file of before', async () => {
    await using at = await place('throughline', 'claude');
    await at.write('.claude/settings.json', SETTINGS);
    const dry = await at.connect('claude', '--dry-run');
    expect(dry.code).toBe(0);
    expect(await at.read('.claude/settings.json')).toBe(SETTINGS);
    const written = await at.connect('claude', '--yes');
    expect(written.stdout).toBe(dry.stdout);
    const text = await at.read('.claude/settings.json');
    const kept = text.split('\n').filter((line) => SETTINGS.split('\n').includes(line));
    expect(kept).toEqual(expect.arrayContaining(['  // Mine, and it stays.']));
    for (const part of ['"command": "say done"', '// rings']) expect(text).toContain(part);
    const [, copy = ''] = /settings\.json is kept as (\S+)/.exec(written.stderr) ?? [];
    expect(copy.startsWith(join(at.home, '.local/state/throughline/projects'))).toBe(true);
    expect(await readFile(copy, 'utf8')).toBe(SETTINGS);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(at.project, '.claude'))).toEqual(['settings.json']);
    expect((await at.connect('claude', '--remove', '--yes')).code).toBe(0);
    expect(await at.read('.claude/settings.json')).toBe(SETTINGS);
    expect(await readdir(join(at.project, '.claude'))).toEqual(['settings.json']);
  });

  it('connecting an older version of our entries replaces them', async () => {
    await using at = await place('throughline', 'claude');
    await at.write('.claude/settings.json', SETTINGS);
    await at.connect('claude', '--yes');
    const connected = await at.read('.claude/settings.json');
    await at.write(
      '.claude/settings.json',
      connected.replace('"PreCompact"', '"Notification"').replace('10', '11'),
    );
    expect((await at.connect('ls', '--json')).stdout).toContain('"outdated"');
    await at.connect('claude', '--yes');
    const again = await at.read('.claude/settings.json');
    expect(JSON.stringify(Object.keys(JSON.parse(again.replace(/\/\/.*/g, '')).hooks).sort())).toBe(
      JSON.stringify(Object.keys(JSON.parse(connected.replace(/\/\/.*/g, '')).hooks).sort()),
    );
  });

  it('what the user writes into our MCP entry stays, and is not a fault', async () => {
    await using at = await place('throughline', 'gemini');
    await at.connect('gemini', '--yes');
    const connected = await at.read('.gemini/settings.json');
    const own = connected.replace('"trust": true', '"trust": true, "env": { "NATS_TOKEN": "$NATS_TOKEN" }');
    await at.write('.gemini/settings.json', own);
    expect((await at.connect('ls', '--json')).stdout).not.toContain('"outdated"');
    expect((await at.connect('gemini', '--yes')).stdout).toBe('');
    await at.write('.gemini/settings.json', own.replace('"trust": true, ', ''));
    await at.connect('gemini', '--yes');
    expect(JSON.parse(await at.read('.gemini/settings.json')).mcpServers.throughline).toEqual({
      command: 'throughline',
      args: ['mcp'],
      trust: true,
      env: { NATS_TOKEN: '$NATS_TOKEN' },
    });
    await at.connect('gemini', '--remove', '--yes');
    expect(await readdir(at.project)).toEqual([]);
  });

  it('.throughline.json names session, project and plan, keeps what is there, and goes with the last client', async () => {
    await using at = await place('throughline', 'codex', 'gemini');
    await at.write('tasks.md', '- [ ] 1 Parse\n');
    await at.connect('codex', '--yes');
    const name = expect.stringMatching(/^app-[0-9a-f]{6}$/);
    expect(JSON.parse(await at.read('.throughline.json'))).toEqual({
      session: name,
      project: name,
      plan: 'tasks.md',
    });
    await at.connect('gemini', '--yes', '--session', 'login');
    expect(JSON.parse(await at.read('.throughline.json'))).toMatchObject({
      session: 'login',
      plan: 'tasks.md',
    });
    await at.connect('codex', '--remove', '--yes');
    expect(await readdir(at.project)).toContain('.throughline.json');
    await at.connect('gemini', '--remove', '--yes');
    expect(await readdir(at.project)).toEqual(['tasks.md']);
  });

  it('the session is the one that hooks use in the folder, and that of another repository is joined only by name', async () => {
    await using at = await place('throughline', 'codex');
    await at.write('.git/config', '[remote "origin"]\nurl = git@host:acme/web.git\n');
    const dry = await at.connect('codex', '--dry-run');
    expect(dry.stdout).toContain('"session": "acme-web"');
    await at.connect('codex', '--yes');
    expect(JSON.parse(await at.read('.throughline.json')).session).toBe('acme-web');
    const other = join(at.home, 'web');
    const connect = (...args: string[]) => cli(['connect', '--yes', ...args], { cwd: other, env: at.env });
    await mkdir(join(other, '.git'), { recursive: true });
    await writeFile(join(other, '.git/config'), '[remote "origin"]\nurl = git@other:acme/web.git\n');
    await writeFile(join(other, '.throughline.json'), '{"session":"acme-web","project":"acme-web"}');
    const refused = await connect();
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('add --session acme-web') });
    expect(refused.stderr).toContain('session acme-web');
    expect((await connect('--session', 'acme-web')).stderr).toContain(`${at.project} uses this session, too`);
    expect((await connect()).stderr).toContain('nothing to change');
    await rm(join(other, '.throughline.json'));
    await connect('--session', 'web');
    expect(JSON.parse(await readFile(join(other, '.throughline.json'), 'utf8')).session).toBe('web');
  });

  it('the plan is the only one at a usual place; of several it is tasks.md, or none', async () => {
    const planOf = async (...paths: string[]) => {
      await using at = await place('throughline', 'codex');
      for (const path of paths) await at.write(path, '- [ ] 1 Parse\n');
      await at.connect('codex', '--yes');
      return JSON.parse(await at.read('.throughline.json')).plan;
    };
    const kiro = ['.kiro/specs/a/tasks.md', '.kiro/specs/b/tasks.md'] as const;
    expect(await planOf(kiro[0])).toBe(kiro[0]);
    expect(await planOf(...kiro, 'tasks.md')).toBe('tasks.md');
    expect(await planOf(...kiro)).toBeUndefined();
  });

  it('a .throughline.json of the user becomes what it was with the last client, byte for byte', async () => {
    await using at = await place('throughline', 'codex', 'gemini');
    const mine = '{ "agents": { "main": "implementer" },  "session": "mine" }';
    await at.write('.throughline.json', mine);
    const before = await at.files();
    for (const client of ['codex', 'gemini']) await at.connect(client, '--yes', '--session', client);
    expect(JSON.parse(await at.read('.throughline.json'))).toEqual({
      agents: { main: 'implementer' },
      session: 'gemini',
      project: expect.stringMatching(/^app-/),
    });
    await at.connect('codex', '--remove', '--yes');
    expect(JSON.parse(await at.read('.throughline.json'))).toMatchObject({ session: 'gemini' });
    await at.connect('gemini', '--remove', '--yes');
    expect(await at.files()).toEqual(before);
  });

  it('fields that the user adds to .throughline.json meanwhile stay, and ours go', async () => {
    await using at = await place('throughline', 'codex');
    await at.write('.throughline.json', '{ "agents": {} }');
    await at.connect('codex', '--yes');
    const now = JSON.parse(await at.read('.throughline.json'));
    await at.write('.throughline.json', JSON.stringify({ ...now, agents: { main: 'observer' } }));
    await at.connect('codex', '--remove', '--yes');
    expect(JSON.parse(await at.read('.throughline.json'))).toEqual({ agents: { main: 'observer' } });
    expect((await readdir(at.project)).sort()).toEqual(['.throughline.json']);
  });

  it('a client is taken out whatever the files of another one hold', async () => {
    await using at = await place('throughline', 'codex');
    await at.connect('codex', '--yes');
    await at.write('.gemini/settings.json', '{ "hooks": ');
    expect((await at.connect('codex', '--remove', '--yes')).code).toBe(0);
    expect((await readdir(at.project)).sort()).toEqual(['.gemini', '.throughline.json']);
  });

  it('what is left to the user is said', async () => {
    await using at = await place('codex');
    const { stderr } = await at.connect('codex', '--yes');
    expect(stderr).toContain('commit .codex/config.toml, .throughline.json: work trees and clones have');
    expect(stderr).toContain('type `/hooks` in Codex and trust the hooks');
    expect(stderr).toContain('"throughline" is not on your PATH');
    // What would start it is switched off here.
    expect(stderr).toContain('start one with "throughline up"');
  });

  it('without a terminal to ask on nothing is written', async () => {
    await using at = await place('throughline', 'codex');
    const { code, stderr } = await at.connect('codex');
    expect(code).toBe(2);
    expect(stderr).toContain('--yes');
    expect(await readdir(at.project)).toEqual([]);
  });

  it.skipIf(PTY_MISSING !== undefined)('on a terminal it asks, and writes after a yes alone', async () => {
    await using at = await place('throughline', 'codex');
    for (const [answer, files] of [
      ['n\r', []],
      ['y\r', ['config.toml']],
    ] as const) {
      const env = { ...at.env, CODEX_HOME: join(at.home, 'codex') };
      await using screen = await onTerminal(['connect', 'codex', '--user'], env);
      await screen.shows('Change 1 file? [y/N]');
      screen.type(answer);
      expect((await screen.ended()).code).toBe(0);
      const found = await readdir(join(at.home, 'codex')).catch(() => []);
      expect(found).toEqual(files);
    }
  });

  it.each([
    ['claude', '.mcp.json', '{"mcpServers": [', 'is not JSON'],
    ['claude', '.mcp.json', '{"mcpServers": {"throughline": {"command": "mine"}}}', 'did not write'],
    ['claude', '.claude/settings.json', '{"hooks": []}', 'hooks is not an object'],
    ['codex', '.codex/config.toml', 'hooks = { Stop = [] }\n', 'cannot stand beside'],
    ['codex', '.codex/config.toml', 'a = [\n', 'is not TOML'],
    ['opencode', '.opencode/plugin/throughline.js', 'export default 1;\n', 'did not write this file'],
  ])(
    'a file of %s that cannot be written into is named, and nothing is written: %s %s',
    async (client, name, text, why) => {
      await using at = await place('throughline', client);
      await at.write(name, text);
      const before = await at.files();
      const { code, stderr } = await at.connect(client, '--yes');
      expect(code).toBe(2);
      expect(stderr).toContain(name);
      expect(stderr).toContain(why);
      expect(await at.files()).toEqual(before);
    },
  );

  it('tables of the user that hang on our server in Codex are named before it is taken out', async () => {
    await using at = await place('throughline', 'codex');
    await at.connect('codex', '--yes');
    const file = '.codex/config.toml';
    const connected = await at.read(file);
    await at.write(file, `${connected}\n[mcp_servers.throughline.tools.report]\napproval_mode = "approve"\n`);
    expect((await at.connect('codex', '--yes')).stdout).toBe('');
    const { code, stderr } = await at.connect('codex', '--remove', '--yes');
    expect(code).toBe(2);
    expect(stderr).toContain(
      'mcp_servers.throughline.tools cannot stay without the server: remove these tables',
    );
    await at.write(file, connected);
    await at.connect('codex', '--remove', '--yes');
    expect(await readdir(at.project)).toEqual([]);
  });

  it('a file keeps its rights, and is left alone where it is read-only', async () => {
    await using at = await place('throughline', 'claude');
    await at.write('.claude/settings.json', SETTINGS);
    const file = join(at.project, '.claude/settings.json');
    await chmod(file, 0o666);
    await at.connect('claude', '--yes');
    expect((await stat(file)).mode & 0o777).toBe(0o666);
    await chmod(file, 0o444);
    const before = await at.files();
    expect(await at.connect('claude', '--remove', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('settings.json: is read-only, so nothing was written: run "chmod u+w"'),
    });
    expect(await at.files()).toEqual(before);
  });

  it('where one file cannot be written the others are as before, without a copy left behind', async () => {
    await using at = await place('throughline', 'claude');
    await at.write('.claude/settings.json', SETTINGS);
    // A folder that cannot be made: its place is taken by a file.
    await writeFile(join(at.project, 'taken'), '');
    await symlink(join('taken', 'mcp.json'), join(at.project, '.mcp.json'));
    const before = await at.files();
    const { code, stderr } = await at.connect('claude', '--yes');
    expect(code).toBe(2);
    expect(stderr).toContain('.mcp.json: cannot be written, so nothing was changed');
    expect(stderr).not.toContain('    at ');
    expect(await at.files()).toEqual(before);
  });

  it('a symbolic link of the user that leads to no file yet stays one', async () => {
    await using at = await place('throughline', 'codex');
    await mkdir(join(at.home, '.codex'));
    const real = join(at.home, 'dotfiles', 'codex.toml');
    await symlink(real, join(at.home, '.codex/config.toml'));
    await at.connect('codex', '--yes', '--user');
    expect(await readFile(real, 'utf8')).toContain('throughline hook codex');
    await at.connect('codex', '--remove', '--yes', '--user');
    expect(await readlink(join(at.home, '.codex/config.toml'))).toBe(real);
    expect(await readdir(join(at.home, 'dotfiles'))).toEqual([]);
  });

  it('a configuration that is a symbolic link within the project stays one', async () => {
    await using at = await place('throughline', 'codex');
    const real = join(at.project, 'shared.toml');
    await writeFile(real, 'model = "x"\n', { mode: 0o600 });
    await mkdir(join(at.project, '.codex'));
    await symlink(real, join(at.project, '.codex/config.toml'));
    await at.connect('codex', '--yes');
    expect(await readlink(join(at.project, '.codex/config.toml'))).toBe(real);
    expect(await readFile(real, 'utf8')).toContain('throughline hook codex');
    await at.connect('codex', '--remove', '--yes');
    expect(await readFile(real, 'utf8')).toBe('model = "x"\n');
  });
});

describe('connecting in a repository that was cloned', () => {
  /** Clones a repository of these files and symbolic links into the project. */
  async function clone(
    at: Awaited<ReturnType<typeof place>>,
    files: Readonly<Record<string, string>>,
    links: Readonly<Record<string, string>> = {},
  ) {
    const origin = join(at.home, 'origin');
    const git = (...args: string[]) =>
      run('git', args, { cwd: origin, env: { ...at.env, GIT_CONFIG_NOSYSTEM: '1' } });
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(origin, name, '..'), { recursive: true });
      await writeFile(join(origin, name), text);
    }
    for (const [name, target] of Object.entries(links)) {
      await mkdir(join(origin, name, '..'), { recursive: true });
      await symlink(target, join(origin, name));
    }
    await git('init', '-q');
    await git('add', '-A');
    await git('-c', 'user.name=n', '-c', 'user.email=n@example.com', 'commit', '-q', '-m', 'x');
    await git('clone', '-q', origin, at.project);
    await rm(origin, { recursive: true });
  }

  it('no copy is written through a link of the repository', async () => {
    await using at = await place('throughline', 'codex');
    const profile = join(at.home, '.bash_profile');
    await clone(
      at,
      { '.codex/config.toml': 'model = "$(touch /tmp/owned)"\n' },
      { '.codex/config.toml.before-throughline': profile },
    );
    expect((await at.connect('codex', '--yes')).code).toBe(0);
    await expect(readFile(profile)).rejects.toThrow('ENOENT');
    expect((await at.connect('codex', '--remove', '--yes')).code).toBe(0);
    expect(await readlink(join(at.project, '.codex/config.toml.before-throughline'))).toBe(profile);
    expect(await at.read('.codex/config.toml')).toBe('model = "$(touch /tmp/owned)"\n');
  });

  it.each([
    ['a link to a file of the user', 'claude', '.claude/settings.json', 'settings.json'],
    ['a link to no file yet', 'codex', '.codex/config.toml', 'missing/config.toml'],
    ['a folder that is a link', 'gemini', '.gemini', 'there'],
    ['a link of the project file', 'opencode', '.throughline.json', 'settings.json'],
  ])('nothing is read or written through %s', async (_, client, name, target) => {
    await using at = await place('throughline', client);
    await mkdir(join(at.home, 'there'));
    await writeFile(join(at.home, 'settings.json'), '{"mine": true}');
    await clone(at, { 'a.txt': 'x' }, { [name]: join(at.home, target) });
    const before = await at.files();
    const { code, stderr } = await at.connect(client, '--yes');
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /(leads out of the project, to .*|is a symbolic link): remove (the symbolic link|it)/,
    );
    expect(await at.files()).toEqual(before);
  });

  it.each([
    ['.claude/settings.json', '../.git/config'],
    ['.claude', '.git/hooks'],
    ['.mcp.json', '.GIT/new'],
  ])('nothing is written below .git through the link %s to %s', async (name, target) => {
    await using at = await place('throughline', 'claude');
    await clone(at, { 'a.txt': 'x' }, { [name]: target });
    const before = await at.files();
    const { code, stderr } = await at.connect('claude', '--yes');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('leads into .git') });
    expect(await at.files()).toEqual(before);
  });

  it.each([
    ['a pipe', (file: string) => run('mkfifo', [file]), 'is not a regular file'],
    ['a link to a device', (file: string) => symlink('/dev/zero', file), 'leads out of the project'],
    [
      'a file that is not UTF-8',
      (file: string) => writeFile(file, Buffer.from('{"a": "\xe9"}', 'latin1')),
      'cannot be read',
    ],
    ['a huge file', (file: string) => writeFile(file, '{}'.padEnd(2_000_000)), 'is larger than'],
    ['brackets within each other', (file: string) => writeFile(file, '['.repeat(500_000)), 'is not JSON'],
  ])('%s in place of a configuration is named at once', async (_, make, why) => {
    await using at = await place('throughline', 'claude');
    await make(join(at.project, '.mcp.json'));
    for (const args of [
      ['claude', '--yes'],
      ['claude', '--remove', '--yes'],
      ['ls', '--json'],
    ]) {
      const { code, stdout, stderr } = await at.connect(...args);
      expect(code).toBe(args[0] === 'ls' ? 0 : 2);
      expect(stdout + stderr).toContain('.mcp.json');
      expect(stdout + stderr).toContain(why);
    }
  });

  it('lines between our marks that connect did not write stay, and so does a byte order mark', async () => {
    await using at = await place('throughline', 'codex');
    const mine = '# >>> throughline notes\n[mcp_servers.throughline]\ncommand = "mine"\n# <<< throughline\n';
    await clone(at, {
      '.codex/config.toml': mine,
      '.codex/config.toml.before-throughline': 'model = "evil"\n',
    });
    for (const option of [[], ['--remove']]) {
      const { code, stderr } = await at.connect('codex', '--yes', ...option);
      expect(code).toBe(2);
      expect(stderr).toContain('did not write the text between');
    }
    expect(await at.read('.codex/config.toml')).toBe(mine);
    expect(await at.read('.codex/config.toml.before-throughline')).toBe('model = "evil"\n');
    await at.write('.codex/config.toml', '\uFEFFmodel = "x"\n');
    await at.connect('codex', '--yes');
    await at.connect('codex', '--remove', '--yes');
    expect(await at.read('.codex/config.toml')).toBe('\uFEFFmodel = "x"\n');
    expect(await at.read('.codex/config.toml.before-throughline')).toBe('model = "evil"\n');
  });

  it('AGENTS.md gets the text of the skill between marks, beside what the user has written', async () => {
    await using at = await place('throughline');
    await at.write('AGENTS.md', '# Rules\n');
    const { stderr } = await at.connect('agents-md', '--yes');
    expect(stderr).toContain('throughline mcp');
    expect(stderr).not.toContain('not installed');
    const text = await at.read('AGENTS.md');
    expect(text).toMatch(
      /^# Rules\n\n<!-- >>> throughline[^\n]*-->\n## The memory[\s\S]*`report`[\s\S]*<!-- <<< throughline -->\n$/,
    );
    const list = JSON.parse((await at.connect('ls', '--json')).stdout);
    expect(list).toContainEqual(
      expect.objectContaining({ client: 'agents-md', installed: true, project: 'connected', user: 'absent' }),
    );
    expect(await at.connect('agents-md', '--user', '--yes')).toMatchObject({ code: 2 });
    await at.write('AGENTS.md', text.replace('`report` once', '`report` twice'));
    expect((await at.connect('agents-md', '--remove', '--yes')).stderr).toContain('did not write the text');
    await at.write('AGENTS.md', text);
    expect((await at.connect('agents-md', '--remove', '--yes')).code).toBe(0);
    expect(await at.read('AGENTS.md')).toBe('# Rules\n');
  });

  it.each([
    ['opencode', [], 'start `opencode`'],
    ['opencode', ['--user'], 'start `opencode`'],
    ['claude', ['--user'], 'start `claude`'],
    ['codex', ['--user'], 'type `/hooks` in Codex'],
  ] as const)('connecting %s with options %j ends with what to do next', async (client, scope, next) => {
    await using at = await place('throughline', client);
    const { stderr } = await at.connect(client, '--yes', ...scope);
    expect(stderr.trimEnd().split('\n').at(-1)).toContain(`-- next: ${next}`);
  });

  it('a file that only begins like ours is neither changed nor removed', async () => {
    await using at = await place('throughline', 'opencode');
    const mine = '// Written by "throughline connect opencode", and changed by me\nexport default 1;\n';
    await clone(at, { '.opencode/plugin/throughline.js': mine, '.throughline.json': '{"session": "app"}' });
    for (const option of [[], ['--remove']]) {
      const { code, stderr } = await at.connect('opencode', '--yes', ...option);
      expect(code).toBe(2);
      expect(stderr).toContain('throughline.js: "throughline connect" did not write it');
    }
    expect(await at.read('.opencode/plugin/throughline.js')).toBe(mine);
  });
});

describe('connect ls', () => {
  it('the list says what is installed, what is connected where, and what stands in the way', async () => {
    await using at = await place('throughline', 'codex');
    await at.connect('codex', '--yes', '--user');
    const { stdout, stderr } = await at.connect('ls');
    expect(stdout).toMatch(/Codex CLI +user: connected, does not work/);
    expect(stdout).toMatch(/Claude Code +not installed, not connected/);
    expect(stderr).toContain('Codex does not trust the hooks yet');
    const listed = JSON.parse((await at.connect('ls', '--json')).stdout);
    expect(listed.map((each: { client: string }) => each.client)).toEqual(CONNECT_NAMES);
  });

  it('a clone with the hooks does not work until its .throughline.json is connected', async () => {
    await using at = await place('throughline', 'claude');
    await using clone = await place('throughline', 'claude');
    await at.connect('claude', '--yes');
    for (const name of ['.claude/settings.json', '.mcp.json', '.throughline.json'])
      await clone.write(name, await at.read(name));
    const problem = expect.stringMatching(/\.throughline\.json is not used: you have not connected/);
    expect((await clone.connect('ls')).stderr).toEqual(problem);
    await clone.connect('--yes');
    expect((await clone.connect('ls')).stderr).not.toEqual(problem);
  });

  it('Codex is told of the variables that are set, and is connected whatever is set later', async () => {
    await using at = await place('throughline', 'codex');
    await at.connect('codex', '--yes');
    const own = '"XDG_STATE_HOME","THROUGHLINE_AUTOSTART"';
    expect(await at.read('.codex/config.toml')).toContain(`env_vars = ["NATS_URL",${own}]\n`);
    const later = { cwd: at.project, env: { ...at.env, NATS_URL: '', THROUGHLINE_SESSION: 'demo' } };
    expect((await cli(['connect', 'ls'], later)).stdout).toContain('this folder: connected');
    await cli(['connect', 'codex', '--yes'], later);
    expect(await at.read('.codex/config.toml')).toContain(`env_vars = ["THROUGHLINE_SESSION",${own}]\n`);
  });
});

describe('connect --remove --all, and uninstall', () => {
  it('list what they take out, and leave every file as it was', async () => {
    await using here = await place('claude', 'codex', 'throughline');
    await here.write('.claude/settings.json', SETTINGS);
    const before = await here.files();
    const run = async (...words: string[]) => {
      const { code, stdout, stderr } = await cli(words, { cwd: here.project, env: here.env });
      return { code, stdout, note: stderr.trim().split('\n').at(-1) };
    };
    const connections = `Claude Code for all your projects\nClaude Code in ${here.project}\nCodex CLI in ${here.project}\n`;
    for (const words of [
      ['connect', '--remove', '--all'],
      ['uninstall', '--keep-memory'],
    ]) {
      for (const more of [['claude'], ['claude', '--user'], ['codex']])
        expect((await here.connect(...more, '--yes')).code).toBe(0);
      const listed = await run(...words, '--dry-run');
      expect(listed).toMatchObject({ code: 0, note: '-- nothing was changed' });
      expect(listed.stdout).toContain(connections);
      expect((await run(...words)).code).toBe(2);
      expect(await here.read('.claude/settings.json')).toContain('throughline hook');
      expect(await run(...words, '--yes')).toMatchObject({ code: 0, stdout: listed.stdout });
      expect(await here.files()).toEqual(before);
    }
    for (const words of [['connect', '--remove'], ['connect', '--remove', '--all'], ['uninstall']]) {
      await here.connect('--yes');
      expect(await here.read('.throughline.json')).toContain('"session"');
      const { stdout } = await run(...words, '--yes');
      expect(stdout).toContain(
        words.length === 2 ? '.throughline.json' : `without a client in ${here.project}`,
      );
      expect(await here.files()).toEqual(before);
    }
    expect(await run('connect', '--remove')).toMatchObject({ code: 2 });
    // A clone has the file: only the connection goes.
    await here.write('.throughline.json', '{"session": "shop", "project": "shop"}\n');
    const cloned = await here.files();
    await here.connect('--yes');
    expect((await run('connect', '--remove', '--yes')).code).toBe(0);
    expect(await here.files()).toEqual(cloned);
    await rm(join(here.project, '.throughline.json'));
    await here.connect('claude', '--yes');
    expect((await run('connect', '--remove', '--yes')).note).toContain('which client?');
    expect((await run('uninstall', '--yes')).stdout).toContain('.local/state/throughline, with all sessions');
    expect(await readdir(here.env.XDG_STATE_HOME)).toEqual([]);
    expect(await here.files()).toEqual(before);
  });
});
