import { z } from 'zod';
import { compileRequest, pastPromptRequest } from './compile-request.js';
import { FACT_TAGS, ROLES, STATEMENT_KINDS } from './kinds.js';
import { runInitRequest, runStatusRequest } from './plan-requests.js';
import { compileReply } from './replies/compile-reply.js';
import { dispatchResult, rejectedShown, TIMELINE_KINDS, timelineListed } from './replies/dispatch-result.js';
import {
  factCorrected,
  factErased,
  factRestored,
  factRetracted,
  factShown,
  factsFound,
  filesListed,
  recalled,
} from './replies/fact-reply.js';
import { runInitReply, runStatusReply } from './replies/plan-reply.js';
import { promptTrace } from './replies/prompt-trace.js';
import {
  traceAppended,
  traceCompacted,
  traceFound,
  tracePinned,
  tracesListed,
} from './replies/trace-reply.js';
import {
  between,
  command,
  cursor,
  flag,
  limit,
  ofSession,
  oneOrMore,
  query,
  queryOfAny,
  speaker,
  text,
  wideCommand,
  wideQuery,
} from './request-row.js';
import { count, list, mark, next, oneOf, place, string } from './schema-fields.js';
import { traceAppendRequest, traceCompactRequest, traceGetRequest } from './trace-entry.js';

/** Requests about what a session remembers: facts, files, results, prompts and traces; and about its plan. */

const content = text(10_000);
const factKey = text(64).describe('Its id, such as M7, or a unique prefix of its hash.');
/** Any of the words matches. */
const anyOf = <Word extends z.ZodType<string>>(word: Word) => oneOrMore(word, 20);

const MAX_CORRECTED = 1_000_000;

const rejectedId = z
  .int()
  .positive('must be a number of a rejected result, 1 or more')
  .describe('Number of the rejected result, from rejected-list.');

