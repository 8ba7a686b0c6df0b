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
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Shape[];
}

const MOMENTS: Readonly<Record<Moment, string>> = {
  'session-start':
    'returns the `session-start` prompt as context; after a compaction also the compacted history of this conversation. Sets project and plan of a new session',
  prompt:
    'stores the prompt as a REQUEST in the trace. Adds the memory of the task that the prompt names, otherwise at most six lines that fit it',
  'before-agent':
    'replaces the prompt of a sub-agent that names a task by the dispatch prompt of that task; for a reader, appends the memory of the task',
  'after-tool':
    'stores tool, files, command and status for the trace. Every half minute it also sends them, and tells the agent its news in at most 100 tokens: an answer, a message, a required fix of its task',
  said: 'remembers the message, for a client whose stop event does not have it',
  text: 'publishes the last result block of a text, if it can be read: the agent may still continue',
  'agent-stop':
    'publishes the last result block of the last message. An agent that received the contract and returns none is sent back once. Otherwise the turn is published by rule',
  stop: 'the same for the agent that you talk to',
  'before-compaction': 'sends the stored entries, so that nothing is lost',
  'session-end': 'sends the stored entries',
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
      'tell that a command has failed: every command is a success in the trace',
    ],
  },
  gemini: {
    checked: '0.61.0, run',
    cannot: [
      'send a sub-agent back: its result is taken from what it returns to the main agent',
      'say that there was a compaction: its event for one comes before every request, so it is not taken',
      'keep apart what a sub-agent does: its tools are in the trace as those of the main agent',
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

function kindOf(shape: Shape): string {
  if (shape.enum !== undefined) return shape.enum.map((value) => `\`${value}\``).join(', ');
  if (shape.anyOf !== undefined) return shape.anyOf.map(kindOf).join(' or ');
  if (shape.items !== undefined) return `list of ${kindOf(shape.items)}`;
  if (shape.properties === undefined) return shape.type ?? 'any';
  return `{ ${fieldsOf(shape).join(', ')} }`;
}

function fieldsOf({ properties = {}, required = [] }: Shape): string[] {
  return Object.keys(properties).map((name) => `\`${name}${required.includes(name) ? '' : '?'}\``);
}

function rowsOf(shape: Shape): string[] {
  return Object.entries(shape.properties ?? {}).map(([name, field]) => {
    const optional = shape.required?.includes(name) ? '' : '?';
    const about = field.description === undefined ? '' : `: ${field.description}`;
    return `| \`${name}${optional}\` | ${kindOf(field)}${about} |`;
  });
}

export function clientsPage(): Written {
  const answers = {
    context: 'context',
    input: 'the changed input of the tool',
    again: 'continue, with the reason',
  };
  const clients = Object.entries(HOOK_CLIENTS).map(([name, client]: [string, HookClient]) => {
    const rows = client.events.map(({ name: event, moment, answer, matcher }) => {
      const of = matcher === undefined ? '' : ` (tools \`${matcher.replaceAll('|', '\\|')}\`)`;
      return `| \`${event}\`${of} | ${moment} | ${answer === undefined ? '–' : answers[answer]} |`;
    });
    const samples = [
      ...new Set(client.events.flatMap(({ name: event, answer }) => (answer ? [{ event, answer }] : []))),
    ];
    const kinds = [...new Set(samples.map(({ answer }) => answer))].map((kind) => {
      const event = samples.find(({ answer }) => answer === kind)?.event ?? '';
      const value = kind === 'input' ? { prompt: '…' } : '…';
      return `- ${answers[kind]}: \`${JSON.stringify(client.write[kind](value, event))}\``;
    });
    return `### ${client.title}: \`throughline hook ${name}\`

Checked against ${CLIENTS[name as HookClientName].checked}. At most ${client.contextTokens} tokens of context and ${MAX_ANSWER} characters in one answer.

| event | moment | answer |
|---|---|---|
${rows.join('\n')}

${kinds.join('\n')}

Limits:

${CLIENTS[name as HookClientName].cannot.map((each) => `- It cannot ${each}.`).join('\n')}
`;
  });
  const tools = Object.entries(MCP_TOOLS).map(([name, { description, annotations, input, output }]) => {
    const reads = 'readOnlyHint' in annotations ? ' It only reads.' : '';
    return `### \`${name}\`

${description}${reads}

| argument | |
|---|---|
${rowsOf(listedSchema(input, 'input')).join('\n')}
${output === undefined ? '' : `\n| answer | |\n|---|---|\n${rowsOf(listedSchema(output, 'output')).join('\n')}\n`}`;
  });
  const page = `## Hook events

Generated from [src/agents/hooks/hook-table.ts](../../src/agents/hooks/hook-table.ts).

| moment | what the hook does |
|---|---|
${Object.entries(MOMENTS)
  .map(([name, does]) => `| ${name} | ${does} |`)
  .join('\n')}

${clients.join('\n')}
## MCP tools

Generated from [src/agents/mcp](../../src/agents/mcp/mcp-tools.ts). All definitions together have less than 1,300 tokens, identical in every
session. A field with \`?\` is optional. \`report\` also answers with \`structuredContent\`, which some clients show
instead of the text. An error is a text with a stable code and the next step. Claude Code loads \`context\` and \`report\` from
the start and finds the others by a search.

${tools.join('\n')}`;
  return { 'docs/reference/clients.md': endingWith('docs/reference/clients.md', page) };
}
