import { z } from 'zod';
import { quoted } from '../shared/text.js';
import { LEARNING_TYPES, MAX_LEARNING, PROPOSAL_STATUSES } from './learning-events.js';
import type { LearningRequest } from './request-names.js';

export { isLearningRequest, LEARNING_REQUEST_SUBJECTS, type LearningRequest } from './request-names.js';

/**
 * The requests of the service `learnings`: one subject each, JSON in and out. The same table makes its endpoints, the
 * SDK's methods and the commands `throughline learning`.
 */
const text = (max: number) =>
  z.string().trim().min(1, 'must not be empty').max(max, `must be at most ${max} characters`);

const UNKNOWN = 'unknown';
const content = text(MAX_LEARNING);
const type = z.enum(LEARNING_TYPES).describe('What kind of learning it is.');
const tags = z.array(text(64)).max(20, 'must be at most 20 tags').describe('Words to find it by.');
/** Shown in messages and on terminals: one line without control characters. */
const by = text(128)
  .transform((name) => quoted(name) || UNKNOWN)
  .default(UNKNOWN)
  .describe('Who decides it.');
/** A session or a note. */
const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of A-Z a-z 0-9 _ and -');
/** An id, or a prefix of at least three characters that fits only one. */
const id = text(64).describe('Its id, or a prefix of at least three characters that fits only one.');
const reason = text(MAX_LEARNING).transform(quoted).optional().describe('Why, in words.');
/** Maximum length of a list. */
const limit = z
  .int()
  .min(1, 'must be 1 to 1000')
  .max(1000, 'must be 1 to 1000')
  .default(200)
  .describe('Maximum length of the list.');
/** Where a page begins: `next` of the previous page. */
const cursor = id.optional().describe('Where a page begins: next of the previous page.');
const flag = z.boolean().default(false);
/** Learnings of a search that names no number. */
export const DEFAULT_MAX_LEARNINGS = 5;
/** Learnings of a prompt that names no number, by its kind. */
export const PROMPT_LEARNINGS = { dispatch: 3, iteration: 5, 'session-start': 5 } as const;
/** Least cosine of a learning that is found by meaning. */
export const DEFAULT_MIN_SIMILARITY = 0.2;

export const minSimilarity = z.number().min(0, 'must be 0 to 1').max(1, 'must be 0 to 1');
export const maxLearnings = z.int().min(0, 'must be 0 to 100').max(100, 'must be 0 to 100');

/** What its command says in its help. */
interface Help {
  readonly about: string;
  /** An example, behind the words of the command. */
  readonly example: string;
  /** Fields that are typed as arguments, in this order; the others are options. */
  readonly places?: readonly string[];
}

/** One request: what it takes, and what its help says. */
function request<const Shape extends z.ZodRawShape>(summary: string, help: Help, fields: Shape) {
  const shape = {
    project: text(64).optional().describe('The project; without one it is that of sessions that name none.'),
    ...fields,
  };
  return { summary, help, shape, arguments: z.object(shape) };
}

/** The requests by subject: a summary, and the input. */
export const LEARNING_REQUESTS = {
  'learning.propose': request(
    'propose a learning',
    {
      about: 'Proposes a learning. It reaches prompts only after a person accepts it.',
      example: '"Run the linter before you hand in" --type pattern --tags lint',
      places: ['content'],
    },
    {
      content: content.describe('One sentence of at most 200 characters.'),
      type: type.default('insight').describe('What kind of learning it is.'),
      tags: tags.default([]).describe('Words to find it by.'),
      confidence: z
        .number()
        .min(0, 'must be 0 to 1')
        .max(1, 'must be 0 to 1')
        .optional()
        .describe('How certain it is, 0 to 1.'),
      source: z
        .object({
          session: name.optional().describe('Name of the session.'),
          dispatch: z
            .int()
            .positive('must be a sequence, 1 or more')
            .optional()
            .describe('Sequence in the DISPATCH stream.'),
          note: name.optional().describe('Id of the note.'),
        })
        .default({})
        .describe('Where it was first seen.'),
    },
  ),
  'learning.list': request(
    'learnings, the newest first',
    {
      about: 'Lists the learnings of a project, the newest first.',
      example: '--project shop --json',
    },
    {
      retired: flag.describe('Those that were superseded or retracted, in place of those in force.'),
      limit,
      cursor,
    },
  ),
  'learning.search': request(
    'learnings relevant to a text',
    {
      about: 'Finds the learnings that are relevant to a text, as prompts do.',
      example: '"handle errors in the parser"',
      places: ['query'],
    },
    {
      query: text(10_000).describe('What they should be about.'),
      maxResults: maxLearnings.optional().describe('Maximum number of learnings.'),
      minSimilarity: minSimilarity
        .optional()
        .describe('Minimum similarity of learnings that are found by meaning.'),
    },
  ),
  'learning.edit': request(
    'change a learning, or a proposal before it is decided',
    {
      about: 'Changes a learning, or a pending proposal.',
      example: 'abc12 --content "Run the linter and the tests"',
      places: ['id'],
    },
    {
      id,
      content: content.optional().describe('One sentence of at most 200 characters.'),
      type: type.optional().describe('What kind of learning it is.'),
      tags: tags.optional().describe('Words to find it by.'),
      by,
    },
  ),
  'learning.supersede': request(
    'replace a learning by another one',
    {
      about: 'Replaces a learning by another one.',
      example: 'abc12 def45',
      places: ['id', 'replacement'],
    },
    { id, replacement: id.describe('The learning that takes its place.'), by },
  ),
  'learning.retract': request(
    'retract a learning',
    {
      about: 'Retracts a learning: it stays on record, but no longer reaches prompts.',
      example: 'abc12 --reason "We use biome now"',
      places: ['id'],
    },
    { id, reason, by },
  ),
  'proposal.list': request(
    'proposals',
    {
      about: 'Lists the proposals of a project, the newest first.',
      example: '--status all --json',
    },
    {
      status: z
        .enum([...PROPOSAL_STATUSES, 'all'])
        .default('pending')
        .describe('Which proposals to list.'),
      limit,
      cursor,
    },
  ),
  'proposal.show': request(
    'one proposal with its evidence',
    {
      about: 'Shows a proposal with its evidence, and the learning that says nearly the same.',
      example: 'abc12',
      places: ['id'],
    },
    { id },
  ),
  'proposal.accept': request(
    'make a proposal a learning',
    {
      about: 'Makes a proposal a learning. One that says nearly the same as a learning is not added twice.',
      example: 'abc12 --merge',
      places: ['id'],
    },
    {
      id,
      by,
      merge: flag.describe('Add it to the learning that says nearly the same.'),
      separate: flag.describe('Keep it beside a learning that says nearly the same.'),
    },
  ),
  'proposal.reject': request(
    'reject a proposal',
    {
      about: 'Rejects a proposal. It stays on record; only a person can propose the same again.',
      example: 'abc12 --reason "True of one module only"',
      places: ['id'],
    },
    { id, reason, by },
  ),
} as const satisfies Readonly<Record<LearningRequest, ReturnType<typeof request>>>;

type Schema<Subject extends LearningRequest> = (typeof LEARNING_REQUESTS)[Subject]['arguments'];
/** What a caller sends. */
export type LearningInput<Subject extends LearningRequest> = z.input<Schema<Subject>>;
/** What a command works on: defaults filled in. */
export type LearningArguments<Subject extends LearningRequest> = z.output<Schema<Subject>>;
