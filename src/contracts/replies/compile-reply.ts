import { z } from 'zod';
import { SEVERITIES } from '../kinds.js';
import { LEARNING_TYPES, RELEVANCE_METHODS } from '../learning-events.js';
import { recordedRepair } from '../recorded-fact.js';
import { count, place, type Told } from './page-fields.js';

const sectionReport = z
  .object({
    name: z.string().describe('Name of the section.'),
    shown: count('Items shown; some may be shortened.'),
    total: count('Items available.'),
    tokens: count('Tokens of the items shown.'),
  })
  .meta({ id: 'SectionReport', description: 'The items of one prompt section, shown and in total.' });

const budgetReport = z
  .object({
    room: count('Token budget of the whole prompt, system text included.'),
    used: count('Tokens of the prompt.'),
    wanted: count('Tokens of the prompt if nothing had been left out.'),
    sections: z.array(sectionReport).describe('Sections with items.'),
    dropped: count('Items left out, in all sections.'),
    tokenizer: z.string().describe('Name of the tokenizer.'),
  })
  .meta({ id: 'BudgetReport', description: "The use of a prompt's budget." });

/** The items of one prompt section, shown and in total. */
export type SectionReport = Told<typeof sectionReport>;
/** The use of a prompt's budget. */
export type BudgetReport = Told<typeof budgetReport>;

export const saidFields = {
  subject: z.string().describe('Subject of the fact.'),
  relation: z.string().describe('Relation of subject and object.'),
  object: z.string().describe('Object of the fact.'),
  severity: z.enum(SEVERITIES).exactOptional().describe('Severity of a finding.'),
  fix: z.string().exactOptional().describe('Suggested fix of a finding.'),
};
const factFields = {
  ...saidFields,
  taskId: z.string().describe('Task of its result.'),
  id: z.string().describe('Id of the fact, a hash of its text.'),
  dispatch: place('Sequence of its result in the DISPATCH stream.'),
  eventSequence: place("Sequence of its event in the session's stream."),
  score: z.number().describe("Share of the query's words that it contains, 0 to 1."),
  tokens: count('Number of tokens.'),
  repairs: z.array(recordedRepair).exactOptional().describe('Repairs of its result, if any.'),
};
const compiledFact = z
  .object(factFields)
  .meta({ id: 'CompiledFact', description: 'A fact that a prompt shows, with its source.' });

const fileFields = {
  path: z.string().describe('Path of the file.'),
  score: z.number().describe('0 to 1, from all that speaks for it: comparable within a reply.'),
  uses: count('How many results touched it.'),
  tasks: z.array(z.string()).describe('Up to three tasks that touched it, the most similar first.'),
};
const compiledFile = z
  .object(fileFields)
  .meta({ id: 'CompiledFile', description: 'A file that the task will likely touch.' });

const consideredFact = z
  .object({
    ...factFields,
    shown: z.boolean().describe('Whether the prompt shows it.'),
    kind: z
      .string()
      .describe('Its section: findings, conventions, decisions, tests, requirements, work, files or facts.'),
    because: z
      .enum(['words', 'file', 'similar', 'recent'])
      .describe(
        'The strongest reason: words of the task, a likely or open file, a similar result, or a recent decision, convention or explicit fact.',
      ),
    words: z.array(z.string()).describe('The words of the task that it contains, as stems.'),
    left: z
      .enum(['rank', 'near-duplicate', 'one task', 'held', 'likely file', 'budget'])
      .exactOptional()
      .describe(
        'Why it is not shown: others ranked higher, another says nearly the same, its task has too many places, only a likely file supports it and the places reserved for findings and conventions are taken, a likely file says it already, or the budget was used up.',
      ),
    duplicateOf: z.string().exactOptional().describe('Id of the fact that says nearly the same.'),
  })
  .meta({ id: 'ConsideredFact', description: 'A fact that was considered for a prompt.' });

