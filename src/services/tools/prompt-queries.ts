import { z } from 'zod';
import { cursorOf, readCursor } from '../../contracts/checked.js';
import { noSuchSession, ThroughlineError } from '../../contracts/errors.js';
import type { KeptPrompt, PromptTrace } from '../../contracts/prompt-requests.js';
import type { ToolReply } from '../../contracts/requests.js';
import type { ToolPorts } from '../common/service-context.js';
import type { Handlers, Values } from '../common/service-shell.js';

const PLACE = [z.literal('prompts'), z.string()] as const;

export function createPromptQueries({
  prompts: ring,
}: Pick<ToolPorts, 'prompts'>): Handlers<'tool.prompt-list' | 'tool.prompt-show'> {
  return {
    async 'tool.prompt-list'({ session, task, limit, cursor }) {
      const [, before] = cursor === undefined ? [] : readCursor(cursor, PLACE);
      const all = await ring.all(session);
      const at = all.findIndex(({ id }) => id === before);
      // What is older than a prompt that left the ring, left it before.
      const older = before !== undefined && at < 0 ? [] : all.slice(at + 1);
      const fitting = older.filter((candidate) => task === undefined || candidate.task === task);
      const prompts = fitting.slice(0, limit).map(traceOf);
      const last = prompts.at(-1);
      return {
        prompts,
        total: all.filter((candidate) => task === undefined || candidate.task === task).length,
        ...(last !== undefined && fitting.length > limit && { next: cursorOf('prompts', last.id) }),
      };
    },
    async 'tool.prompt-show'({ session, id }) {
      const all = await ring.all(session);
      const fitting = all.filter((candidate) => candidate.id.startsWith(id));
      const [prompt, other] = fitting;
      if (prompt === undefined)
        throw new ThroughlineError(
          'not_found',
          `no prompt ${id} of session ${session} is kept: "throughline prompt ls ${session}" lists those that are`,
          { details: { id } },
        );
      if (other !== undefined)
        throw new ThroughlineError('ambiguous', `id ${id} fits ${fitting.length} prompts: give more of it`, {
          details: { ids: fitting.slice(0, 5).map((candidate) => candidate.id) },
        });
      return { prompt: traceOf(prompt), request: prompt.request };
    },
  };
}

function traceOf({ request: _, session: _of, ...trace }: KeptPrompt): PromptTrace {
  return trace;
}

const MAX_REJECTED = 1000;

/** Answers `telemetry-show`: figures from the kept prompts of a session, and from its log. */
export function createTelemetryQuery(options: Pick<ToolPorts, 'reader' | 'log' | 'prompts' | 'rejected'>) {
  return async ({ session }: Values<'tool.telemetry-show'>): Promise<ToolReply<'telemetry-show'>> => {
    const { state } = (await options.reader.load(session)).folded;
    if (state.sequence === 0) throw noSuchSession(session);
    const { sequence } = state;
    const { counts: dispatches, ledgers } = state.dispatches.current();
    const approvalLoops = [...ledgers.values()].reduce((sum, ledger) => sum + ledger.approvalLoops, 0);
    const [prompts, { entries }, rebuilt] = await Promise.all([
      options.prompts.all(session),
      options.rejected.page({ session, limit: MAX_REJECTED }),
      options.log.read(session, { after: 0, at: 'command.progress.rebuilt' }),
    ]);
    const rejections: Record<string, number> = {};
    for (const { code } of entries) rejections[code] = (rejections[code] ?? 0) + 1;
    return {
      session,
      sequence,
      dispatches: { ...dispatches },
      rejections,
      approvalLoops,
      rebuilds: rebuilt.events.length,
      ...figuresOf(prompts),
    };
  };
}

function figuresOf(prompts: readonly KeptPrompt[]) {
  const ledgerModes: Record<string, number> = {};
  const fallbacks: Record<string, number> = {};
  let [shortened, tokensWanted, tokensUsed, retrievalMs, retrievalMaxMs] = [0, 0, 0, 0, 0];
  for (const { ledger = { mode: 'none' as const }, tokens, wanted = tokens, durationMs } of prompts) {
    const { mode, reason } = ledger;
    ledgerModes[mode] = (ledgerModes[mode] ?? 0) + 1;
    if (reason !== undefined) fallbacks[reason] = (fallbacks[reason] ?? 0) + 1;
    if (tokens < wanted) shortened += 1;
    tokensWanted += wanted;
    tokensUsed += tokens;
    retrievalMs += durationMs;
    retrievalMaxMs = Math.max(retrievalMaxMs, durationMs);
  }
  const sums = { ledgerModes, fallbacks, shortened, tokensWanted, tokensUsed };
  return { compiles: prompts.length, ...sums, retrievalMs: rounded(retrievalMs), retrievalMaxMs };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
