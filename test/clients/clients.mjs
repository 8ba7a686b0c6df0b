// The clients that are tried: how each is set up and run without a person, and what its tools are called.
import { join } from 'node:path';

/** What stands before `throughline connect` in the configuration of codex. */
const codexConfig = (project, url) =>
  [
    '# mine',
    // One that it knows, with all its tools.
    'model = "gpt-5.5"',
    'model_provider = "local"',
    '[model_providers.local]',
    'name = "local"',
    `base_url = "${url}/v1"`,
    'wire_api = "responses"',
    'env_key = "LOCAL_KEY"',
    `[projects.${JSON.stringify(project)}]`,
    'trust_level = "trusted"',
    '',
  ].join('\n');

const GEMINI_SETTINGS = `{
  // mine
  "security": { "auth": { "selectedType": "gemini-api-key" } }
}
`;

/** opencode fetches a package when it starts: behind a proxy it needs the certificates of this machine. */
const CERTIFICATES = Object.fromEntries(
  ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].flatMap((name) =>
    process.env[name] ? [[name, process.env[name]]] : [],
  ),
);

const opencodeConfig = (url) => ({
  // It would write it itself.
  $schema: 'https://opencode.ai/config.json',
  model: 'local/scripted',
  small_model: 'local/scripted',
  provider: {
    local: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${url}/v1`, apiKey: 'none' },
      models: { scripted: {} },
    },
  },
});

/**
 * By client:
 * `files` (path → text) stand there before we come; `args` of a run; `tools` write a file, run a command, report a result
 * through the MCP server, and hand out a task; `wait`: replies of the main agent until its sub-agent has ended;
 * `subAgent`: the name of that agent; `returned`: how it ends its work; `cannot`: checks that do not hold, each with why.
 * `work`: its command for `throughline work`, where the help of that shows none.
 * `recordings`: where the client keeps what was said, with the names of our tools.
 * `plugin`: its commands that check and install our package from the root of this repository.
 */
export const CLIENTS = {
  claude: {
    package: '@anthropic-ai/claude-code@2.1.332',
    files: ({ home }) => ({
      [join(home, '.claude/settings.json')]: '{ "enableAllProjectMcpServers": true }',
    }),
    args: (prompt) => ['-p', '--permission-mode', 'bypassPermissions', prompt],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'none',
      IS_SANDBOX: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    tools: {
      write: (file, _name, text) => ({ call: 'Write', input: { file_path: file, content: `${text}\n` } }),
      shell: (command) => ({ call: 'Bash', input: { command, description: 'Runs it' } }),
      report: (input) => ({ call: 'mcp__throughline__report', input }),
      agent: (prompt) => ({
        call: 'Agent',
        input: { description: 'Tests', prompt, subagent_type: 'general-purpose', run_in_background: true },
      }),
    },
    wait: [],
    subAgent: 'general-purpose',
    returned: (message) => ({ say: message }),
    recordings: /^home\/\.(claude(\/|\.json)|cache\/claude)/,
    plugin: (root) => [
      ['plugin', 'validate', '--strict', root],
      ['plugin', 'validate', '--strict', join(root, 'plugins/claude-code')],
      ['plugin', 'marketplace', 'add', root],
      ['plugin', 'install', 'throughline@throughline'],
    ],
    cannot: {},
  },
  codex: {
    package: '@openai/codex@0.171',
    files: ({ home, project, url }) => ({ [join(home, '.codex/config.toml')]: codexConfig(project, url) }),
    args: (prompt) => [
      ...['exec', '--skip-git-repo-check', '--json', '--dangerously-bypass-hook-trust'],
      ...['--dangerously-bypass-approvals-and-sandbox', prompt],
    ],
    env: () => ({ LOCAL_KEY: 'none' }),
    tools: {
      write: (_file, name, text) => ({
        call: 'apply_patch',
        input: `*** Begin Patch\n*** Add File: ${name}\n+${text}\n*** End Patch\n`,
      }),
      shell: (command) => ({ call: 'exec_command', input: { cmd: command } }),
      report: (input) => ({ call: 'mcp__throughline.report', input }),
      agent: (message) => ({ call: 'multi_agent_v1.spawn_agent', input: { message, agent_type: 'worker' } }),
    },
    wait: [
      ({ outputs }) => ({
        call: 'multi_agent_v1.wait_agent',
        input: { targets: [JSON.parse(outputs.at(-1)).agent_id], timeout_ms: 60_000 },
      }),
    ],
    subAgent: 'worker',
    returned: (message) => ({ say: message }),
    plugin: (root) => [
      ['plugin', 'marketplace', 'add', root],
      ['plugin', 'add', 'throughline@throughline'],
    ],
    recordings: /^home\/\.codex\/(sessions|log|shell_snapshots|[a-z_0-9]+\.sqlite)/,
    cannot: {},
  },
  gemini: {
    package: '@google/gemini-cli@0.61',
    files: ({ home }) => ({ [join(home, '.gemini/settings.json')]: GEMINI_SETTINGS }),
    args: (prompt) => ['-m', 'gemini-2.5-flash', '--approval-mode', 'yolo', '-p', prompt],
    env: (url) => ({
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      // The endpoint plays this one; the examples of "work" name none.
      GEMINI_MODEL: 'gemini-2.5-flash',
    }),
    tools: {
      write: (file, _name, text) => ({
        call: 'write_file',
        input: { file_path: file, content: `${text}\n` },
      }),
      shell: (command) => ({ call: 'run_shell_command', input: { command } }),
      report: (input) => ({ call: 'mcp_throughline_report', input }),
      agent: (prompt) => ({ call: 'invoke_agent', input: { agent_name: 'generalist', prompt } }),
    },
    wait: [],
    subAgent: 'generalist',
    returned: (message) => ({ call: 'complete_task', input: { result: { response: message } } }),
    plugin: (root) => [
      ['extensions', 'validate', join(root, 'plugins/gemini')],
      ['extensions', 'install', '--consent', join(root, 'plugins/gemini')],
    ],
    // Which hooks it found in which folder, too.
    recordings: /^home\/\.gemini\/((tmp|history)\/|trusted_hooks\.json$)/,
    cannot: { 'the sub-agent was sent back once': 'it has no event for the end of a sub-agent' },
  },
  copilot: {
    package: '@github/copilot@1.0.102',
    files: () => ({}),
    args: (prompt) => ['--allow-all-tools', '-p', prompt],
    work: 'copilot --allow-all-tools -p "$(cat {prompt_file})"',
    env: (url) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_MODEL: 'scripted',
      COPILOT_OFFLINE: 'true',
      // It trusts the folder, too.
      COPILOT_ALLOW_ALL: 'true',
    }),
    tools: {
      write: (file, _name, text) => ({ call: 'create', input: { path: file, file_text: `${text}\n` } }),
      shell: (command) => ({ call: 'bash', input: { command, description: 'Runs it' } }),
      report: (input) => ({ call: 'throughline-report', input }),
      agent: (prompt) => ({
        call: 'task',
        input: { agent_type: 'general-purpose', name: 'tests', description: 'Tests', prompt, mode: 'sync' },
      }),
    },
    wait: [],
    subAgent: 'general-purpose',
    returned: (message) => ({ say: message }),
    plugin: (root) => [
      ['plugin', 'marketplace', 'add', root],
      ['plugin', 'install', 'throughline@throughline'],
    ],
    recordings: /^home\/(\.copilot\/(session-state|session-store|logs)|\.cache)/,
    cannot: {},
  },
  opencode: {
    package: 'opencode-ai@1.18',
    files: ({ home, url }) => ({
      [join(home, '.config/opencode/opencode.json')]: JSON.stringify(opencodeConfig(url)),
    }),
    args: (prompt) => ['run', prompt],
    work: 'opencode run "$(cat {prompt_file})"',
    env: () => CERTIFICATES,
    tools: {
      write: (file, _name, text) => ({ call: 'write', input: { filePath: file, content: `${text}\n` } }),
      shell: (command) => ({ call: 'bash', input: { command, description: 'Runs it' } }),
      report: (input) => ({ call: 'throughline_report', input }),
      agent: (prompt) => ({
        call: 'task',
        input: { description: 'Tests', prompt, subagent_type: 'general' },
      }),
    },
    wait: [],
    subAgent: 'general',
    returned: (message) => ({ say: message }),
    recordings: /^home\/\.local\/(share|state)\/opencode\//,
    cannot: { 'the main agent was sent back once': 'a headless run is over by then' },
  },
};
