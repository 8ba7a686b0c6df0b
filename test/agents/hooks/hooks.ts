import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { HOOK_CLIENTS, type HookClientName } from '../../../src/agents/hooks/hook-table.js';
import { runHook } from '../../../src/agents/hooks/run-hook.js';
import { spoolOf } from '../../../src/agents/hooks/spool.js';
import { loadConfig } from '../../../src/config/config.js';
import type { ErrorCode } from '../../../src/contracts/error-codes.js';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import type { ClientTransport } from '../../../src/engine/ports/client-transport.js';
import { ThroughlineClient } from '../../../src/sdk/throughline-client.js';
import { isObject } from '../../../src/shared/text.js';

export type Payload = Readonly<Record<string, unknown>> & { readonly hook_event_name: string };

/** Recorded shapes of payloads: every event of a client that is taken, and those of Claude Code that are not. */
export function payloadsOf(client: HookClientName | 'claude-others'): readonly Payload[] {
  const file = new URL(`../../fixtures/hooks/${client}.jsonl`, import.meta.url);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

let calls = 0;

/** A call of a tool, as Claude Code writes it into its transcript. */
export function transcriptLines({
  tool_name: name,
  tool_input: input,
  tool_response,
  error,
  ...call
}: Payload) {
  calls += 1;
  const id = call.tool_use_id ?? `toolu_${calls}`;
  const text = error ?? JSON.stringify(tool_response ?? '');
  const failed = error !== undefined || (isObject(tool_response) && tool_response.isError === true);
  const result = { type: 'tool_result', tool_use_id: id, content: text, ...(failed && { is_error: true }) };
  return [
    { type: 'assistant', message: { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] } },
    { type: 'user', message: { role: 'user', content: [result] } },
  ]
    .map((line) => `${JSON.stringify({ timestamp: call.at ?? new Date().toISOString(), ...line })}\n`)
    .join('');
}

export const CLIENT_NAMES = Object.keys(HOOK_CLIENTS) as HookClientName[];

interface Asked {
  readonly subject: string;
  readonly body: unknown;
}

/** Hooks in this process, with a server that only notes what it is asked. */
export function hookPlace(
  options: {
    readonly context?: string;
    readonly recent?: readonly string[];
    /** Further fields of a compiled prompt. */
    readonly reply?: object;
    readonly env?: Record<string, string>;
    /** Longest request that the server takes. */
    readonly maxBytes?: number;
    /** Milliseconds that a hook has; one for which a transcript is missing waits until a second is left. */
    readonly withinMs?: number;
    /** Codes with which the server refuses the results of a session, and prompts that wait `after` a result. */
    readonly refuses?: Readonly<Record<string, ErrorCode>>;
  } = {},
) {
  const { context = 'what is known', recent = ['a step'], maxBytes = 1_000_000 } = options;
  const stateDir = mkdtempSync(join(tmpdir(), 'throughline-hooks-'));
  const transcripts = mkdtempSync(join(tmpdir(), 'throughline-transcripts-'));
  onTestFinished(() => {
    for (const folder of [stateDir, transcripts]) rmSync(folder, { recursive: true, force: true });
  });
  const transcriptOf = (name: unknown) => join(transcripts, `${name}.jsonl`);
  /** The event with the transcripts of this place; a call of a tool only becomes lines of one. */
  const told = (payload: unknown): unknown => {
    if (!isObject(payload) || 'timestamp' in payload) return payload;
    const { session_id: session, agent_id: agent, hook_event_name: event } = payload as Payload;
    if (event.startsWith('PostToolUse'))
      return appendFileSync(transcriptOf(agent ?? session), transcriptLines(payload as Payload));
    const agent_transcript_path = transcriptOf(agent);
    return { transcript_path: transcriptOf(session), agent_transcript_path, ...payload };
  };
  const asked: Asked[] = [];
  const published: string[] = [];
  const lines: string[] = [];
  let isDown = false;
  const unavailable = () => new ThroughlineError('unavailable', 'no server');
  const transport: ClientTransport = {
    async publish(subject, body) {
      if (isDown) throw unavailable();
      const code = options.refuses?.[subject.split('.')[1] ?? ''];
      if (code !== undefined) throw new ThroughlineError(code, 'refused');
      if (String(body).length > maxBytes)
        throw new ThroughlineError(
          'too_large',
          `${subject}: more than the ${maxBytes} bytes that the server takes`,
        );
      asked.push({ subject, body });
      published.push(String(body));
      return { sequence: published.length };
    },
    async request(subject, body) {
      if (isDown) throw unavailable();
      if (JSON.stringify(body).length > maxBytes) throw new ThroughlineError('too_large', 'too large');
      asked.push({ subject, body });
      const waits = isObject(body) && 'after' in body ? options.refuses?.after : undefined;
      if (waits !== undefined) throw new ThroughlineError(waits, 'not folded yet');
      const messages = [{ content: 'system' }, { content: `${context}\n\nTask prompt:\nthe task` }];
      const { kind, include } = isObject(body) ? body : {};
      const isIncluded = (part: string) => Array.isArray(include) && include.includes(part);
      return {
        ...(isIncluded('facts') && { facts: [], considered: { facts: [], files: [] } }),
        ...options.reply,
        kind,
        prompt: context,
        ...(isIncluded('messages') && { messages }),
        sequence: 1,
        summary: 'so far',
        recent,
        appended: 1,
        entries: [],
      };
    },
    async close() {},
  };
  // As the command does.
  const client = new ThroughlineClient(transport);
  const config = loadConfig({ THROUGHLINE_SESSION: 'demo', XDG_STATE_HOME: stateDir, ...options.env });
  const spool = spoolOf(stateDir, 'own:1', (line) => lines.push(line));
  const place = {
    config,
    stateDir,
    spool,
    directory: stateDir,
    onRecorded() {},
    connect: async () => {
      if (isDown) throw unavailable();
      return client;
    },
    log: (line: string) => lines.push(line),
    onLate: () => {},
    awaitTranscript: () => {},
    person: () => 'Ann',
  };
  return {
    asked,
    published,
    lines,
    stateDir,
    spool,
    spoolDir: join(stateDir, 'hooks', 'spool', 'own%3A1'),
    setDown(down: boolean) {
      isDown = down;
    },
    /** @param given an event; a call of a tool of Claude Code only goes into its transcript */
    async run(name: HookClientName, given: unknown) {
      const payload = name === 'claude' ? told(given) : given;
      if (payload === undefined) return '';
      const end = performance.now() + (options.withinMs ?? 1050);
      const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
      return runHook(name, HOOK_CLIENTS[name], text, { ...place, leftMs: () => end - performance.now() });
    },
  };
}
