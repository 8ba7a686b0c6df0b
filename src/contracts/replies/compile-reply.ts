import { z } from 'zod';
import { SEVERITIES } from '../kinds.js';
import { LEARNING_TYPES, RELEVANCE_METHODS } from '../learning-events.js';
import { recordedRepair } from '../recorded-fact.js';
import {
  boolean,
  count,
  list,
  named,
  type Output,
  object,
  oneOf,
  place,
  string,
  strings,
  vectors,
} from '../schema-fields.js';

const sectionReport = named('SectionReport', 'The items of one prompt section, shown and in total.', {
  name: string('Name of the section.'),
  shown: count('Items shown; some may be shortened.'),
  total: count('Items available.'),
  tokens: count('Tokens of the items shown.'),
});

const budgetReport = named('BudgetReport', "The use of a prompt's budget.", {
  room: count('Token budget of the whole prompt, system text included.'),
  used: count('Tokens of the prompt.'),
  wanted: count('Tokens of the prompt if nothing had been left out.'),
  sections: list('Sections with items.', sectionReport),
  dropped: count('Items left out, in all sections.'),
  tokenizer: string('Name of the tokenizer.'),
});

/** The items of one prompt section, shown and in total. */
export type SectionReport = Output<typeof sectionReport>;
/** The use of a prompt's budget. */
export type BudgetReport = Output<typeof budgetReport>;

export const saidFields = {
  subject: string('Subject of the fact.'),
  relation: string('Relation of subject and object.'),
  object: string('Object of the fact.'),
  severity: oneOf('Severity of a finding.', SEVERITIES).exactOptional(),
  fix: string('Suggested fix of a finding.').exactOptional(),
};
const factFields = {
  ...saidFields,
  taskId: string('Task of its result.'),
  id: string('Id of the fact, a hash of its text.'),
  ref: string('Id of the statement, such as M7; absent for other facts.').exactOptional(),
  dispatch: place('Sequence of its result in the DISPATCH stream.'),
  eventSequence: place("Sequence of its event in the session's stream."),
  score: z.number().describe("Share of the query's words that it contains, 0 to 1."),
  tokens: count('Number of tokens.'),
  repairs: list('Repairs of its result, if any.', recordedRepair).exactOptional(),
};
const compiledFact = named('CompiledFact', 'A fact that a prompt shows, with its source.', factFields);

const fileFields = {
  path: string('Path of the file.'),
  score: z.number().describe('0 to 1, from all its reasons; comparable within a reply.'),
  uses: count('How many results touched it.'),
  tasks: strings('Up to three tasks that touched it, the most similar first.'),
};
const compiledFile = named('CompiledFile', 'A file that the task will likely touch.', fileFields);

/** Why a fact is left out. */
export const LEFT_OUT = ['rank', 'near-duplicate', 'one task', 'held', 'likely file', 'budget'] as const;

const consideredFact = named('ConsideredFact', 'A fact that was considered for a prompt.', {
  ...factFields,
  shown: boolean('Whether the prompt shows it.'),
  kind: string('Its section: findings, conventions, decisions, tests, requirements, work, files or facts.'),
  because: oneOf('The strongest reason, such as words of the task or a file.', [
    'words',
    'file',
    'similar',
    'meaning',
    'recent',
  ]),
  words: strings('The words of the task that it contains, as stems.'),
  left: oneOf('Why it is not shown, such as a higher rank of others.', LEFT_OUT).exactOptional(),
  duplicateOf: string('Id of the fact that says nearly the same.').exactOptional(),
});

const consideredFile = named('ConsideredFile', 'A file that was considered for a prompt.', {
  ...fileFields,
  shown: boolean('Whether the prompt shows it.'),
  reasons: z
    .record(z.string(), z.number())
    .describe('The parts of its score, such as similar results, mentions or recency.'),
  left: oneOf('Why it is not shown: others ranked higher, or no budget left.', [
    'rank',
    'budget',
  ]).exactOptional(),
});

const considered = named('Considered', 'The candidates of a prompt.', {
  facts: list('The best 30 facts.', consideredFact),
  files: list('The best 30 files.', consideredFile),
});

const promptLine = named('PromptLine', 'Lines of a prompt with one source.', {
  from: place('The first line, 1 for the first of the prompt.'),
  to: place('The last line.'),
  section: string('A section of the budget, or a part such as head.'),
  why: string('Why they are shown.').exactOptional(),
  fact: string('Id of their fact.').exactOptional(),
  file: string('Path of their likely file.').exactOptional(),
  learning: string('Id of their learning.').exactOptional(),
  task: string('The task that they come from, or that they are about.').exactOptional(),
  dispatch: place('Sequence in DISPATCH of the result that they come from.').exactOptional(),
  eventSequence: place("Sequence of its event in the session's stream.").exactOptional(),
});

const compiledLearning = named('CompiledLearning', 'A learning that a prompt shows.', {
  id: string('Id of the learning.'),
  type: oneOf('Kind of learning.', LEARNING_TYPES),
  content: string('The learning, one sentence.'),
  score: z.number().describe('Fused rank by words and meaning: 1 first in both, 0 recency.'),
});

const promptMessage = named('PromptMessage', 'One message of a prompt.', {
  role: oneOf('Author of the message.', ['system', 'user']),
  content: string('Text of the message.'),
});

