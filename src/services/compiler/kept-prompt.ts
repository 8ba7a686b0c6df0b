import type { CompileRequest } from '../../contracts/compile-request.js';
import type { Token } from '../../contracts/names.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import type { KeptPrompt } from '../../contracts/replies/prompt-trace.js';
import { factId } from '../../facts/fact-id.js';
import type { ChosenFacts } from '../../prompt/prompt-report.js';
import { redactJson } from '../../redaction/redactor.js';
import type { SecretScanner } from '../../redaction/secret-scanner.js';
import { hashOf } from '../../shared/hash.js';
import { clipText } from '../../shared/text.js';

/** A prompt that was compiled, as it comes from the request path: nothing of it has been worked on. */
export interface CompiledNow {
  readonly id: string;
  readonly at: string;
  readonly session: Token;
  readonly request: CompileRequest;
  readonly reply: CompileReply;
  readonly chosen: ChosenFacts;
  readonly durationMs: number;
}

/** Bytes of a request that are kept; texts of a longer one are cut, to so many characters each. */
const MAX_REQUEST = 32_768;
const CUTS = [6000, 1500, 300, 60];
/** Facts that are told one by one. */
const MAX_FACTS = 100;

/** What is kept of a prompt. Secrets are taken out of the request before it is cut: half a secret is not found. */
export function keptOf(compiled: CompiledNow, scanner: SecretScanner): KeptPrompt {
  const { id, at, session, reply, chosen, durationMs } = compiled;
  const { shown, left } = chosen;
  const { request, isWhole } = bounded(pastRequest(compiled), scanner);
  return {
    ...{ id, at, session, kind: reply.kind },
    ...taskOf(compiled.request),
    sequence: reply.sequence,
    tokens: reply.tokenEstimate,
    hash: reply.kind === 'dispatch' ? reply.fullPromptHash : hashOf(reply.prompt),
    ...(reply.kind === 'dispatch' && { prefixHash: reply.stablePrefixHash }),
    ...{ room: reply.budget.room, dropped: reply.budget.dropped },
    durationMs: Math.round(durationMs * 100) / 100,
    ...{ factsShown: reply.factsShown, factsTotal: reply.factsTotal },
    facts: shown.slice(0, MAX_FACTS).map(({ fact, score }) => ({ id: factId(fact), score: rounded(score) })),
    left: left.map(({ fact, score, why }) => ({ id: factId(fact), score: rounded(score), why })),
    learnings: (reply.learnings ?? []).map((learning) => learning.id),
    ...(reply.learningsSequence !== undefined && { learningsSequence: reply.learningsSequence }),
    ...(!isWhole && { cut: true as const }),
    request,
  };
}

/** The request for the same prompt of the past: as of the sequences that this one reflects. */
function pastRequest({ request, reply }: CompiledNow): Record<string, unknown> {
  const { after: _, afterTimeoutMs: _waits, explain: _explains, ...asked } = request;
  const { learningsSequence } = reply;
  const wentWithout = 'learningsError' in reply && reply.learningsError !== undefined;
  return {
    ...asked,
    asOf: reply.sequence,
    ...(learningsSequence !== undefined && { learningsAsOf: learningsSequence }),
    // It went without learnings, which may be there when it is compiled again.
    ...(wentWithout && { maxLearnings: 0 }),
  };
}

function taskOf(request: CompileRequest): Pick<KeptPrompt, 'task' | 'role'> {
  if (request.kind === 'session-start') return {};
  return {
    ...(request.taskId !== undefined && { task: request.taskId }),
    ...(request.kind === 'dispatch' && { role: request.role }),
  };
}

function bounded(
  whole: Readonly<Record<string, unknown>>,
  scanner: SecretScanner,
): { request: Record<string, unknown>; isWhole: boolean } {
  const { value, found } = redactJson(structuredClone(whole), scanner);
  let request = value as Record<string, unknown>;
  let isWhole = Object.keys(found).length === 0;
  for (const most of CUTS) {
    if (Buffer.byteLength(JSON.stringify(request)) <= MAX_REQUEST) break;
    request = cutTexts(request, most) as Record<string, unknown>;
    isWhole = false;
  }
  return { request, isWhole };
}

/** The same with every text cut to so many characters. A request is only a few levels deep. */
function cutTexts(value: unknown, most: number): unknown {
  if (typeof value === 'string') return clipText(value, most);
  if (Array.isArray(value)) return value.map((each) => cutTexts(each, most));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cutTexts(each, most)]));
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000;
}