const consideredFile = z
  .object({
    ...fileFields,
    shown: z.boolean().describe('Whether the prompt shows it.'),
    reasons: z
      .record(z.string(), z.number())
      .describe('The parts of its score: similar results, its path, mentions, recency, frequency and so on.'),
    left: z
      .enum(['rank', 'budget'])
      .exactOptional()
      .describe('Why it is not shown: others ranked higher, or the budget was used up.'),
  })
  .meta({ id: 'ConsideredFile', description: 'A file that was considered for a prompt.' });

const considered = z
  .object({
    facts: z.array(consideredFact).describe('The best 30 facts.'),
    files: z.array(consideredFile).describe('The best 30 files.'),
  })
  .meta({ id: 'Considered', description: 'The candidates of a prompt.' });

const promptLine = z
  .object({
    from: place('The first line, 1 for the first of the prompt.'),
    to: place('The last line.'),
    section: z
      .string()
      .describe(
        'The part of the prompt: a section of the budget, or head, prefix, guide, left_out and so on.',
      ),
    fact: z.string().exactOptional().describe('Id of their fact.'),
    file: z.string().exactOptional().describe('Path of their likely file.'),
    learning: z.string().exactOptional().describe('Id of their learning.'),
    task: z.string().exactOptional().describe('The task that they come from, or that they are about.'),
    dispatch: place('Sequence in DISPATCH of the result that they come from.').exactOptional(),
    eventSequence: place("Sequence of its event in the session's stream.").exactOptional(),
  })
  .meta({ id: 'PromptLine', description: 'Lines of a prompt with one source.' });

const compiledLearning = z
  .object({
    id: z.string().describe('Id of the learning.'),
    type: z.enum(LEARNING_TYPES).describe('Kind of learning.'),
    content: z.string().describe('The learning, one sentence.'),
    score: z
      .number()
      .describe(
        'Sum of two ranks, by words and by meaning: a half for the first place, a quarter for the second, and so on. 1 is first in both, 0 was selected by recency alone.',
      ),
  })
  .meta({ id: 'CompiledLearning', description: 'A learning that a prompt shows.' });

const promptMessage = z
  .object({
    role: z.enum(['system', 'user']).describe('Author of the message.'),
    content: z.string().describe('Text of the message.'),
  })
  .meta({ id: 'PromptMessage', description: 'One message of a prompt.' });

const ledgerReport = z
  .object({
    mode: z
      .enum(['none', 'ledger', 'ledger_plus_fallback'])
      .describe(
        'none: nothing is known of the task; ledger: all known data was used; ledger_plus_fallback: a part is missing or may be out of date.',
      ),
    reason: z
      .enum(['rebuild_failed', 'progress_ledger_incomplete'])
      .exactOptional()
      .describe('Why a part is missing or may be out of date.'),
    message: z.string().exactOptional().describe('Error message, for people.'),
  })
  .meta({
    id: 'LedgerReport',
    description: 'The progress data of the task, and whether all of it was used.',
  });

const compactedReport = z
  .object({
    entries: count('Entries that the summary replaces.'),
    blocks: count('Blocks in which they were compacted.'),
    tokensBefore: count('Tokens of those entries.'),
    tokensAfter: count('Tokens of the summary.'),
  })
  .meta({
    id: 'CompactedReport',
    description: 'The size of a trace summary, and of the entries that it replaces.',
  });

export const compacted = compactedReport.nullable();

const learningsFields = {
  learnings: z.array(compiledLearning).exactOptional().describe('On request: the learnings shown.'),
  learningsShown: count('How many learnings are shown.'),
  learningsTotal: count('Active learnings in the project.'),
  proposalCount: count('Pending proposals.'),
  method: z.enum(RELEVANCE_METHODS).describe('How the learnings were found.'),
  learningsSequence: place('The project sequence that the learnings reflect.'),
};
const learningsReport = z.object(learningsFields);

