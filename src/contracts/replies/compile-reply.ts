import { z } from 'zod';
import { SEVERITIES } from '../kinds.js';
import { LEARNING_TYPES, RELEVANCE_METHODS } from '../learning-events.js';
import * as f from '../schema-fields.js';

const sectionReport = f.named('SectionReport', 'The items of one prompt section, shown and in total.', {
  name: f.string('Name of the section.'),
  shown: f.count('Items shown; some may be shortened.'),
  total: f.count('Items available.'),
  tokens: f.count('Tokens of the items shown.'),
});

const budgetReport = f.named('BudgetReport', "The use of a prompt's budget.", {
  room: f.count('Token budget of the whole prompt, system text included.'),
  used: f.count('Tokens of the prompt.'),
  wanted: f.count('Tokens of the prompt if nothing had been left out.'),
  sections: f.list('Sections with items.', sectionReport),
  dropped: f.count('Items left out, in all sections.'),
  tokenizer: f.string('Name of the tokenizer.'),
});

/** The items of one prompt section, shown and in total. */
export type SectionReport = f.Output<typeof sectionReport>;
/** The use of a prompt's budget. */
export type BudgetReport = f.Output<typeof budgetReport>;

export const contentFields = {
  subject: f.string('Subject of the fact.'),
  relation: f.string('Relation of subject and object.'),
  object: f.string('Object of the fact.'),
  severity: f.oneOf('Severity of a finding.', SEVERITIES).exactOptional(),
  fix: f.string('Suggested fix of a finding.').exactOptional(),
};
const factFields = {
  ...contentFields,
  task: f.string('Task of its result.'),
  id: f.string('Id of the fact, a hash of its text.'),
  ref: f.string('Id of the statement, such as M7; absent for other facts.').exactOptional(),
  dispatch: f.place('Sequence of its result in the DISPATCH stream.'),
  eventSequence: f.place("Sequence of its event in the session's stream."),
  score: z.number().describe("Share of the query's words that it contains, 0 to 1."),
  tokens: f.count('Number of tokens.'),
};
const compiledFact = f.named('CompiledFact', 'A fact that a prompt shows, with its source.', factFields);

const fileFields = {
  path: f.string('Path of the file.'),
  score: z.number().describe('0 to 1, from all its reasons; comparable within a reply.'),
  uses: f.count('How many results touched it.'),
  tasks: f.strings('Up to three tasks that touched it, the most similar first.'),
};
const compiledFile = f.named('CompiledFile', 'A file that the task will likely touch.', fileFields);

/** Why a fact is left out. */
export const LEFT_OUT = ['rank', 'near-duplicate', 'one task', 'reserved', 'likely file', 'budget'] as const;

const consideredFact = f.named('ConsideredFact', 'A fact that was considered for a prompt.', {
  ...factFields,
  shown: f.boolean('Whether the prompt shows it.'),
  kind: f.string('Its section: findings, conventions, decisions, tests, requirements, work, files or facts.'),
  because: f.oneOf('The strongest reason, such as words of the task or a file.', [
    'words',
    'file',
    'similar',
    'meaning',
    'recent',
  ]),
  words: f.strings('The words of the task that it contains, as stems.'),
  left: f.oneOf('Why it is not shown, such as a higher rank of others.', LEFT_OUT).exactOptional(),
  duplicateOf: f.string('Id of the fact that says nearly the same.').exactOptional(),
});

const consideredFile = f.named('ConsideredFile', 'A file that was considered for a prompt.', {
  ...fileFields,
  shown: f.boolean('Whether the prompt shows it.'),
  reasons: z
    .record(z.string(), z.number())
    .describe('The parts of its score, such as similar results, mentions or recency.'),
  left: f
    .oneOf('Why it is not shown: others ranked higher, or no budget left.', ['rank', 'budget'])
    .exactOptional(),
});

const considered = f.named('Considered', 'The candidates of a prompt.', {
  facts: f.list('The best 30 facts.', consideredFact),
  files: f.list('The best 30 files.', consideredFile),
});

const promptLine = f.named('PromptLine', 'Lines of a prompt with one source.', {
  from: f.place('The first line, 1 for the first of the prompt.'),
  to: f.place('The last line.'),
  section: f.string('A section of the budget, or a part such as head.'),
  why: f.string('Why they are shown.').exactOptional(),
  fact: f.string('Id of their fact.').exactOptional(),
  file: f.string('Path of their likely file.').exactOptional(),
  learning: f.string('Id of their learning.').exactOptional(),
  task: f.string('The task that they come from, or that they are about.').exactOptional(),
  dispatch: f.place('Sequence in DISPATCH of the result that they come from.').exactOptional(),
  eventSequence: f.place("Sequence of its event in the session's stream.").exactOptional(),
});

const compiledLearning = f.named('CompiledLearning', 'A learning that a prompt shows.', {
  id: f.string('Id of the learning.'),
  type: f.oneOf('Kind of learning.', LEARNING_TYPES),
  content: f.string('The learning, one sentence.'),
  score: z.number().describe('Fused rank by words and meaning: 1 first in both, 0 recency.'),
});

const promptMessage = f.named('PromptMessage', 'One message of a prompt.', {
  role: f.oneOf('Author of the message.', ['system', 'user']),
  content: f.string('Text of the message.'),
});

