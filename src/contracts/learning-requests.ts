import { z } from 'zod';
import { quoted } from '../shared/text.js';
import { LEARNING_TYPES, MAX_LEARNING, PROPOSAL_STATUSES } from './learning-events.js';
import type { LearningRequest } from './request-names.js';
import { oneOf } from './schema-fields.js';
import { between, text } from './tool-shape.js';

export { isLearningRequest, LEARNING_REQUEST_SUBJECTS, type LearningRequest } from './request-names.js';

/**
 * The requests of the service `learnings`, JSON in and out. The endpoints, the SDK's methods and the commands are made
 * from this table.
 */
const UNKNOWN = 'unknown';
const content = text(MAX_LEARNING);
const type = oneOf('Kind of learning.', LEARNING_TYPES);
const tags = z.array(text(64)).max(20, 'must be at most 20 tags').describe('Search words.');
/** One line without control characters, since messages and terminals show it. */
const by = text(128)
  .transform((name) => quoted(name) || UNKNOWN)
  .default(UNKNOWN)
  .describe('Who decides it.');
const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of A-Z a-z 0-9 _ and -');
const id = text(64).describe('Its id, or a unique prefix of at least three characters.');
const reason = text(MAX_LEARNING).transform(quoted).optional().describe('Why, in words.');
const limit = between(1, 1000).default(200).describe('Maximum length of the list.');
const cursor = id.optional().describe('Cursor of the page: next of the previous page.');
const flag = z.boolean().default(false);
/** Default of a search. */
export const DEFAULT_MAX_LEARNINGS = 5;
/** Defaults of prompts. */
export const PROMPT_LEARNINGS = { dispatch: 3, iteration: 5, 'session-start': 5 } as const;
/** Minimum cosine of a learning found by meaning. */
export const DEFAULT_MIN_SIMILARITY = 0.2;

export const minSimilarity = z.number().min(0, 'must be 0 to 1').max(1, 'must be 0 to 1');
export const maxLearnings = between(0, 100);

interface Help {
  readonly about: string;
  /** Arguments after the command. */
  readonly example: string;
  /** Fields that are positional arguments, in this order; the others are options. */
  readonly places?: readonly string[];
}

function request<const Shape extends z.ZodRawShape>(help: Help, fields: Shape) {
  const shape = {
    project: text(64).optional().describe('The project. Default: the project of sessions that name none.'),
    ...fields,
  };
  return { help, shape, arguments: z.object(shape) };
}

export const LEARNING_REQUESTS = {
  'learning.propose': request(
    {
      about: 'Proposes a learning. It reaches prompts only after a person accepts it.',
      example: '"Run the linter before you hand in" --type pattern --tags lint',
      places: ['content'],
    },
    {
      content: content.describe('One sentence of at most 200 characters.'),
      type: type.default('insight').describe('Kind of learning.'),
      tags: tags.default([]).describe('Search words.'),
      confidence: z
        .number()
        .min(0, 'must be 0 to 1')
        .max(1, 'must be 0 to 1')
        .optional()
        .describe('Confidence, 0 to 1. Default: 0.5.'),
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
        .describe('Its source.'),
    },
  ),
  'learning.list': request(
    {
      about: 'Lists the learnings of a project, the newest first.',
      example: '--project shop --json',
    },
    {
      retired: flag.describe('Show superseded and retracted learnings instead.'),
      limit,
      cursor,
    },
  ),
  'learning.search': request(
    {
      about: 'Finds the learnings that are relevant to a text, as prompts do.',
      example: '"handle errors in the parser"',
      places: ['query'],
    },
    {
      query: text(10_000).describe('Topic of the learnings.'),
      maxResults: maxLearnings.optional().describe('Maximum number of learnings.'),
      minSimilarity: minSimilarity
        .optional()
        .describe('Minimum similarity of learnings that are found by meaning.'),
    },
  ),
  'learning.edit': request(
    {
      about: 'Changes a learning, or a pending proposal.',
      example: 'abc12 --content "Run the linter and the tests"',
      places: ['id'],
    },
    {
      id,
      content: content.optional().describe('One sentence of at most 200 characters.'),
      type: type.optional().describe('Kind of learning.'),
      tags: tags.optional().describe('Search words.'),
      by,
    },
  ),
  'learning.supersede': request(
    {
      about: 'Replaces a learning by another one.',
      example: 'abc12 def45',
      places: ['id', 'replacement'],
    },
    { id, replacement: id.describe('The learning that replaces it.'), by },
  ),
  'learning.retract': request(
    {
      about: 'Retracts a learning: it stays on record, but no longer reaches prompts.',
      example: 'abc12 --reason "We use biome now"',
      places: ['id'],
    },
    { id, reason, by },
  ),
  'proposal.list': request(
    {
      about: 'Lists the proposals of a project, the newest first.',
      example: '--status all --json',
    },
    {
      status: z
        .enum([...PROPOSAL_STATUSES, 'all'])
        .default('pending')
        .describe('Which proposals to list.'),
      projects: flag.describe('Also count the proposals and learnings of all projects.'),
      limit,
      cursor,
    },
  ),
  'proposal.show': request(
    {
      about: 'Shows a proposal with its evidence, and the learning that says nearly the same.',
      example: 'abc12',
      places: ['id'],
    },
    { id },
  ),
  'proposal.accept': request(
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
    {
      about: 'Rejects a proposal. It stays on record; only a person can propose the same again.',
      example: 'abc12 --reason "True of one module only"',
      places: ['id'],
    },
    { id, reason, by },
  ),
} as const satisfies Readonly<Record<LearningRequest, ReturnType<typeof request>>>;

type Schema<Subject extends LearningRequest> = (typeof LEARNING_REQUESTS)[Subject]['arguments'];
/** The input of a request. */
export type LearningInput<Subject extends LearningRequest> = z.input<Schema<Subject>>;
/** The input with its defaults. */
export type LearningArguments<Subject extends LearningRequest> = z.output<Schema<Subject>>;
