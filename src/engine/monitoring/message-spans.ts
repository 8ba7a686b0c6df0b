import { isToken, parseDispatchSubject, type Token } from '../../contracts/names.js';
import { readTraceContext, type TraceContext } from '../../contracts/trace-context.js';
import {
  noTracing,
  type RunningSpan,
  type SpanAttributes,
  type SpanStart,
  type Spans,
  type Tracing,
} from '../ports/clients.js';

/**
 * Builds the spans of messages, with the names and attributes of OpenTelemetry's conventions for messaging and generative AI.
 * A span name holds the template of a subject, never the name of a session.
 */
const DISPATCHES = 'dispatch.{session}.{role}';

type OperationType = 'send' | 'process';

function messaging(
  operation: string,
  type: OperationType,
  template: string,
  more: SpanAttributes = {},
): Pick<SpanStart, 'name' | 'attributes'> {
  return {
    name: `${operation} ${template}`,
    attributes: {
      'messaging.system': 'nats',
      'messaging.operation.name': operation,
      'messaging.operation.type': type,
      'messaging.destination.template': template,
      ...more,
    },
  };
}

export function publishSpan(subject: string, bytes: number): SpanStart {
  return {
    ...messaging('publish', 'send', DISPATCHES, ofDispatch(subject, bytes)),
    kind: 'producer',
    ...sessionOf(subject),
  };
}

/** The extractor or the learner processes a result. */
export function takeSpan(
  operation: 'extract' | 'learn',
  subject: string,
  bytes: number,
  from: TraceContext | undefined,
): SpanStart {
  return {
    ...messaging(operation, 'process', DISPATCHES, ofDispatch(subject, bytes)),
    kind: 'consumer',
    from,
    ...sessionOf(subject),
  };
}

/** Appends an event to a log: `session.demo.fact.recorded`, `learning.shop.proposal.made`. */
export function appendSpan(kind: string, key: Token, type: string, subject: string): SpanStart {
  const family = subject.split('.')[0] ?? kind;
  return {
    ...messaging('append', 'send', `${family}.{${kind}}.${type}`, { 'throughline.event.type': type }),
    kind: 'producer',
    destination: subject,
    ...(kind === 'session' && { session: key }),
  };
}

export function requestSpan(subject: string): SpanStart {
  return { ...messaging('request', 'send', templateOf(subject)), kind: 'client', destination: subject };
}

export function answerSpan(subject: string, from: TraceContext | undefined, session: unknown): SpanStart {
  const template = templateOf(subject);
  const operation = operationOf(template);
  return {
    ...messaging(operation, 'process', template, OPERATIONS[operation]),
    kind: 'server',
    from,
    destination: subject,
    ...(isToken(session) && { session }),
  };
}

/** A hook requests the text that precedes a system prompt. */
export function hookSpan(session: string): SpanStart {
  return { name: 'hook pre_llm', kind: 'internal', attributes: {}, ...(isToken(session) && { session }) };
}

const OPERATIONS = {
  compile: { 'gen_ai.operation.name': 'search_memory' },
  command: { 'gen_ai.operation.name': 'update_memory' },
  answer: {},
} as const satisfies Readonly<Record<string, SpanAttributes>>;

function operationOf(template: string): keyof typeof OPERATIONS {
  if (template.startsWith(PROMPTS)) return 'compile';
  return READS.test(template) ? 'answer' : 'command';
}

const PROMPTS = 'prompt.';
/** Requests that change nothing. */
const READS =
  /^(?:run\.status|(?:trace|learning|proposal)\.(?:get|compact|list|search|show)|tool\.[a-z]+-(?:list|show|find))\b/;

function templateOf(subject: string): string {
  const [service = '', request = '', session] = subject.split('.');
  return session === undefined ? `${service}.${request}` : `${service}.${request}.{session}`;
}

function ofDispatch(subject: string, bytes: number): SpanAttributes {
  const { role } = parseDispatchSubject(subject);
  return {
    'gen_ai.operation.name': 'create_memory',
    'messaging.message.body.size': bytes,
    ...(role !== undefined && { 'throughline.role': role }),
  };
}

function sessionOf(subject: string): Pick<SpanStart, 'session' | 'destination'> {
  return { session: parseDispatchSubject(subject).session, destination: subject };
}

const UNRECORDED: RunningSpan = { set() {}, failed() {} };

/**
 * Returns the trace of the parent process, from `TRACEPARENT` and `TRACESTATE`: messages carry it. Makes no spans and loads
 * nothing.
 */
export function inheritedTrace(env: Readonly<Record<string, string | undefined>>): Tracing {
  const from = readTraceContext((name) => env[name.toUpperCase()]);
  if (from === undefined) return noTracing;
  const spans: Spans = { run: (_, work) => work(UNRECORDED), context: () => from };
  return () => spans;
}
