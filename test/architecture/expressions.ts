import { parseSync, Visitor } from 'oxc-parser';
import { modulesOfSrc, SRC } from './modules.js';

/** A regular expression of src. */
export interface Expression {
  /** Relative to src: `facts/store.ts`. */
  readonly path: string;
  readonly source: string;
  readonly flags: string;
}

/** What one file holds: its literals, and how many more it makes of texts. */
export interface Found {
  readonly literals: readonly Expression[];
  readonly made: number;
}

export function expressionsIn(path: string, source: string): Found {
  const literals: Expression[] = [];
  let made = 0;
  const count = ({ callee }: { readonly callee: { readonly type: string; readonly name?: unknown } }) => {
    if (callee.type === 'Identifier' && callee.name === 'RegExp') made += 1;
  };
  new Visitor({
    Literal(node) {
      if (!('regex' in node)) return;
      literals.push({ path, source: node.regex.pattern, flags: node.regex.flags });
    },
    NewExpression: count,
    CallExpression: count,
  }).visit(parseSync(path, source).program);
  return { literals, made };
}

/**
 * All regular expressions of src. Those that are made of texts are recorded while `load` loads their files, one after
 * the other, and has them made.
 *
 * @throws Error for a file of which some were not made
 */
export async function expressionsOfSrc(load: (path: string) => Promise<void>): Promise<Expression[]> {
  const files = modulesOfSrc().map(({ path, source }) => ({ path, ...expressionsIn(path, source) }));
  const making = files.filter(({ made }) => made > 0);
  const recorded = await recordedWhile(async () => {
    for (const { path } of making) await load(path);
  });
  for (const { path, made } of making) {
    const count = recorded.filter((each) => each.path === path).length;
    if (count < made) throw new Error(`${path}: ${count} of ${made} were made`);
  }
  return [...files.flatMap(({ literals }) => literals), ...recorded];
}

async function recordedWhile(work: () => Promise<void>): Promise<Expression[]> {
  const recorded = new Map<string, Expression>();
  const { RegExp: real } = globalThis;
  globalThis.RegExp = new Proxy(real, {
    construct(target, args) {
      const made = new target(...(args as [string, string]));
      // The frame below this one is what calls.
      const caller = new Error('who calls').stack?.split('\n')[2];
      const path = caller?.split(SRC)[1]?.split(/[:?]/)[0];
      if (path !== undefined)
        recorded.set(`${path} ${made}`, { path, source: made.source, flags: made.flags });
      return made;
    },
  });
  try {
    await work();
  } finally {
    globalThis.RegExp = real;
  }
  return [...recorded.values()];
}
