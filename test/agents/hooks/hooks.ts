import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { HOOK_CLIENTS, type HookClientName } from '../../../src/agents/hooks/hook-table.js';
import { runHook } from '../../../src/agents/hooks/run-hook.js';
import { spoolOf } from '../../../src/agents/hooks/spool.js';
import { loadConfig } from '../../../src/config/config.js';
import type { ErrorCode } from '../../../src/contracts/error-codes.js';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import type { ClientTransport } from '../../../src/engine/ports/clients.js';
import { ThroughlineClient } from '../../../src/sdk/throughline-client.js';
import { isObject } from '../../../src/shared/text.js';

export type Payload = Readonly<Record<string, unknown>> & { readonly hook_event_name: string };

/** Recorded shapes of payloads: every event of a client that is taken, and those of Claude Code that are not. */
export function payloadsOf(client: HookClientName | 'claude-others'): readonly Payload[] {
  const file = new URL(`../../fixtures/hooks/${client}.jsonl`, import.meta.url);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
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
    /** Codes with which the server refuses the results of a session. */
    readonly refuses?: Readonly<Record<string, ErrorCode>>;
  } = {},
) {
  const { context = 'what is known', recent = ['a step'], maxBytes = 1_000_000 } = options;
  const stateDir = mkdtempSync(join(tmpdir(), 'throughline-hooks-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
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
      };
    },
    send() {},
    async close() {},
  };
  // As the command does.
  const client = new ThroughlineClient(transport);
  const config = loadConfig({ THROUGHLINE_SESSION: 'demo', XDG_STATE_HOME: stateDir, ...options.env });
  const spool = spoolOf(stateDir, 'own:1', (line) => lines.push(line));
  const place = {
    ...{ config, stateDir, spool, directory: stateDir, onRecorded() {} },
    connect: async () => {
      if (isDown) throw unavailable();
      return client;
    },
    log: (line: string) => lines.push(line),
    allowMore: () => {},
  };
  return {
    ...{ asked, published, lines, stateDir, spool, spoolDir: join(stateDir, 'hooks', 'spool', 'own%3A1') },
    setDown(down: boolean) {
      isDown = down;
    },
    run(name: HookClientName, payload: unknown) {
      const end = performance.now() + (options.withinMs ?? 1050);
      const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
      return runHook(name, HOOK_CLIENTS[name], text, { ...place, leftMs: () => end - performance.now() });
    },
  };
}
