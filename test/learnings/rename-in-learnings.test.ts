import { expect, test } from 'vitest';
import { encodeLearnings } from '../../src/learnings/learnings-snapshot.js';
import { withRenamed } from '../../src/learnings/rename-in-learnings.js';
import { folded } from '../support/learning-project.js';
import * as fc from '../support/properties.js';
import { histories } from './histories.js';

const AT = '2026-01-01T00:00:00.000Z';

test('a session that is renamed in learnings has its new name in every place, and nothing else changes', () => {
  fc.assert(
    fc.property(histories(40), (events) => {
      const state = folded(...events);
      const before = encodeLearnings(state, AT);

      const renamed = withRenamed(state, 's1', 's9');

      expect(encodeLearnings(renamed, AT)).toBe(before.replaceAll('"session":"s1"', '"session":"s9"'));
      expect(encodeLearnings(state, AT)).toBe(before);
      // To do it again finds nothing to do.
      expect(withRenamed(renamed, 's1', 's9')).toBe(renamed);
      for (const [id, learning] of renamed.active)
        expect(renamed.entries.get(id)?.learning ?? learning).toBe(learning);
    }),
  );
});