export const MEMORY_REQUESTS = {
  'prompt.compile': ofSession(false, 'compile the next prompt', 'prompt', compileRequest, compileReply),
  // A normal compile is counted and stored as if for an agent.
  'prompt.past': ofSession(
    true,
    'compile a prompt as it was; it is neither counted nor kept',
    'prompt show',
    pastPromptRequest,
    compileReply,
  ),
  'trace.append': ofSession(
    false,
    'add entries to the trace of an intent',
    'publish trace',
    traceAppendRequest,
    traceAppended,
  ),
  'trace.compact': ofSession(
    true,
    'the compacted history of an intent',
    'log',
    traceCompactRequest,
    traceCompacted,
  ),
  'trace.get': ofSession(
    true,
    'an entry as its event keeps it, with its output',
    'log',
    traceGetRequest,
    traceFound,
  ),
  'trace.pin': ofSession(
    false,
    'keep what an entry says as a constraint of its intent',
    'log',
    traceGetRequest,
    tracePinned,
  ),
  'run.init': ofSession(
    false,
    'track the progress of a session in a tasks.md',
    'plan follow',
    runInitRequest,
    runInitReply,
  ),
  'run.status': ofSession(
    true,
    'show how far a session is and what each task needs next',
    'status',
    runStatusRequest,
    runStatusReply,
  ),
  'tool.fact-find': query(
    'find facts, where they come from and what closed them',
    { cli: 'facts', example: { text: 'parser test', is: 'all' } },
    {
      text: text(1000).optional().describe('Its id, a unique prefix of it, or words that it contains.'),
      task: text(128).optional().describe('Only facts from results of this task.'),
      subject: text(1024).optional().describe('Only facts about this, such as a file.'),
      relation: anyOf(text(128)).optional().describe('Only facts with this relation, or one of these.'),
      kind: anyOf(z.enum(STATEMENT_KINDS))
        .optional()
        .describe('Only statements of this kind, or one of these.'),
      tag: anyOf(z.enum(FACT_TAGS)).optional().describe('Only facts with this tag, or one of these.'),
      is: oneOf('Only valid facts, only those that were closed, or all. Default: open.', [
        'open',
        'closed',
        'all',
      ]).optional(),
      limit: limit(200, 20),
      cursor,
    },
    factsFound,
  ),
  'tool.recall': queryOfAny(
    'search what sessions remember, by words and by meaning',
    { cli: 'recall <query>', example: { query: 'how are errors in the parser reported' } },
    {
      query: text(10_000).describe('What to search for, in any words.'),
      project: text(64)
        .optional()
        .describe('All sessions of this project. Default: the session; without one, all sessions.'),
      limit: between(1, 200).default(20).describe('Maximum number of items.'),
      maxTokens: between(20, 100_000).default(1000).describe('Maximum tokens of the text.'),
    },
    recalled,
  ),
  'tool.dispatch-show': query(
    'show what became of a result, once the session has it',
    { example: { dispatch: 7 } },
    {
      dispatch: z
        .int()
        .positive('must be a DISPATCH sequence, 1 or more')
        .describe("A DISPATCH sequence, from a publisher's PubAck."),
      timeoutMs: between(0, 600_000)
        .optional()
        .describe('Longest wait in milliseconds, as afterTimeoutMs of a prompt.'),
    },
    dispatchResult,
  ),
  'tool.fact-show': query(
    'show a fact, its history and the prompts that showed it',
    { cli: 'facts', example: { id: '3f2a' } },
    { id: factKey },
    factShown,
  ),
  'tool.fact-retract': command(
    'withdraw a wrong fact: no later prompt shows it',
    { cli: 'facts retract <id>', example: { id: 'M7', reason: 'Never agreed' } },
    {
      id: factKey,
      reason: content.optional().describe('Why, in words.'),
      ...speaker('retracts it'),
    },
    factRetracted,
  ),
  'tool.fact-correct': command(
    'replace what a fact says',
    { cli: 'facts correct <id> <text>', example: { id: 'M7', text: 'The port is 9464' } },
    {
      id: factKey,
      text: content.describe('What it should say.'),
      reason: content.optional().describe('Why, in words.'),
      ...speaker('corrects it'),
    },
    factCorrected,
  ),
  'tool.fact-restore': command(
    'make a fact hold again, whatever ended it',
    { cli: 'facts restore <id>', example: { id: 'M7', reason: 'It was about the web app' } },
    {
      id: factKey,
      reason: content.optional().describe('Why, in words.'),
      ...speaker('restores it'),
    },
    factRestored,
  ),
  'tool.fact-erase': command(
    'overwrite what a statement says, in the log too; cannot be undone',
    { cli: 'facts erase <id>', example: { id: 'M7', by: 'ann' }, agents: false },
    { id: factKey, by: text(128).default('a person').describe('Who erases it.') },
    factErased,
  ),
  'tool.file-list': query(
    'list the files that results touched',
    { cli: 'facts', example: { text: 'parser' } },
    {
      text: text(200).optional().describe('Only files whose path contains these words.'),
      limit: limit(200, 50),
    },
    filesListed,
  ),
  'tool.timeline-list': query(
    'list what happened, the newest first',
    { cli: 'log', example: { kinds: ['result', 'rejected'], limit: 20 } },
    {
      kinds: z
        .array(z.enum(TIMELINE_KINDS))
        .min(1, 'must name at least one')
        .max(TIMELINE_KINDS.length, `must name at most ${TIMELINE_KINDS.length}`)
        .optional()
        .describe('Only entries of these kinds.'),
      task: text(128).optional().describe('Only entries of this task, of the board or the plan.'),
      failed: flag.describe('Only what failed: bad verdicts, rejected results, failed actions.'),
      limit: limit(500, 100),
      cursor,
      after: z
        .int()
        .nonnegative('must be a session sequence, 0 or more')
        .optional()
        .describe('Only entries after this session sequence.'),
      upTo: z
        .int()
        .positive('must be a session sequence, 1 or more')
        .optional()
        .describe('Only entries up to this session sequence.'),
    },
    timelineListed,
  ),
  'tool.trace-list': query(
    'list the intents that have a trace',
    { cli: 'log' },
    { limit: limit(200, 50), cursor },
    tracesListed,
  ),
  'tool.rejected-list': queryOfAny(
    'results that could not be used, the newest first',
    { cli: 'result ls' },
    {
      role: oneOf('Only results that were published with this role.', ROLES).optional(),
      limit: limit(200, 50),
      cursor,
    },
    z.object({
      rejected: list('The newest first.', rejectedShown),
      total: count('Number of rejected results.'),
      next,
    }),
  ),
  'tool.rejected-show': wideQuery(
    'show a rejected result, its reason and what would fix it',
    { cli: 'result show', example: { id: 3 }, agents: false },
    { id: rejectedId },
    z.object({
      rejected: rejectedShown.describe('The rejected result.'),
      body: string('Its body, or the beginning if it does not fit a reply.'),
      encoding: oneOf('Encoding of the body: text for UTF-8 that fits, else base64.', ['utf8', 'base64']),
      truncated: mark('Set where this is only the beginning.'),
    }),
  ),
  'tool.rejected-retry': wideCommand(
    'publish a rejected result again, corrected or as it came',
    { cli: 'result retry', example: { id: 3 }, agents: false },
    {
      id: rejectedId,
      role: oneOf('Publish it with this role.', ROLES).optional(),
      body: z
        .string()
        .min(1, 'must not be empty')
        .max(MAX_CORRECTED, `must be at most ${MAX_CORRECTED} characters`)
        .optional()
        .describe('The corrected result. If it still cannot be read, nothing is published.'),
    },
    z.object({
      id: z.int().describe('Its number, which is no longer in the list.'),
      dispatch: place('Sequence in the DISPATCH stream under which it was published again.'),
    }),
  ),
  'tool.rejected-remove': wideCommand(
    'remove a rejected result for good',
    { cli: 'result rm', example: { id: 3 }, agents: false },
    { id: rejectedId },
    z.object({
      id: z.int().describe('Its number, which is no longer in the list.'),
      removed: z.literal(true).describe('It is removed.'),
    }),
  ),
  'tool.prompt-list': query(
    'the prompts that were compiled last, the newest first',
    { cli: 'prompt ls', example: { task: '2.1' } },
    {
      task: text(128).optional().describe('Only prompts of this task.'),
      limit: limit(200, 50),
      cursor,
    },
    z.object({
      prompts: list('The newest first, of the newest 200 of the session.', promptTrace),
      total: count('How many of them are kept, on all pages.'),
      next,
    }),
  ),
  'tool.prompt-show': query(
    'show what a compiled prompt held, and the request to repeat it',
    { cli: 'prompt show', example: { id: '4f1c' } },
    { id: text(64).describe('Id of the prompt, from prompt-list.') },
    z.object({
      prompt: promptTrace.describe('The prompt.'),
      request: z
        .record(z.string(), z.unknown().describe('Any JSON value.'))
        .describe('The request for prompt.past, with `asOf`: it returns this prompt.'),
    }),
  ),
} as const;
