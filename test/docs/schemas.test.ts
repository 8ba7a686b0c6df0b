import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../scripts/docs/pages.js';
import { jsonSchema, SCHEMA_NAMES } from '../../src/contracts/json-schemas.js';
import { TOKEN_PATTERN } from '../../src/contracts/names.js';

type Json = { readonly [key: string]: unknown };
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;

function partsOf(schema: unknown, path = ''): { path: string; part: Json }[] {
  if (!isJson(schema) || Array.isArray(schema)) return [];
  const { properties, $defs, items, additionalProperties, anyOf, oneOf } = schema;
  const inner: [string, unknown][] = [
    ...Object.entries(properties ?? {}).map(([name, of]): [string, unknown] => [`.${name}`, of]),
    ...Object.entries($defs ?? {}).map(([name, of]): [string, unknown] => [`#${name}`, of]),
    ...[anyOf, oneOf].flatMap((options) =>
      Object.entries(options ?? {}).map(([index, of]): [string, unknown] => [`|${index}`, of]),
    ),
    ['[]', items],
    ['{}', additionalProperties],
  ];
  return [{ path, part: schema }, ...inner.flatMap(([step, of]) => partsOf(of, `${path}${step}`))];
}

/** Every field of a schema. One that refers to a part may leave its description to that. */
function fieldsOf(schema: object | undefined): { path: string; name: string; described: boolean }[] {
  const all = partsOf(schema);
  const isDescribed = ({ description, $ref }: Json): boolean =>
    (typeof description === 'string' && description !== '') ||
    all.some(({ path, part }) => path === `#${String($ref).replace('#/$defs/', '')}` && isDescribed(part));
  return all.flatMap(({ path, part }) =>
    Object.entries(isJson(part.properties) ? part.properties : {}).map(([name, of]) => ({
      path: `${path}.${name}`,
      name,
      described: isJson(of) && isDescribed(of),
    })),
  );
}

describe('the JSON Schemas', () => {
  it('the folder of schemas holds those of the code and no others', () => {
    expect(readdirSync(`${ROOT}schemas`).sort()).toEqual(SCHEMA_NAMES.map((name) => `${name}.json`).sort());
  });

  it.each(SCHEMA_NAMES)('every field of %s has a description', (name) => {
    const missing = fieldsOf(jsonSchema(name)).filter(({ described }) => !described);
    expect(missing.map(({ path }) => path)).toEqual([]);
  });

  it.each(SCHEMA_NAMES)('no part of %s says nothing', (name) => {
    const empty = partsOf(jsonSchema(name)).filter(({ part }) => Object.keys(part).length === 0);
    expect(empty.map(({ path }) => path)).toEqual([]);
  });

  it('each schema has an id and a title of its own, fit to be the name of a type', () => {
    const all = SCHEMA_NAMES.map((name) => jsonSchema(name) as Json);
    expect(new Set(all.map(({ $id }) => $id)).size).toBe(all.length);
    expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
    expect(all.map(({ title }) => title).filter((title) => !/^[A-Z][A-Za-z]*$/.test(String(title)))).toEqual(
      [],
    );
  });

  it.each(SCHEMA_NAMES)('every part of %s that has a name says what it is', (name) => {
    const parts = Object.entries((jsonSchema(name) as Json).$defs ?? {});
    expect(parts.filter(([, part]) => !isJson(part) || !part.description).map(([of]) => of)).toEqual([]);
  });

  it('a part of a name is the same in every schema', () => {
    const parts = SCHEMA_NAMES.flatMap((name) => Object.entries((jsonSchema(name) as Json).$defs ?? {}));
    const first = new Map(parts.toReversed());
    const different = parts.filter(
      ([name, part]) => JSON.stringify(part) !== JSON.stringify(first.get(name)),
    );
    expect(different.map(([name]) => name)).toEqual([]);
  });

  it('each request has a reply', () => {
    const names = SCHEMA_NAMES;
    const subjects = (end: string) =>
      names.filter((name) => name.endsWith(end)).map((name) => name.slice(0, -end.length));
    const unanswered = subjects('.request').filter((subject) => !subjects('.reply').includes(subject));
    expect(unanswered).toEqual([]);
    const unasked = subjects('.reply').filter((subject) => !subjects('.request').includes(subject));
    expect(unasked).toEqual(['error']);
  });

  it('each request says which names of sessions services take', () => {
    const sessions = SCHEMA_NAMES.filter((name) => name.endsWith('.request')).flatMap((name) =>
      partsOf(jsonSchema(name)).flatMap(({ path, part: { properties } }) =>
        isJson(properties) && isJson(properties.session)
          ? [[`${name}${path}`, properties.session.pattern]]
          : [],
      ),
    );
    expect(sessions.length).toBeGreaterThan(30);
    expect(sessions.filter(([, pattern]) => pattern !== TOKEN_PATTERN.source)).toEqual([]);
  });
});
