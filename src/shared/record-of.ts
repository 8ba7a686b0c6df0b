/** A record with a value for each of these names. */
export function recordOf<Name extends string, Value>(
  names: readonly Name[],
  of: (name: Name) => Value,
): Record<Name, Value> {
  const entries = names.map((name) => [name, of(name)]);
  return Object.fromEntries(entries);
}
