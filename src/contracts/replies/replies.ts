import type { z } from 'zod';
import { COMPILE_SUBJECT, PAST_PROMPT_SUBJECT } from '../names.js';
import {
  RUN_INIT_SUBJECT,
  RUN_STATUS_SUBJECT,
  TOOL_NAMES,
  type ToolName,
  TRACE_APPEND_SUBJECT,
  TRACE_COMPACT_SUBJECT,
  TRACE_GET_SUBJECT,
  TRACE_PIN_SUBJECT,
  toolSubject,
} from '../request-names.js';
import type { Output } from '../schema-fields.js';
import { compileReply } from './compile-reply.js';
import { LEARNING_REPLIES } from './learning-reply.js';
import { runInitReply, runStatusReply } from './run-reply.js';
import { TOOL_REPLIES } from './tool-reply.js';
import { traceAppended, traceCompacted, traceFound, tracePinned } from './trace-reply.js';

type ToolReplies = { readonly [Name in ToolName as `tool.${Name}`]: (typeof TOOL_REPLIES)[Name] };

export const REPLIES = {
  [COMPILE_SUBJECT]: compileReply,
  [PAST_PROMPT_SUBJECT]: compileReply,
  [RUN_INIT_SUBJECT]: runInitReply,
  [RUN_STATUS_SUBJECT]: runStatusReply,
  [TRACE_APPEND_SUBJECT]: traceAppended,
  [TRACE_COMPACT_SUBJECT]: traceCompacted,
  [TRACE_GET_SUBJECT]: traceFound,
  [TRACE_PIN_SUBJECT]: tracePinned,
  ...LEARNING_REPLIES,
  ...(Object.fromEntries(TOOL_NAMES.map((name) => [toolSubject(name), TOOL_REPLIES[name]])) as ToolReplies),
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type ReplySubject = keyof typeof REPLIES;
export type ReplyTo<Subject extends ReplySubject> = Output<(typeof REPLIES)[Subject]>;
/** The reply of each tool. */
export type ToolReply<Name extends ToolName> = ReplyTo<`tool.${Name}`>;
