import { z } from 'zod';
import { FACT_TAGS, ORIGINS, ROLES, STATEMENT_KINDS } from './kinds.js';
import { promptTraceBrief } from './prompt-requests.js';
import { ended, statementScope } from './recorded-fact.js';
import { contentFields } from './replies/compile-reply.js';
import {
  between,
  command,
  cursor,
  decides,
  limit,
  oneOrMore,
  query,
  queryOfAny,
  speaker,
  text,
} from './request-row.js';
import * as f from './schema-fields.js';

/** Requests about the facts of a session, and the files that its results touched. */

const content = text(10_000);
const factKey = text(64).describe('Its id, such as M7, or a unique prefix of its hash.');
/** Any of the words matches. */
const anyOf = <Word extends z.ZodType<string>>(word: Word) => oneOrMore(word, 20);

const role = z.enum(ROLES);

export const retraction = f.named('Retraction', 'The withdrawal of a fact by a person or an agent.', {
  by: f.string('Who retracted it.'),
  agent: f.mark('An agent did, and not a person.'),
  at: f.time('When'),
  reason: f.string('Why, in words.').exactOptional(),
  instead: f.string('Id of the fact that replaces it.').exactOptional(),
  erased: f.mark('Its text is overwritten.'),
});

const foundFact = f.named('FoundFact', 'A fact with its source and the result that closed it.', {
  ...contentFields,
  id: f.string('Id of the fact, a hash of its text.'),
  tags: f.list('Tags of the fact.', z.enum(FACT_TAGS)),
  task: f.string('Task of its result.'),
  role: role.describe('Role of that result.'),
  dispatch: f.place('Sequence of that result in the DISPATCH stream.'),
  eventSequence: f.place("Sequence of its event in the session's stream."),
  at: f.time('When that result arrived'),
  confidence: z.number().exactOptional().describe('Confidence, 0 to 1; left out for 1.'),
  ref: f.string('Id of the statement, such as M7; absent for other facts.').exactOptional(),
  kind: f.oneOf('Its kind, if it is a statement.', STATEMENT_KINDS).exactOptional(),
  origin: f.oneOf('Who states it; left out for an agent.', ORIGINS).exactOptional(),
  by: f.string('Who stated, noted or answered it, if known.').exactOptional(),
  scope: statementScope.exactOptional().describe('Where it holds; left out for everywhere.'),
  history: f.mark('Its result is from before the session.'),
  closed_by: f.place('Sequence of the result that closed it; absent while it is valid.').exactOptional(),
  closed_at: f.time('When that dispatch arrived, or the retraction').exactOptional(),
  retracted: retraction.exactOptional().describe('Who retracted it, and why.'),
  corrects: f.string('Id of the fact that it replaced.').exactOptional(),
  ended: ended.exactOptional().describe('The statement that ended it.'),
});

