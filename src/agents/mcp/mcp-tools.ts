import { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import { ROLES, verdictsOf } from '../../contracts/kinds.js';
import { between, text } from '../../contracts/request-row.js';
import { REQUESTS } from '../../contracts/requests.js';
import { reviewIssue, taskId, testRun } from '../../contracts/results.js';
import { NOTE_TYPES } from '../../contracts/session-meta-events.js';
import { TASK_STATUSES } from '../../contracts/task-events.js';
import type { ThroughlineClient } from '../../sdk/throughline-client.js';
import type { AgentSession } from '../agent-session.js';
import type { HookState } from '../hooks/hook-state.js';
import type { KeptResult } from '../hooks/spool.js';

/** A JSON Schema for a model, without the keywords that only a validator needs. */
export type ListedSchema = { readonly [key: string]: unknown };

const KEYWORDS = 'type description enum items properties required anyOf'.split(' ');

/** Descriptions without names: a model reads every schema in its place. */
const UNNAMED: typeof z.globalRegistry = Object.create(z.globalRegistry, {
  get: {
    value(schema: z.ZodType) {
      const { id: _, ...meta } = z.globalRegistry.get(schema) ?? {};
      return meta;
    },
  },
});

/** Returns a schema without limits and defaults, which an error names when necessary. */
export function listedSchema(schema: z.ZodType, io: 'input' | 'output'): ListedSchema {
  const { $schema: _, ...listed } = z.toJSONSchema(schema, {
    io,
    metadata: UNNAMED,
    override({ jsonSchema }) {
      // The values of an enumeration show its type.
      for (const key of Object.keys(jsonSchema))
        if (!KEYWORDS.includes(key) || (key === 'type' && 'enum' in jsonSchema)) delete jsonSchema[key];
    },
  });
  return listed;
}

const role = z.enum(ROLES);
const texts = z.array(z.string());
/** Objects whose fields the description names, in fewer words than a schema. */
const named = (description: string) =>
  z.array(z.record(z.string(), z.unknown())).optional().describe(description);
const dispatch = z.int().positive('must be a result number, as report gives it');
const { content, priority, dependsOn } = REQUESTS['tool.task-add'].shape;

const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const ADDS = { destructiveHint: false, openWorldHint: false };

/** Claude Code shows a tool from the start, or lists its name until a search finds it. */
const ALWAYS = { 'anthropic/alwaysLoad': true };
const found = (searchHint: string) => ({ 'anthropic/searchHint': searchHint });

/** A tool with an output schema answers with data as well; its text is not shown by some clients. */
function tool<const Input extends z.ZodRawShape, const Output extends z.ZodRawShape = never>(
  description: string,
  annotations: typeof READS | typeof ADDS,
  meta: Readonly<Record<string, unknown>>,
  input: Input,
  output?: Output,
) {
  return { description, annotations, meta, input: z.object(input), output: output && z.object(output) };
}

/** The tools in their listed order. Every word is in the context of every agent at every turn: a test counts the tokens. */
export const MCP_TOOLS = {
  context: tool(
    'Get what earlier agents did, decided and found. With task: the prompt for that task, with open findings and likely files. Without: the start of the session. Call it before you work.',
    READS,
    ALWAYS,
    {
      task: taskId.optional(),
      prompt: text(200_000).optional().describe('what you will do: facts are chosen by it'),
      role: role.optional(),
      after: dispatch.optional().describe('wait for this result of report'),
      tokens: between(1, 2_000_000).optional().describe('of the prompt'),
    },
  ),
  report: tool(
    'Store the result of a task, once it is done or cannot be done.',
    ADDS,
    ALWAYS,
    {
      role: role.optional(),
      task_id: taskId,
      status: z.enum(verdictsOf('implementer')).optional().describe('of an implementer'),
      assessment: z.enum(verdictsOf('reviewer')).optional().describe('of a reviewer'),
      summary: z.string().optional(),
      files_modified: texts.optional(),
      files_deleted: texts.optional(),
      files_renamed: named('{from, to}'),
      tests: z.array(testRun).optional(),
      follow_up_actions: texts.optional(),
      blockers: texts.optional(),
      questions: named('{text, options, default} to a person'),
      issues: z.array(reviewIssue).optional(),
      required_fixes: texts.optional(),
      commit: z.string().optional(),
      artifacts: named('{kind, name, signature, location}'),
      facts: named('{subject, relation, object}'),
      result_id: z.string().optional().describe('the result counts once under it'),
    },
    {
      status: z.string(),
      dispatch: z.int().optional(),
      facts: z.int().optional(),
      repairs: z.string().optional(),
      unknown_task: z.string().optional(),
    },
  ),
  task: tool(
    'Board and plan. next: ready tasks; claim: take the next one, or id; release: give id back, with a note (content); add: to the board (content); status: of id; list: open ones first.',
    ADDS,
    found('next task, claim a task, board, plan, todo'),
    {
      action: z.enum(['next', 'claim', 'release', 'add', 'status', 'list']),
      id: z.string().optional(),
      status: z.enum(TASK_STATUSES).optional(),
      content: content.optional(),
      priority: priority.optional().describe('0 critical to 4'),
      dependsOn: z.array(z.string()).optional() satisfies z.ZodType<z.input<typeof dependsOn>>,
      reason: z.string().optional(),
      agent: z.string().optional().describe('your name'),
    },
  ),
  note: tool(
    'For later agents: note, decision or message (content), answer (to what task id asks). inbox: unread messages; read: mark id as read; list: notes; facts: what holds; retract, restore, correct (content) statement id.',
    ADDS,
    found('write a note, decision, message, answer a question'),
    {
      action: z.enum([
        ...(['note', 'decision', 'message', 'inbox', 'read', 'list', 'answer'] as const),
        ...(['facts', 'retract', 'restore', 'correct'] as const),
      ]),
      content: content.optional(),
      type: z.enum(NOTE_TYPES).optional(),
      id: z.string().optional(),
      question: z.string().optional(),
    },
  ),
  recall: tool(
    'Search what the session remembers, or with scope project all its sessions.',
    READS,
    found('search memory of earlier work'),
    {
      query: text(10_000),
      scope: z.enum(['session', 'project']).optional(),
      limit: between(1, 50).optional(),
    },
  ),
} as const;

export type McpToolName = keyof typeof MCP_TOOLS;
export type McpInput<Name extends McpToolName> = z.output<(typeof MCP_TOOLS)[Name]['input']>;

/** Returns a field that an action requires. @throws ThroughlineError `schema_invalid` if it is missing */
export function needed<Input extends { readonly action: string }, Field extends keyof Input & string>(
  input: Input,
  field: Field,
  what: string,
): NonNullable<Input[Field]> {
  const value = input[field];
  if (value !== undefined && value !== null) return value;
  throw new ThroughlineError(
    'schema_invalid',
    `${field} is missing: action ${input.action} needs it (${what})`,
  );
}

/** Time between two renewals of the claims of an agent, in milliseconds. A claim lapses half an hour after the last one. */
export const RENEW_MS = 10 * 60_000;

let renewedAt = 0;

/** Renews from time to time what agents have claimed through this process; forgets what others have now. */
export async function renewClaims({ session, client, claims }: Memory): Promise<void> {
  const now = Date.now();
  if (claims.size === 0 || now - renewedAt < RENEW_MS) return;
  renewedAt = now;
  const { tools } = await client();
  for (const [id, claim] of claims)
    await tools.taskNext({ session, id, claim }).catch(() => claims.delete(id));
}

export interface Memory extends Pick<AgentSession, 'session' | 'project' | 'plan' | 'branch'> {
  /** Connects at the first call, and again after a failure. */
  readonly client: () => Promise<ThroughlineClient>;
  /** The tasks that agents have claimed through this process, with their agents. */
  readonly claims: Map<string, string>;
  /** Keeps a result on this machine, as hooks do, until the server can be reached. */
  readonly keep: (result: Pick<KeptResult, 'role' | 'text' | 'messageId'>) => Promise<void>;
  readonly isPausedNow: () => boolean;
  /** Knows which statements hooks and tools have shown to which conversation. */
  readonly state: Pick<HookState, 'peek' | 'remember'>;
  /** Names the conversation, if the client says so to its MCP servers. */
  readonly conversation?: string;
}

/** A reply of a tool: a text for the model, and of one with an output schema the same as data. */
export type McpAnswer<Name extends McpToolName> =
  | string
  | { readonly text: string; readonly data: z.output<NonNullable<(typeof MCP_TOOLS)[Name]['output']>> };

/** Implementation of a tool, for the agent that calls it. Throws a ThroughlineError if it fails. */
export type McpTool<Name extends McpToolName> = (
  memory: Memory & { readonly agent: string },
  input: McpInput<Name>,
) => Promise<McpAnswer<Name>>;

export interface KnownTask {
  readonly text?: string;
  /** Says that no such task exists, with similar ids; only if the session follows a plan. */
  readonly unknown?: string;
}

export async function knownTask(
  client: ThroughlineClient,
  session: string,
  task: string,
): Promise<KnownTask> {
  const { run, task: known } = await client.runs.status({ session, task });
  const text = known?.board?.content ?? known?.plan?.text;
  if (text !== undefined) return { text };
  if (run === null) return {};
  const [, ...hints] = (known?.remark ?? '').split(';');
  const hint = hints.map((text) => `;${text}`).join('');
  return {
    unknown: `Neither the plan nor the board has a task ${JSON.stringify(task)}${hint}${hint.endsWith('?') ? '' : '.'}`,
  };
}
