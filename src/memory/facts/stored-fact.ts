import { z } from 'zod';
import { retraction } from '../../contracts/fact-requests.js';
import { FACT_TAGS, ORIGINS, ROLES, SEVERITIES } from '../../contracts/kinds.js';
import { ended, statementEnds, statementScope } from '../../contracts/recorded-fact.js';
import { answerView, note } from '../../contracts/replies/session-reply.js';

export const restored = z.object({
  by: z.string(),
  /** ISO 8601 in UTC. */
  at: z.string(),
  /** The newest dispatch that the person had seen. */
  after: z.number(),
});

/** A fact as a snapshot stores it: the fields of `SessionFact` in this order, without the id. */
export const storedSessionFact = z.object({
  subject: z.string(),
  relation: z.string(),
  object: z.string(),
  tags: z.array(z.enum(FACT_TAGS)),
  severity: z.enum(SEVERITIES).optional(),
  fix: z.string().optional(),
  /** Arrival of the dispatch, ISO 8601 in UTC. */
  validFrom: z.string(),
  sourceTaskId: z.string(),
  sourceRole: z.enum(ROLES),
  /** `DISPATCH` sequence, which orders facts. */
  sourceSequence: z.number(),
  /** Sequence of its session event; 0 before it is appended. */
  eventSequence: z.number(),
  /** 0 to 1; 1 for rules that read a field. */
  confidence: z.number(),
  origin: z.enum(ORIGINS).exactOptional(),
  by: z.string().exactOptional(),
  /** Id of the statement, such as `M7`. */
  ref: z.string().exactOptional(),
  /** Limits it to a task, paths or a branch; without it, it holds everywhere. */
  scope: statementScope.exactOptional(),
  /** Arrival of the dispatch that closed it, ISO 8601 in UTC; absent while valid. */
  validTo: z.string().exactOptional(),
  /** Sequence of the dispatch that closed it, together with `validTo`. */
  closedBy: z.number().exactOptional(),
  history: z.literal(true).exactOptional(),
  /** Who withdrew it, and why: it stays closed, and closes every later fact with its text. */
  retracted: retraction.exactOptional(),
  /** Id of the retracted fact that it replaces. */
  corrects: z.string().exactOptional(),
  /** The statement that closed it, together with `validTo`. */
  ended: ended.exactOptional(),
  note: note.exactOptional(),
  ends: statementEnds.exactOptional(),
  answer: answerView.exactOptional(),
  /** Who made it hold again: what dispatches up to this one say against it does not count. */
  restored: restored.exactOptional(),
});
