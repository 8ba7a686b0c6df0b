import type { Unstamped } from '../../../src/contracts/event.js';
import {
  DEMAND_KINDS,
  LEARNING_TYPES,
  type LearningEvent,
  PROPOSAL_METHODS,
} from '../../../src/contracts/learning-events.js';
import { learningsCheckpoint } from '../../../src/memory/learnings/learnings-snapshot.js';
import { emptyLearnings } from '../../../src/memory/learnings/learnings-state.js';
import { idOf } from '../../support/learning-project.js';
import * as fc from '../../support/properties.js';

/** Any events about few texts, so that they meet; most of them fit what came before, some do not. */
const texts = fc.constantFrom('Name it', 'Close it', 'Never close it', 'Zeile\u2028"x" 😀');
const ids = texts.map(idOf);
const by = fc.constantFrom('ann', 'bob');
const tags = fc.subarray(['api', 'ci', 'é']);
const dispatch = fc.integer({ min: 1, max: 90 });
const evidence = fc.record({ session: fc.constantFrom('s1', 's2'), dispatch, task: dispatch.map(String) });
const given = <T>(fields: { readonly [Key in keyof T]: fc.Arbitrary<T[Key]> }, ...optional: (keyof T)[]) => {
  const needed = Object.keys(fields).filter((key) => !optional.some((name) => name === key));
  return fc.record<Record<string, unknown>>(fields, { requiredKeys: needed });
};

const EVENTS: { readonly [Type in LearningEvent['type']]: { weight: number; data: fc.Arbitrary<object> } } = {
  checkpoint: {
    weight: 1,
    data: fc.constant({
      state: learningsCheckpoint(emptyLearnings('demo')).state,
    }),
  },
  proposed: {
    weight: 6,
    data: texts.chain((content) =>
      given(
        {
          proposal: fc.constant(idOf(content)),
          content: fc.constant(content),
          tags,
          type: fc.constantFrom(...LEARNING_TYPES),
          method: fc.oneof(fc.constant('manual'), fc.constantFrom(...PROPOSAL_METHODS)),
          confidence: fc.constantFrom(0, 0.1, 1 / 3, 1),
          source: given(
            { session: fc.constant('s1'), note: fc.constant('NOT-1'), dispatch },
            'session',
            'note',
            'dispatch',
          ),
          evidence: fc.array(evidence, { maxLength: 3 }),
        },
        'confidence',
      ),
    ),
  },
  accepted: {
    weight: 6,
    data: fc.oneof(
      { weight: 4, arbitrary: given({ proposal: ids, by }) },
      { weight: 1, arbitrary: given({ proposal: ids, by, merged_into: ids }) },
    ),
  },
  rejected: { weight: 1, data: given({ proposal: ids, by, reason: texts }, 'reason') },
  retracted: { weight: 3, data: given({ learning: ids, by, reason: texts }, 'reason') },
  observed: {
    weight: 4,
    data: fc
      .record({
        demands: fc.array(fc.record({ id: ids, kind: fc.constantFrom(...DEMAND_KINDS), text: texts }), {
          maxLength: 3,
        }),
        of: evidence,
      })
      .map(({ demands, of }) => ({ ...of, demands })),
  },
};

const events = fc.oneof(
  ...Object.entries(EVENTS).map(([type, { weight, data }]) => ({
    weight,
    arbitrary: data.map((made) => ({ type, data: made })),
  })),
);

/** Generated histories of a project. */
export const histories = (maxLength: number): fc.Arbitrary<Unstamped<LearningEvent>[]> =>
  fc.array(events, { minLength: 1, maxLength, size: 'max' }).map((made) => JSON.parse(JSON.stringify(made)));
