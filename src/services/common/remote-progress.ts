import { z } from 'zod';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { RUN_STATUS_SUBJECT } from '../../contracts/request-names.js';
import type { SessionCommander } from '../../folding/session-folding.js';

/** Sends a request about a session to a service, and gives the JSON of its answer. */
export type AskSession = (subject: string, session: Token) => Promise<unknown>;

const statusReply = z.object({ degraded: z.string().optional() });

/**
 * The commander of a compiler that runs without `session-tools` beside it: it appends nothing itself, so that its NATS
 * user needs no right to. What it would append is a progress that was rebuilt; the tools do that when they are asked
 * for the status of the run.
 */
export function progressByTools(ask: AskSession): SessionCommander {
  return async (session, name) => {
    if (name !== 'progress.rebuilt') throw new Error(`a compiler must not append ${name}`);
    const { degraded } = statusReply.parse(
      await ask(RUN_STATUS_SUBJECT, session).catch((error: unknown) => ({ degraded: messageOf(error) })),
    );
    if (degraded !== undefined) {
      const message = `the session tools did not read it again: ${degraded}`;
      throw new ThroughlineError('progress_ledger_missing_tasks', message);
    }
    return { reply: {}, appended: 'progress.rebuilt' };
  };
}