const ledgerReport = named('LedgerReport', 'The progress data of the task, and if all was used.', {
  mode: oneOf('none: nothing is known; ledger: all used; ledger_plus_fallback: incomplete or outdated.', [
    'none',
    'ledger',
    'ledger_plus_fallback',
  ]),
  reason: oneOf('Why a part is missing or may be out of date.', [
    'rebuild_failed',
    'progress_ledger_incomplete',
  ]).exactOptional(),
  message: string('Error message, for people.').exactOptional(),
});

const compactedReport = named(
  'CompactedReport',
  'The size of a trace summary and of the entries it replaces.',
  {
    entries: count('Entries that the summary replaces.'),
    blocks: count('Blocks in which they were compacted.'),
    tokensBefore: count('Tokens of those entries.'),
    tokensAfter: count('Tokens of the summary.'),
  },
);

export const compacted = compactedReport.nullable();

const learningsFields = {
  learnings: list('On request: the learnings shown.', compiledLearning).exactOptional(),
  learningsShown: count('How many learnings are shown.'),
  learningsTotal: count('Active learnings in the project.'),
  proposalCount: count('Pending proposals.'),
  method: oneOf('How the learnings were found.', RELEVANCE_METHODS),
  learningsSequence: place('The project sequence that the learnings reflect.'),
};
const learningsReport = z.object(learningsFields);

const baseFields = {
  prompt: string('The whole prompt.'),
  sessionContext: string('On request: facts and files as the prompt shows them.').exactOptional(),
  facts: list('On request: the facts shown.', compiledFact).exactOptional(),
  factsShown: count('How many facts are shown.'),
  factsTotal: count('Valid facts that the session holds.'),
  vectors,
  files: list('On request: the likely files shown, best first.', compiledFile).exactOptional(),
  considered: considered
    .exactOptional()
    .describe('On request: the candidates, and why each is shown or not.'),
  lines: list('On request: the source of each line, except those of a template.', promptLine).exactOptional(),
  tokenEstimate: count('Tokens of the whole prompt, by the configured tokenizer.'),
  budget: budgetReport.describe('The use of the budget, and what was left out.'),
  compacted: compacted.describe('The size of the trace summary; null if there is none.'),
  sequence: place('The session sequence that the prompt reflects; 0 for no events.'),
  snapshotSequence: place('Sequence of the snapshot that was loaded; 0 for none.'),
  replayed: count('Events read and folded for this request.'),
};

/** All learnings fields, or none. */
const optionalLearnings = {
  ...learningsReport.partial().shape,
  learningsError: object('Why there are no learnings, if they could not be read.', {
    code: string('A stable error code.'),
    message: string('Error message, for people.'),
  }).exactOptional(),
};

const dispatchReply = named(
  'DispatchReply',
  'The prompt of one task. Without learnings, their fields are left out.',
  {
    kind: z.literal('dispatch').describe('The prompt of one task.'),
    ...baseFields,
    ...optionalLearnings,
    messages: list(
      'On request: the same prompt as messages, system and user.',
      promptMessage,
    ).exactOptional(),
    stablePrefixHash: string('Hash of the first part, which stays the same for a role.'),
    fullPromptHash: string('Hash of the whole prompt.'),
    ledger: ledgerReport.describe('The ledgers that the prompt was made from.'),
  },
);

const iterationReply = named(
  'IterationReply',
  'The prompt of one iteration. Without learnings, their fields are left out.',
  {
    kind: z.literal('iteration').describe('The prompt of one iteration.'),
    ...baseFields,
    ...optionalLearnings,
  },
);

const sessionStartReply = named('SessionStartReply', 'The prompt that an agent reads first in a session.', {
  kind: z.literal('session-start').describe('The prompt that an agent reads first in a session.'),
  needsSetup: boolean('True while the session has no project, goal, spec or plan.'),
  ...baseFields,
  ...learningsFields,
});

export const compileReply = z.discriminatedUnion('kind', [dispatchReply, iterationReply, sessionStartReply]);

/** A fact that a prompt shows, with its source. */
export type CompiledFact = Output<typeof compiledFact>;
/** A file that the task will likely touch, known from a result. */
export type CompiledFile = Output<typeof compiledFile>;
/** A candidate fact. */
export type ConsideredFact = Output<typeof consideredFact>;
/** A candidate file. */
export type ConsideredFile = Output<typeof consideredFile>;
/** The candidates of a prompt, the best 30 of each kind. */
export type Considered = Output<typeof considered>;
/** Lines of a prompt with one source. */
export type PromptLine = Output<typeof promptLine>;
/** A learning of a reply. */
export type CompiledLearning = Output<typeof compiledLearning>;
export type LedgerReport = Output<typeof ledgerReport>;
export type CompactedReport = Output<typeof compactedReport>;
export type LearningsReport = Output<typeof learningsReport>;
/** The prompt of one task. Learnings are left out only for `maxLearnings` 0 and after an error. */
export type DispatchReply = Output<typeof dispatchReply>;
/** The prompt of one iteration. Learnings are also left out for a template without them. */
export type IterationReply = Output<typeof iterationReply>;
/** The prompt that an agent reads first in a session. */
export type SessionStartReply = Output<typeof sessionStartReply>;
/** The compiler's reply, by the kind of the prompt. */
export type CompileReply = DispatchReply | IterationReply | SessionStartReply;
