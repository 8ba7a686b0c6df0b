import { z } from 'zod';
import { ROLES } from '../kinds.js';
import { count, faultFields, next, place, type Told, time } from './page-fields.js';

const rejectedShown = z
  .object({
    id: z.int().describe('Its number, for rejected-show, rejected-retry and rejected-remove.'),
    at: time('When it arrived'),
    session: z
      .string()
      .exactOptional()
      .describe('The session that it was published to; left out for an invalid name.'),
    role: z
      .enum(ROLES)
      .exactOptional()
      .describe('The role that it was published with; left out for an unknown one.'),
    subject: z.string().describe('The subject that it was published to.'),
    sequence: place('Its sequence in the DISPATCH stream; 0 if it was never stored there.'),
    ...faultFields,
    bytes: count('Bytes of its body.'),
  })
  .meta({ id: 'RejectedShown', description: 'A result that could not be used, without its body.' });

export const REJECTED_REPLIES = {
  'rejected-list': z.object({
    rejected: z
      .array(rejectedShown)
      .describe('The newest first. A page may have fewer entries than requested if they are large.'),
    total: count(
      'Number of messages; left out if counting would mean reading them. A body stored in several messages counts several times.',
    ).exactOptional(),
    next,
  }),
  'rejected-show': z.object({
    rejected: rejectedShown.describe('The rejected result.'),
    body: z.string().describe('Its body, or a part of it.'),
    encoding: z.enum(['utf8', 'base64']).describe('Encoding of the body: text if it is UTF-8, else base64.'),
    truncated: z.literal(true).exactOptional().describe('Set where this is only a part of the body.'),
    next: z
      .int()
      .exactOptional()
      .describe('The offset at which the rest of the body begins; left out at its end.'),
  }),
  'rejected-retry': z.object({
    id: z.int().describe('Its number, which is no longer in the list.'),
    dispatch: place('Sequence in the DISPATCH stream under which it was published again.'),
  }),
  'rejected-remove': z.object({
    id: z.int().describe('Its number, which is no longer in the list.'),
    removed: z.literal(true).describe('It is removed.'),
  }),
} as const;

export type RejectedShown = Told<typeof rejectedShown>;
