import { ThroughlineError } from '../../contracts/errors.js';

/**
 * A field that an action needs.
 *
 * @throws ThroughlineError `schema_invalid` that says what to give
 */
export function needed<Input extends { readonly action: string }, Field extends keyof Input & string>(
  input: Input,
  field: Field,
  what: string,
): NonNullable<Input[Field]> {
  const value = input[field];
  if (value !== undefined && value !== null) return value;
  throw new ThroughlineError(
    'schema_invalid',
    `${field} is missing: action ${input.action} needs it (${what})`,
  );
}
