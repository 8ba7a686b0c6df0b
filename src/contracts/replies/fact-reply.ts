import { z } from 'zod';
import { FACT_TAGS, ORIGINS, ROLES, STATEMENT_KINDS } from '../kinds.js';
import { ended, recordedRepair, statementScope } from '../recorded-fact.js';
import {
  count,
  list,
  mark,
  named,
  next,
  type Output,
  object,
  oneOf,
  place,
  sequence,
  string,
  strings,
  time,
  vectors,
} from '../schema-fields.js';
import { saidFields } from './compile-reply.js';
import { promptTraceBrief } from './prompt-trace.js';

const role = z.enum(ROLES);

export const retraction = named('Retraction', 'The withdrawal of a fact by a person or an agent.', {
  by: string('Who retracted it.'),
  agent: mark('An agent did, and not a person.'),
  at: time('When'),
  reason: string('Why, in words.').exactOptional(),
  instead: string('Id of the fact that replaces it.').exactOptional(),
  erased: mark('Its text is overwritten.'),
});

export const foundFact = named('FoundFact', 'A fact with its source and the result that closed it.', {
  ...saidFields,
  id: string('Id of the fact, a hash of its text.'),
  tags: list('Tags of the fact.', z.enum(FACT_TAGS)),
  task: string('Task of its result.'),
  role: role.describe('Role of that result.'),
  dispatch: place('Sequence of that result in the DISPATCH stream.'),
  eventSequence: place("Sequence of its event in the session's stream."),
  at: time('When that result arrived'),
  confidence: z.number().exactOptional().describe('Confidence, 0 to 1; left out for 1.'),
  ref: string('Id of the statement, such as M7; absent for other facts.').exactOptional(),
  kind: oneOf('Its kind, if it is a statement.', STATEMENT_KINDS).exactOptional(),
  origin: oneOf('Who states it; left out for an agent.', ORIGINS).exactOptional(),
  by: string('Who noted or answered it, if known.').exactOptional(),
  scope: statementScope.exactOptional().describe('Where it holds; left out for everywhere.'),
  history: mark('Its result is from before the session.'),
  closed_by: place('Sequence of the result that closed it; absent while it is valid.').exactOptional(),
  closed_at: time('When that dispatch arrived, or the retraction').exactOptional(),
  retracted: retraction.exactOptional().describe('Who retracted it, and why.'),
  corrects: string('Id of the fact that it replaced.').exactOptional(),
  ended: ended.exactOptional().describe('The statement that ended it.'),
  repairs: list('Repairs of its result, if any.', recordedRepair).exactOptional(),
});

export const factRetracted = z.object({ fact: foundFact.describe('The retracted fact.'), sequence });
export const factRestored = z.object({ fact: foundFact.describe('The fact that holds again.'), sequence });
export const factErased = z.object({
  fact: foundFact.describe('What is left of the statement.'),
  events: count('Stored events that had its text.'),
  sequence,
});
export const factCorrected = z.object({
  fact: foundFact.describe('The fact that replaces it.'),
  corrected: foundFact.describe('The replaced fact.'),
  sequence,
});

export const factsFound = z.object({
  facts: list('Valid facts first, then closed ones; each the newest first.', foundFact),
  total: count('All matching facts.'),
  kinds: z
    .partialRecord(z.enum(STATEMENT_KINDS), count('How many.'))
    .describe('The statements among those that match, of any kind.'),
  past: count('How many statements match, of any kind, and no longer hold.'),
  keeps: count('How many facts a full session keeps; older ones are gone.').exactOptional(),
  next,
  sequence,
});

export const factShown = z.object({
  fact: foundFact.describe('The newest fact with this text.'),
  history: list('Up to 50 other facts about the same subject, newest first.', foundFact),
  closedBy: object('The result that closed it; absent while it is valid.', {
    dispatch: place('Its sequence in the DISPATCH stream.'),
    at: time('When it arrived'),
    event: place('Sequence of its event, if facts of it are kept.').exactOptional(),
    role: role.exactOptional().describe('Role of that result, if facts of it are kept.'),
    task: string('Task of that result, if facts of it are kept.').exactOptional(),
  }).exactOptional(),
  shownIn: list('Remembered prompts that showed it, the newest first: at most 20.', promptTraceBrief),
  sequence,
});

export type FoundFact = Output<typeof foundFact>;
export type FactsFound = Output<typeof factsFound>;
export type Retraction = Output<typeof retraction>;
export type FactShown = Output<typeof factShown>;

export const recalled = z.object({
  items: list(
    'The best first.',
    named('RecalledItem', 'Something that a session remembers.', {
      id: string('Its id: M7 of a statement, else the hash of the fact.'),
      session: string('The session that remembers it.'),
      task: string('Task of its result.'),
      result: place('Sequence of that result in the DISPATCH stream.'),
      text: string('The whole text.'),
      at: time('When it happened'),
      score: z.number().describe('Relevance, 0 to 1: comparable within a reply.'),
      why: string('The words of the query that speak for it, or its meaning.'),
    }),
  ),
  text: string('The best items as prompt lines; empty if nothing fits the query.'),
  searched: count('How many sessions were searched.'),
  sessions: count('How many sessions there are. The newest are searched.'),
  vectors,
});

export type Recalled = Output<typeof recalled>;

export const filesListed = z.object({
  files: list(
    'Files that results touched, the most used first.',
    named('TouchedFile', 'A file that results touched.', {
      path: string('Path of the file.'),
      uses: count('How many results touched it.'),
      tasks: strings('Up to ten tasks that touched it, the newest first.'),
      last: time('When a result last touched it, if known').exactOptional(),
    }),
  ),
  total: count('All matching files.'),
  sequence,
});

export type FilesListed = Output<typeof filesListed>;
