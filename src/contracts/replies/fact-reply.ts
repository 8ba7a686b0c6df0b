import { z } from 'zod';
import { FACT_TAGS, ORIGINS, ROLES } from '../kinds.js';
import { ended, recordedRepair } from '../recorded-fact.js';
import { saidFields } from './compile-reply.js';
import { count, next, place, sequence, type Told, time } from './page-fields.js';
import { promptTraceBrief } from './prompt-trace.js';

const role = z.enum(ROLES);

export const retraction = z
  .object({
    by: z.string().describe('Who retracted it.'),
    at: time('When'),
    reason: z.string().exactOptional().describe('Why, in words.'),
    instead: z.string().exactOptional().describe('Id of the fact that replaces it.'),
  })
  .meta({ id: 'Retraction', description: 'The withdrawal of a fact by a person or an agent.' });

export const foundFact = z
  .object({
    ...saidFields,
    id: z.string().describe('Id of the fact, a hash of its text.'),
    tags: z.array(z.enum(FACT_TAGS)).describe('Tags of the fact.'),
    task: z.string().describe('Task of its result.'),
    role: role.describe('Role of that result.'),
    dispatch: place('Sequence of that result in the DISPATCH stream.'),
    eventSequence: place("Sequence of its event in the session's stream."),
    at: time('When that result arrived'),
    confidence: z.number().exactOptional().describe('Confidence, 0 to 1; left out for 1.'),
    ref: z.string().exactOptional().describe('Id of the statement, such as M7; absent for other facts.'),
    origin: z.enum(ORIGINS).exactOptional().describe('Who states it; left out for an agent.'),
    history: z.literal(true).exactOptional().describe('Its result is from before the session.'),
    closed_by: place('Sequence of the result that closed it; absent while it is valid.').exactOptional(),
    closed_at: time('When that dispatch arrived, or when the fact was retracted').exactOptional(),
    retracted: retraction.exactOptional().describe('Who retracted it, and why.'),
    corrects: z.string().exactOptional().describe('Id of the fact that it replaced.'),
    ended: ended.exactOptional().describe('The statement that ended it.'),
    repairs: z.array(recordedRepair).exactOptional().describe('Repairs of its result, if any.'),
  })
  .meta({
    id: 'FoundFact',
    description: 'A fact with its source and, once closed, the result that closed it.',
  });

export const factRetracted = z.object({ fact: foundFact.describe('The retracted fact.'), sequence });
export const factRestored = z.object({ fact: foundFact.describe('The fact that holds again.'), sequence });
export const factCorrected = z.object({
  fact: foundFact.describe('The fact that replaces it.'),
  corrected: foundFact.describe('The replaced fact.'),
  sequence,
});

export const factsFound = z.object({
  facts: z.array(foundFact).describe('Valid facts first, then closed ones; each the newest first.'),
  total: count('All matching facts.'),
  keeps: count('Set if the session is full: how many facts it keeps. Older ones are gone.').exactOptional(),
  next,
  sequence,
});

export const factShown = z.object({
  fact: foundFact.describe('The newest fact with this text.'),
  history: z
    .array(foundFact)
    .describe('Other facts about the same subject that are kept, the newest first: at most 50.'),
  closedBy: z
    .object({
      dispatch: place('Its sequence in the DISPATCH stream.'),
      at: time('When it arrived'),
      event: place("Sequence of its event in the session's stream, if facts of it are kept.").exactOptional(),
      role: role.exactOptional().describe('Role of that result, if facts of it are kept.'),
      task: z.string().exactOptional().describe('Task of that result, if facts of it are kept.'),
    })
    .exactOptional()
    .describe('The result that closed it; absent while it is valid.'),
  shownIn: z
    .array(promptTraceBrief)
    .describe('Remembered prompts that showed it, the newest first: at most 20.'),
  sequence,
});

/** A fact with its source and, once closed, what closed it. */
export type FoundFact = Told<typeof foundFact>;
export type FactsFound = Told<typeof factsFound>;
/** The withdrawal of a fact. */
export type Retraction = Told<typeof retraction>;
export type FactShown = Told<typeof factShown>;

export const filesListed = z.object({
  files: z
    .array(
      z
        .object({
          path: z.string().describe('Path of the file.'),
          uses: count('How many results touched it.'),
          tasks: z.array(z.string()).describe('Up to ten tasks that touched it, the newest first.'),
          last: time('When a result last touched it, where that is known').exactOptional(),
        })
        .meta({ id: 'TouchedFile', description: 'A file that results touched.' }),
    )
    .describe('Files that results touched, the most used first.'),
  total: count('All matching files.'),
  sequence,
});

export type FilesListed = Told<typeof filesListed>;