const baseFields = {
  prompt: z.string().describe('The whole prompt.'),
  sessionContext: z
    .string()
    .exactOptional()
    .describe('On request: facts and files as the prompt shows them.'),
  facts: z.array(compiledFact).exactOptional().describe('On request: the facts shown.'),
  factsShown: count('How many facts are shown.'),
  factsTotal: count('Valid facts that the session holds.'),
  files: z.array(compiledFile).exactOptional().describe('On request: the likely files shown, best first.'),
  considered: considered
    .exactOptional()
    .describe('On request: the candidates, and why each is shown or not.'),
  lines: z
    .array(promptLine)
    .exactOptional()
    .describe('On request: the source of each line of the prompt, except those of a template.'),
  tokenEstimate: count('Tokens of the whole prompt, by the configured tokenizer.'),
  budget: budgetReport.describe('The use of the budget, and what was left out.'),
  compacted: compacted.describe(
    'The size of the summary before the prompt; null without an intent, or below the threshold.',
  ),
  sequence: place('The session sequence that the prompt reflects; 0 for a session without events.'),
  snapshotSequence: place('Sequence of the snapshot that was loaded; 0 for none.'),
  replayed: count('Events read and folded for this request.'),
};

/** All learnings fields, or none. */
const optionalLearnings = {
  ...learningsReport.partial().shape,
  learningsError: z
    .object({
      code: z.string().describe('A stable error code.'),
      message: z.string().describe('Error message, for people.'),
    })
    .exactOptional()
    .describe('Why there are no learnings, if they could not be read and the request did not require any.'),
};

const dispatchReply = z
  .object({
    kind: z.literal('dispatch').describe('The prompt of one task.'),
    ...baseFields,
    ...optionalLearnings,
    messages: z
      .array(promptMessage)
      .exactOptional()
      .describe('On request: the same prompt as messages, system and user.'),
    stablePrefixHash: z.string().describe('Hash of the first part, which stays the same for a role.'),
    fullPromptHash: z.string().describe('Hash of the whole prompt.'),
    ledger: ledgerReport.describe('The ledgers that the prompt was made from.'),
  })
  .meta({
    id: 'DispatchReply',
    description:
      'The prompt of one task. The fields of learnings are left out only for maxLearnings 0 and after an error.',
  });

const iterationReply = z
  .object({
    kind: z.literal('iteration').describe('The prompt of one iteration.'),
    ...baseFields,
    ...optionalLearnings,
  })
  .meta({
    id: 'IterationReply',
    description:
      'The prompt of one iteration. The fields of learnings are also left out for a template without them.',
  });

const sessionStartReply = z
  .object({
    kind: z.literal('session-start').describe('The prompt that an agent reads first in a session.'),
    needsSetup: z
      .boolean()
      .describe('True while the session has no project, goal, spec or plan: `session open` sets them.'),
    ...baseFields,
    ...learningsFields,
  })
  .meta({ id: 'SessionStartReply', description: 'The prompt that an agent reads first in a session.' });

export const compileReply = z.discriminatedUnion('kind', [dispatchReply, iterationReply, sessionStartReply]);

/** A fact that a prompt shows, with its source. */
export type CompiledFact = Told<typeof compiledFact>;
/** A file that the task will likely touch, known from a result. */
export type CompiledFile = Told<typeof compiledFile>;
/** A candidate fact. */
export type ConsideredFact = Told<typeof consideredFact>;
/** A candidate file. */
export type ConsideredFile = Told<typeof consideredFile>;
/** The candidates of a prompt, the best 30 of each kind. */
export type Considered = Told<typeof considered>;
/** Lines of a prompt with one source. */
export type PromptLine = Told<typeof promptLine>;
/** A learning of a reply. */
export type CompiledLearning = Told<typeof compiledLearning>;
export type LedgerReport = Told<typeof ledgerReport>;
export type CompactedReport = Told<typeof compactedReport>;
export type LearningsReport = Told<typeof learningsReport>;
/** The prompt of one task. Learnings are left out only for `maxLearnings` 0 and after an error. */
export type DispatchReply = Told<typeof dispatchReply>;
/** The prompt of one iteration. Learnings are also left out for a template without them. */
export type IterationReply = Told<typeof iterationReply>;
/** The prompt that an agent reads first in a session. */
export type SessionStartReply = Told<typeof sessionStartReply>;
/** The compiler's reply, by the kind of the prompt. */
export type CompileReply = DispatchReply | IterationReply | SessionStartReply;