export const FACT_REQUESTS = {
  'tool.fact-find': query(
    'find facts, where they come from and what closed them',
    { cli: 'facts', example: { text: 'parser test', is: 'all' } },
    {
      text: text(1000).optional().describe('Its id, a unique prefix, or its words or person.'),
      task: text(128).optional().describe('Only facts from results of this task.'),
      subject: text(1024).optional().describe('Only facts about this, such as a file.'),
      relation: anyOf(text(128)).optional().describe('Only facts with this relation, or one of these.'),
      kind: anyOf(z.enum(STATEMENT_KINDS))
        .optional()
        .describe('Only statements of this kind, or one of these.'),
      tag: anyOf(z.enum(FACT_TAGS)).optional().describe('Only facts with this tag, or one of these.'),
      by: text(128).optional().describe('Only statements of this person.'),
      is: f
        .oneOf('Only valid facts, only those that were closed, or all. Default: open.', [
          'open',
          'closed',
          'all',
        ])
        .optional(),
      limit: limit(200, 20),
      cursor,
    },
    z.object({
      facts: f.list('Valid facts first, then closed ones; each the newest first.', foundFact),
      total: f.count('All matching facts.'),
      kinds: z
        .partialRecord(z.enum(STATEMENT_KINDS), f.count('How many.'))
        .describe('The statements among those that match, of any kind.'),
      past: f.count('How many statements match, of any kind, and no longer hold.'),
      keeps: f.count('How many facts a full session keeps; older ones are gone.').exactOptional(),
      learnings: f
        .named('LearningsKept', 'Accepted learnings of the project, with all that holds.', {
          project: f.string('The project.'),
          total: f.count('How many there are.'),
          newest: f.list(
            'At most 20.',
            z.object({ id: f.string('Its id.'), content: f.string('The text.') }),
          ),
        })
        .exactOptional(),
      next: f.next,
      sequence: f.sequence,
    }),
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
    z.object({
      items: f.list(
        'The best first.',
        f.named('RecalledItem', 'Something that a session remembers.', {
          id: f.string('Its id: M7 of a statement, else the hash of the fact.'),
          session: f.string('The session that remembers it.'),
          task: f.string('Task of its result.'),
          result: f.place('Sequence of that result in the DISPATCH stream.'),
          text: f.string('The whole text.'),
          at: f.time('When it happened'),
          score: z.number().describe('Relevance, 0 to 1: comparable within a reply.'),
          why: f.string('The words of the query that speak for it, or its meaning.'),
        }),
      ),
      text: f.string('The best items as prompt lines; empty if nothing fits the query.'),
      searched: f.count('How many sessions were searched.'),
      sessions: f.count('How many sessions there are. The newest are searched.'),
      vectors: f.vectors,
    }),
  ),
  'tool.fact-show': query(
    'show a fact, its history and the prompts that showed it',
    { cli: 'facts', example: { id: '3f2a' } },
    { id: factKey },
    z.object({
      fact: foundFact.describe('The newest fact with this text.'),
      history: f.list('Up to 50 other facts about the same subject, newest first.', foundFact),
      closed_by: f
        .object('The result that closed it; absent while it is valid.', {
          dispatch: f.place('Its sequence in the DISPATCH stream.'),
          at: f.time('When it arrived'),
          event: f.place('Sequence of its event, if facts of it are kept.').exactOptional(),
          role: role.exactOptional().describe('Role of that result, if facts of it are kept.'),
          task: f.string('Task of that result, if facts of it are kept.').exactOptional(),
        })
        .exactOptional(),
      shownIn: f.list('Remembered prompts that showed it, the newest first: at most 20.', promptTraceBrief),
      sequence: f.sequence,
    }),
  ),
  'tool.fact-retract': command(
    'withdraw a wrong fact: no later prompt shows it',
    { cli: 'facts retract <id>', example: { id: 'M7', reason: 'Never agreed' } },
    { id: factKey, reason: content.optional().describe('Why, in words.'), ...speaker('retracts it') },
    z.object({ fact: foundFact.describe('The retracted fact.'), sequence: f.sequence }),
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
    z.object({
      fact: foundFact.describe('The fact that replaces it.'),
      corrected: foundFact.describe('The replaced fact.'),
      sequence: f.sequence,
    }),
  ),
  'tool.fact-restore': command(
    'make a fact hold again, whatever ended it',
    { cli: 'restore <id>', example: { id: 'M7', reason: 'It was about the web app' } },
    { id: factKey, reason: content.optional().describe('Why, in words.'), ...speaker('restores it') },
    z.object({ fact: foundFact.describe('The fact that holds again.'), sequence: f.sequence }),
  ),
  'tool.fact-erase': command(
    'overwrite what a statement says, in the log too; cannot be undone',
    { cli: 'facts erase <id>', example: { id: 'M7', by: 'ann' }, agents: false },
    { id: factKey, by: text(128).default('a person').describe('Who erases it.'), person: decides },
    z.object({
      fact: foundFact.describe('What is left of the statement.'),
      events: f.count('Stored events that had its text.'),
      sequence: f.sequence,
    }),
  ),
} as const;

export type FoundFact = f.Output<typeof foundFact>;
export type FactsFound = f.Output<(typeof FACT_REQUESTS)['tool.fact-find']['reply']>;
export type Retraction = f.Output<typeof retraction>;
export type FactShown = f.Output<(typeof FACT_REQUESTS)['tool.fact-show']['reply']>;
export type Recalled = f.Output<(typeof FACT_REQUESTS)['tool.recall']['reply']>;
