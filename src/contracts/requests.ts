import type { z } from 'zod';
import { BOARD_REQUESTS } from './board-requests.js';
import { FACT_REQUESTS } from './fact-requests.js';
import { LEARNING_REQUESTS } from './learning-requests.js';
import { PLAN_REQUESTS } from './plan-requests.js';
import { PROMPT_REQUESTS } from './prompt-requests.js';
import type { RegisteredRequest } from './request-row.js';
import { RESULT_REQUESTS } from './result-requests.js';
import type { Output } from './schema-fields.js';
import { SESSION_REQUESTS } from './session-requests.js';
import { TRACE_REQUESTS } from './trace-requests.js';

/** The registry of requests: services, permissions, clients, commands, schemas and pages are made from its rows. */
export const REQUESTS = {
  ...BOARD_REQUESTS,
  ...SESSION_REQUESTS,
  ...PROMPT_REQUESTS,
  ...TRACE_REQUESTS,
  ...PLAN_REQUESTS,
  ...FACT_REQUESTS,
  ...RESULT_REQUESTS,
  ...LEARNING_REQUESTS,
} as const satisfies Readonly<Record<string, RegisteredRequest>>;

/** The subject of a request. */
export type RequestName = keyof typeof REQUESTS;
type Rows = typeof REQUESTS;

/** The input of a request. */
export type RequestInput<Name extends RequestName> = z.input<Rows[Name]['request']>;
/** The input with its defaults. */
export type RequestValues<Name extends RequestName> = z.output<Rows[Name]['request']>;
/** The input with its defaults, without the session. */
export type RequestArguments<Name extends RequestName> = Omit<RequestValues<Name>, 'session'>;
/** The reply to a request. */
export type ReplyTo<Name extends RequestName> = Output<Rows[Name]['reply']>;

/** A request that names no session, such as one about the installation or a project. */
export type WideRequest = {
  [Name in RequestName]: Rows[Name]['scope'] extends 'session' | 'any session' ? never : Name;
}[RequestName];

/** The name of a tool: a request on `tool.<name>`. */
export type ToolName = RequestName extends infer Name
  ? Name extends `tool.${infer Tool}`
    ? Tool
    : never
  : never;
/** The input of a tool. */
export type ToolInput<Name extends ToolName> = RequestInput<`tool.${Name}`>;
export type ToolArguments<Name extends ToolName> = RequestArguments<`tool.${Name}`>;
/** The reply of a tool. */
export type ToolReply<Name extends ToolName> = ReplyTo<`tool.${Name}`>;

/** A request about learnings. */
export type LearningRequest = keyof typeof LEARNING_REQUESTS;

export const REQUEST_NAMES = Object.keys(REQUESTS) as RequestName[];
export const TOOL_NAMES = REQUEST_NAMES.flatMap((name) =>
  name.startsWith('tool.') ? [name.slice('tool.'.length) as ToolName] : [],
);

/** Widens the row of a request, whose type depends on the name. */
export function rowOf(name: RequestName): RegisteredRequest {
  return REQUESTS[name];
}
