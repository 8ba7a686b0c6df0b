import {
  HOOK_CLIENTS,
  type HookClient,
  type HookClientName,
  MAX_ANSWER,
  type Moment,
} from '../../src/agents/hooks/hook-table.js';
import { type ListedSchema, listedSchema, MCP_TOOLS } from '../../src/agents/mcp/mcp-tools.js';
import { endingWith, type Written } from './pages.js';

/** The tables of a page are generated from the code. */

interface Shape extends ListedSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

const MOMENTS: Readonly<Record<Moment, string>> = {
  'session-start':
    'returns the `session-start` prompt as context; after a compaction also the compacted history of this conversation. Sets project and plan of a new session',
  prompt:
    'stores the prompt as a REQUEST in the trace. Adds the memory of the task that the prompt names, otherwise at most six lines that fit it, and news in at most 100 tokens: an answer, a message, a required fix of a task of this conversation. After a start without an answer, also that one',
  'before-agent':
    'replaces the prompt of a sub-agent that names a task by the dispatch prompt of that task; for a reader, appends the memory of the task',
  'after-tool': 'notes tool, files, command and status, for a client that does not keep them in time',
  message: 'remembers the message, for a client whose stop event does not have it',
  text: 'publishes the last result block of a text, if it can be read: the agent may still continue',
  'agent-stop':
    'reads which tools were called from the transcript, and stores them in the trace: tool, files, command and status of each. Publishes the last result block of the last message. An agent that received the contract and returns none is sent back once. Otherwise the turn is published by rule',
  stop: 'the same for the agent that you talk to',
  'before-compaction': 'returns the compacted history of this conversation',
};

/** The version that the table was checked against, and how; and what the client cannot do. */
export const CLIENTS: Readonly<Record<HookClientName, { checked: string; cannot: readonly string[] }>> = {
  claude: {
    checked: '2.1.332, run, and hook types of `@anthropic-ai/claude-agent-sdk` 0.3.330',
    cannot: ['give context before a compaction: it comes with the `SessionStart` after it'],
  },
  codex: {
    checked: '0.171.0, run, and the hook schemas of its source',
    cannot: [
      'run a hook that the user has not trusted: it is skipped without a word',
      'take an answer with a key that it does not know: the whole answer is dropped',
    ],
  },
  gemini: {
    checked: '0.61.0, run',
    cannot: [
      'send a sub-agent back: its result is taken from what it returns to the main agent',
      'say that there was a compaction: its event for one comes before every request, so it is not taken',
      'say which tools a sub-agent calls',
    ],
  },
  copilot: {
    checked: '1.0.102, run',
    cannot: [
      'give its last message to a hook: it is read from the transcript',
      'say when a compaction is over: the history of the conversation is not given again',
      'start the MCP server of a plugin in the project: `throughline connect copilot` can',
    ],
  },
  cursor: {
    checked: 'its documentation of November 2026; not run',
    cannot: ['give context with a prompt: only the start of a session can'],
  },
  opencode: {
    checked: '1.18.33, run, through the plugin that `throughline connect opencode` writes',
    cannot: [
      'send the agent that the user talks to back at the end of `opencode run`, which is over by then; a sub-agent is sent back',
      'tell when a sub-agent in the background stops: its result is read from what it writes',
    ],
  },
};

const fieldsOf = ({ properties = {}, required = [] }: Shape) =>
  Object.keys(properties)
    .map((name) => `\`${name}${required.includes(name) ? '' : '?'}\``)
    .join(', ');

/** The event of a client at a moment; an asterisk where it accepts an answer. */
function eventOf({ events }: HookClient, moment: string): string {
  const found = events.filter((each) => each.moment === moment);
  return found.map(({ name, answer }) => `\`${name}\`${answer === undefined ? '' : '\\*'}`).join(', ') || '–';
}

export function clientsPage(): Written {
  const clients: [string, HookClient][] = Object.entries(HOOK_CLIENTS);
  const titles = clients.map(([, { title }]) => title).join(' | ');
  const moments = Object.keys(MOMENTS).map(
    (moment) => `| ${moment} | ${clients.map(([, client]) => eventOf(client, moment)).join(' | ')} |`,
  );
  const limits = clients.map(([name, { title, contextTokens }]) => {
    const cannot = CLIENTS[name as HookClientName].cannot.map((each) => `- It cannot ${each}.`);
    return `**${title}**, \`throughline hook ${name}\`: at most ${contextTokens} tokens of context in one answer.\n\n${cannot.join('\n')}`;
  });
  const tools = Object.entries(MCP_TOOLS).map(
    ([name, { description, input }]) =>
      `| \`${name}\` | ${description} | ${fieldsOf(listedSchema(input, 'input'))} |`,
  );
  const page = `## Hook events

Generated from [src/agents/hooks/hook-table.ts](../../src/agents/hooks/hook-table.ts). An answer has at most ${MAX_ANSWER} characters.

| moment | what the hook does |
|---|---|
${Object.entries(MOMENTS)
  .map(([name, does]) => `| ${name} | ${does} |`)
  .join('\n')}

The events of each client. An asterisk marks those whose answer the client accepts:

| moment | ${titles} |
|---|${clients.map(() => '---|').join('')}
${moments.join('\n')}

### Limits of each client

${limits.join('\n\n')}

## MCP tools

Generated from [src/agents/mcp](../../src/agents/mcp/mcp-tools.ts). All definitions together have less than 1,300 tokens, identical in every
session. An error is a text with a stable code and the next step. Claude Code loads \`context\` and \`report\` from the start and finds the
others by a search.

| tool | what it does | arguments (\`?\` is optional) |
|---|---|---|
${tools.join('\n')}
`;
  return { 'docs/reference/clients.md': endingWith('docs/reference/clients.md', page) };
}
