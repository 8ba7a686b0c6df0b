/** Converts between `maxFacts` and `max_facts`; a single word stays. */
export function otherSpelling(name: string): string {
  return name.includes('_')
    ? name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the path that `value` uses for a path of the schema. */
export function pathIn(value: unknown, path: readonly PropertyKey[]): string[] {
  let at = value;
  return path.map((key) => {
    const inside = typeof at === 'object' && at !== null ? at : {};
    const name = String(key);
    const given = Object.hasOwn(inside, name) || !Object.hasOwn(inside, otherSpelling(name));
    const here = given ? name : otherSpelling(name);
    at = Object.hasOwn(inside, here) ? Reflect.get(inside, here) : undefined;
    return here;
  });
}
