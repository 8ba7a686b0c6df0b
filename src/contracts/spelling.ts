/** Fields of requests have two spellings, `maxFacts` and `max_facts`. A schema has one of them. */

/** The other spelling of a name; a name of one word has none, and is given back. */
export function otherSpelling(name: string): string {
  return name.includes('_')
    ? name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The path by which `value` holds what a schema calls `path`. */
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
