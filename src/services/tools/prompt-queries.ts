import { z } from 'zod';
import { checkedRequest } from '../../contracts/checked.js';
import { ThroughlineError } from '../../contracts/errors.js';
import { token } from '../../contracts/names.js';
import { cursorOf, readCursor } from '../../contracts/page-cursor.js';
import type { KeptPrompt, PromptTrace } from '../../contracts/replies/prompt-trace.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import { type PromptRing, pageOf } from '../../ports/prompt-traces.js';

/** Answers the tools that look at the prompts compiled last. */
type Answers = {
  readonly [Name in 'prompt-list' | 'prompt-show']: (request: unknown) => Promise<ToolReply<Name>>;
};

const PLACE = [z.literal('prompts'), z.string()] as const;

export function createPromptQueries(ring: Pick<PromptRing, 'all'>): Answers {
  return {
    async 'prompt-list'(request) {
      const asked = checkedRequest(TOOLS['prompt-list'].request, request);
      const { session, task, limit, cursor } = asked;
      const [, before] = cursor === undefined ? [] : readCursor(cursor, PLACE);
      const all = await ring.all(token(session, 'session'));
      const older = pageOf(all, { limit: all.length, ...(before !== undefined && { before }) });
      const fitting = older.filter((each) => task === undefined || each.task === task);
      const prompts = fitting.slice(0, limit).map(traceOf);
      const last = prompts.at(-1);
      return {
        prompts,
        total: all.filter((each) => task === undefined || each.task === task).length,
        ...(last !== undefined && fitting.length > limit && { next: cursorOf('prompts', last.id) }),
      };
    },
    async 'prompt-show'(request) {
      const { session, id } = checkedRequest(TOOLS['prompt-show'].request, request);
      const all = await ring.all(token(session, 'session'));
      const fitting = all.filter((each) => each.id.startsWith(id));
      const [prompt, other] = fitting;
      if (prompt === undefined)
        throw new ThroughlineError(
          'not_found',
          `no prompt ${id} of session ${session} is kept: "throughline prompts ls ${session}" lists those that are`,
          { details: { id } },
        );
      if (other !== undefined)
        throw new ThroughlineError('ambiguous', `id ${id} fits ${fitting.length} prompts: give more of it`, {
          details: { ids: fitting.slice(0, 5).map((each) => each.id) },
        });
      return { prompt: traceOf(prompt), request: prompt.request };
    },
  };
}

function traceOf({ request: _, session: _of, ...trace }: KeptPrompt): PromptTrace {
  return trace;
}
