import { z } from 'zod';
import { FACT_TAGS } from '../fact-tags.js';
import { ROLES } from '../kinds.js';
import { recordedRepair } from '../recorded-fact.js';
import { saidFields } from './compile-reply.js';
import { count, next, place, sequence, type Told, time } from './page-fields.js';
import { promptTraceBrief } from './prompt-trace.js';

const role = z.enum(ROLES);

export const foundFact = z
  .object({
    ...saidFields,
    id: z.string().describe('Id of the fact, made from its words.'),
    tags: z.array(z.enum(FACT_TAGS)).describe('What kind of fact it is.'),
    task: z.string().describe('The task of the result that said it.'),
    role: role.describe('The role of that result.'),
    dispatch: place('Sequence of that result in the DISPATCH stream.'),
    eventSequence: place("Sequence of its event in the session's stream."),
    at: time('When that result arrived'),
    confidence: z.number().exactOptional().describe('How certain it is, 0 to 1; left out for certain.'),
    history: z.literal(true).exactOptional().describe('Its result is from before the session.'),
    closed_by: place('Sequence of the dispatch that closed it; absent while it holds.').exactOptional(),
    closed_at: time('When that dispatch arrived').exactOptional(),
    repairs: z
      .array(recordedRepair)
      .exactOptional()
      .describe('What was repaired in the result that it comes from; left out for nothing.'),
  })
  .meta({
    id: 'FoundFact',
    description: 'A fact with where it comes from and, once closed, what closed it.',
  });

export const factsFound = z.object({
  facts: z.array(foundFact).describe('The valid ones first, each the newest first.'),
  total: count('All facts that fit.'),
  next,
  sequence,
});

export const factShown = z.object({
  fact: foundFact.describe('The fact: the newest one with these words.'),
  history: z
    .array(foundFact)
    .describe('Other facts about the same subject that are kept, the newest first: at most 50.'),
  closedBy: z
    .object({
      dispatch: place('Its sequence in the DISPATCH stream.'),
      at: time('When it arrived'),
      event: place(
        "Sequence of its event in the session's stream, where facts of it are kept.",
      ).exactOptional(),
      role: role.exactOptional().describe('The role of that result, where facts of it are kept.'),
      task: z.string().exactOptional().describe('The task of that result, where facts of it are kept.'),
    })
    .exactOptional()
    .describe('The result that closed it; absent while it holds.'),
  shownIn: z
    .array(promptTraceBrief)
    .describe('Prompts that showed it, of those that are remembered, the newest first: at most 20.'),
  sequence,
});

/** A fact with its source and, once closed, what closed it. */
export type FoundFact = Told<typeof foundFact>;
export type FactsFound = Told<typeof factsFound>;
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
  links: z
    .array(
      z
        .object({
          from: place('Place of one file in files, 0 for the first.'),
          to: place('Place of the other file in files.'),
          together: count('How many results touched both.'),
        })
        .meta({ id: 'FileLink', description: 'Two files that change together.' }),
    )
    .describe('Files of this list that results touched together, the most often first: at most 200.'),
  total: count('All files that fit.'),
  sequence,
});

export type FilesListed = Told<typeof filesListed>;
