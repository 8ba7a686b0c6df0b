import { Tag } from '../components/fields.js';
import { outcomeParts, spaced, toneOf } from '../words.js';

/** Role and verdict of a result, such as `reviewer_needs_changes`. */
export function Outcome({ outcome }: { readonly outcome: string }) {
  const { role, verdict } = outcomeParts(outcome);
  return (
    <Tag tone={toneOf(verdict)}>
      {role}: {spaced(verdict)}
    </Tag>
  );
}
