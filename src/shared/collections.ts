export function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Removes the first entry, which is the oldest, from a map or set larger than `most`, and returns its key. */
export function dropOldest<Key>(
  entries: { readonly size: number; keys(): Iterator<Key>; delete(key: Key): boolean },
  most: number,
): Key | undefined {
  const oldest = entries.keys().next();
  if (entries.size <= most || oldest.done) return undefined;
  entries.delete(oldest.value);
  return oldest.value;
}

/** Returns the index of the first item whose key is not below `key`, in a list sorted by key. */
export function lowerBound<Item>(
  sorted: readonly Item[],
  key: number,
  keyOf: (item: Item) => number,
): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keyOf(sorted[middle] as Item) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Copies an object with its keys in the order of a schema's, without undefined values, so that equal objects have equal
 * JSON.
 */
export function ordered<Value extends object>(
  value: Value,
  { shape }: { readonly shape: { readonly [Key in keyof Value]: unknown } },
): Value {
  const copy: Partial<Value> = {};
  for (const key in shape) if (value[key] !== undefined) copy[key] = value[key];
  return copy as Value;
}

/** An object whose undefined fields are missing. */
type Defined<Value> = {
  [Key in keyof Value as undefined extends Value[Key] ? never : Key]: Value[Key];
} & { [Key in keyof Value as undefined extends Value[Key] ? Key : never]?: Exclude<Value[Key], undefined> };

/** Copies an object without its undefined fields. */
export function defined<Value extends object>(value: Value): Defined<Value> {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries) as Defined<Value>;
}

/** Inserts an item into a sorted list, behind all that it is not before; the last one leaves a list that has `most` already. */
export function insertSorted<Item>(
  items: Item[],
  item: Item,
  most: number,
  isBefore: (item: Item, other: Item) => boolean,
): void {
  let at = items.length;
  while (at > 0 && isBefore(item, items[at - 1] as Item)) at -= 1;
  if (at >= most) return;
  for (let to = Math.min(items.length, most - 1); to > at; to -= 1) items[to] = items[to - 1] as Item;
  items[at] = item;
}

/** Remembers what was made of each object for as long as the object lives. */
export function onceForEach<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new WeakMap<Key, { readonly made: Made }>();
  return (key) => {
    const before = known.get(key);
    const found = before ?? { made: make(key) };
    if (before === undefined) known.set(key, found);
    return found.made;
  };
}

/** Remembers the last argument and its result. */
export function onceFor<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  let last: { readonly key: Key; readonly made: Made } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, made: make(key) };
    return last.made;
  };
}

/** Returns the largest count that fits, by binary search; undefined if not even the least one does. */
export function largestFitting(
  fits: (count: number) => boolean,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (!fits(least)) return undefined;
  let [low, high] = [least, most + 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}
