/** A number with its noun: `1 learning`, `2 learnings`; `many` for a plural that is not the noun with an s. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
