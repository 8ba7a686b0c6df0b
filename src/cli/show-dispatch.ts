import { z } from 'zod';
import { repairsInWords } from '../contracts/reading/repairs.js';
import { counted, oneLine } from '../shared/text.js';

/** What became of a dispatch, as text for people. */

// What agents wrote may hold escape sequences: a terminal gets one line of visible text.
const text = z.string().transform(oneLine);
const dispatch = z.int();
const repair = z.object({
  kind: z.string(),
  field: z.string(),
  detail: z.string().optional(),
  count: z.int().optional(),
});

export const dispatchResult = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('recorded'),
    dispatch,
    role: z.string(),
    task: text,
    facts: z.array(z.object({ subject: text, relation: text, object: text })),
    factsOmitted: z.int().optional(),
    repairs: z.array(repair).optional(),
    repairsOmitted: z.int().optional(),
  }),
  z.object({ status: z.literal('rejected'), dispatch, code: text, reason: text, fix: text.optional() }),
  z.object({ status: z.literal('repeated'), dispatch, role: z.string(), task: text }),
  z.object({ status: z.literal('counted'), dispatch }),
]);

export function showDispatch(result: z.output<typeof dispatchResult>): string {
  const name = `dispatch ${result.dispatch}`;
  switch (result.status) {
    case 'recorded': {
      const { role, task, facts, factsOmitted = 0, repairs, repairsOmitted = 0 } = result;
      const more =
        factsOmitted === 0 ? [] : [`and ${counted(factsOmitted, 'fact')} beyond the limit, not kept`];
      return [
        `${name} recorded: ${role}, task ${task}, ${counted(facts.length, 'fact')}`,
        ...facts.map(({ subject, relation, object }) => `- ${subject} ${relation} ${object}`),
        ...more,
        ...(repairs === undefined ? [] : [oneLine(repairsInWords({ repairs, repairsOmitted }))]),
      ].join('\n');
    }
    case 'rejected': {
      const { code, reason, fix } = result;
      return [
        `${name} rejected: ${reason} (${code})`,
        ...(fix === undefined ? [] : [`to fix it: ${fix}`]),
      ].join('\n');
    }
    case 'repeated':
      return `${name} repeated: this result of ${result.role} for task ${result.task} had counted before, so nothing changed`;
    case 'counted':
      return `${name} was taken in, and the session keeps nothing of it: it repeated an earlier result, or newer ones have taken its place`;
  }
}
