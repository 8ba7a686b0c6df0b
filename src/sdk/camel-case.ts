export type CamelCase<Name extends string> = Name extends `${infer Head}${'-' | '_'}${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

export function camelCase(name: string): string {
  return name.replace(/(?<=[^-_])[-_](.)/g, (_, letter: string) => letter.toUpperCase());
}

/** A reply with the names of its fields in camelCase. Keys of maps, which are data, stay as they are. */
export type CamelCased<Reply> = Reply extends string | number | boolean | null | undefined
  ? Reply
  : Reply extends readonly (infer Item)[]
    ? readonly CamelCased<Item>[]
    : string extends keyof Reply
      ? { readonly [Key in keyof Reply]: CamelCased<Reply[Key]> }
      : { readonly [Field in keyof Reply as CamelCase<Field & string>]: CamelCased<Reply[Field]> };

/** Fields of replies that are maps: their keys are data. */
export const MAPS: ReadonlySet<string> = new Set([
  'dispatches',
  'entries',
  'errors',
  'fallbacks',
  'ledgerModes',
  'left_out',
  'numbers',
  'reasons',
  'rejections',
  'requirement_texts',
  'stallThresholds',
]);
/** Fields of replies that hold what the log or a caller stored. */
export const STORED: ReadonlySet<string> = new Set(['event', 'request']);

export function camelCased<Reply>(reply: Reply): CamelCased<Reply> {
  return converted(reply, false) as CamelCased<Reply>;
}

function converted(value: unknown, isMap: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => converted(item, false));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [
      isMap ? name : camelCase(name),
      !isMap && STORED.has(name) ? of : converted(of, !isMap && MAPS.has(name)),
    ]),
  );
}