export const ledgerReport = f.named('LedgerReport', 'The progress data of the task, and if all was used.', {
  mode: f.oneOf('none: nothing is known; ledger: all used; ledger_plus_fallback: incomplete or outdated.', [
    'none',
    'ledger',
    'ledger_plus_fallback',
  ]),
  reason: f
    .oneOf('Why a part is missing or may be out of date.', ['rebuild_failed', 'progress_ledger_incomplete'])
    .exactOptional(),
  message: f.string('Error message, for people.').exactOptional(),
});

const compactedReport = f.named(
  'CompactedReport',
  'The size of a trace summary and of the entries it replaces.',
  {
    entries: f.count('Entries that the summary replaces.'),
    blocks: f.count('Blocks in which they were compacted.'),
    tokensBefore: f.count('Tokens of those entries.'),
    tokensAfter: f.count('Tokens of the summary.'),
  },
);

export const compacted = compactedReport.nullable();

const learningsFields = {
  learnings: f.list('On request: the learnings shown.', compiledLearning).exactOptional(),
  learningsShown: f.count('How many learnings are shown.'),
  learningsTotal: f.count('Active learnings in the project.'),
  proposalCount: f.count('Pending proposals.'),
  method: f.oneOf('How the learnings were found.', RELEVANCE_METHODS),
  learningsSequence: f.place('The project sequence that the learnings reflect.'),
};
const learningsReport = z.object(learningsFields);

const baseFields = {
  prompt: f.string('The whole prompt.'),
  sessionContext: f.string('On request: facts and files as the prompt shows them.').exactOptional(),
  facts: f.list('On request: the facts shown.', compiledFact).exactOptional(),
  factsShown: f.count('How many facts are shown.'),
  factsTotal: f.count('Valid facts that the session holds.'),
  vectors: f.vectors,
  files: f.list('On request: the likely files shown, best first.', compiledFile).exactOptional(),
  considered: considered
    .exactOptional()
    .describe('On request: the candidates, and why each is shown or not.'),
  lines: f
    .list('On request: the source of each line, except those of a template.', promptLine)
    .exactOptional(),
  tokenEstimate: f.count('Tokens of the whole prompt, by the tokenizer of the budget.'),
  budget: budgetReport.describe('The use of the budget, and what was left out.'),
  compacted: compacted.describe('The size of the trace summary; null if there is none.'),
  sequence: f.place('The session sequence that the prompt reflects; 0 for no events.'),
  snapshotSequence: f.place('Sequence of the snapshot that was loaded; 0 for none.'),
  replayed: f.count('Events read and folded for this request.'),
};

/** All learnings fields, or none. */
const optionalLearnings = {
  ...learningsReport.partial().shape,
  learningsError: f
    .object('Why there are no learnings, if they could not be read.', {
      code: f.string('A stable error code.'),
      message: f.string('Error message, for people.'),
    })
    .exactOptional(),
};

const dispatchReply = f.named(
  'DispatchReply',
  'The prompt of one task. Without learnings, their fields are left out.',
  {
    kind: z.literal('dispatch').describe('The prompt of one task.'),
    ...baseFields,
    ...optionalLearnings,
    messages: f
      .list('On request: the same prompt as messages, system and user.', promptMessage)
      .exactOptional(),
    stablePrefixHash: f.string('Hash of the first part, which stays the same for a role.'),
    fullPromptHash: f.string('Hash of the whole prompt.'),
    ledger: ledgerReport.describe('The ledgers that the prompt was made from.'),
  },
);

const iterationReply = f.named(
  'IterationReply',
  'The prompt of one iteration. Without learnings, their fields are left out.',
  {
    kind: z.literal('iteration').describe('The prompt of one iteration.'),
    ...baseFields,
    ...optionalLearnings,
  },
);

const sessionStartReply = f.named('SessionStartReply', 'The prompt that an agent reads first in a session.', {
  kind: z.literal('session-start').describe('The prompt that an agent reads first in a session.'),
  needsSetup: f.boolean('True while the session has no project, goal, spec or plan.'),
  ...baseFields,
  ...learningsFields,
});

export const compileReply = z.discriminatedUnion('kind', [dispatchReply, iterationReply, sessionStartReply]);

/** A fact that a prompt shows, with its source. */
export type CompiledFact = f.Output<typeof compiledFact>;
/** A file that the task will likely touch, known from a result. */
export type CompiledFile = f.Output<typeof compiledFile>;
/** A candidate fact. */
export type ConsideredFact = f.Output<typeof consideredFact>;
/** A candidate file. */
export type ConsideredFile = f.Output<typeof consideredFile>;
/** The candidates of a prompt, the best 30 of each kind. */
export type Considered = f.Output<typeof considered>;
/** Lines of a prompt with one source. */
export type PromptLine = f.Output<typeof promptLine>;
/** A learning of a reply. */
export type CompiledLearning = f.Output<typeof compiledLearning>;
export type LedgerReport = f.Output<typeof ledgerReport>;
export type CompactedReport = f.Output<typeof compactedReport>;
export type LearningsReport = f.Output<typeof learningsReport>;
/** The prompt of one task. Learnings are left out only for `maxLearnings` 0 and after an error. */
export type DispatchReply = f.Output<typeof dispatchReply>;
/** The prompt of one iteration. Learnings are also left out for a template without them. */
export type IterationReply = f.Output<typeof iterationReply>;
/** The prompt that an agent reads first in a session. */
export type SessionStartReply = f.Output<typeof sessionStartReply>;
/** The compiler's reply, by the kind of the prompt. */
export type CompileReply = DispatchReply | IterationReply | SessionStartReply;
