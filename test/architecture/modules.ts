import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';

/** One file of src, as the rules see it: paths are relative to src, `facts/store.ts`. */
export interface Module {
  readonly path: string;
  readonly source: string;
  /** What it imports or re-exports, types included: a path in src, or the name of a package. */
  readonly imports: readonly string[];
}

/** The folder, with a slash at its end. */
export const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** All files of src. */
export function modulesOfSrc(): Module[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.replaceAll('\\', '/'))
    .sort()
    .map((path) => moduleOf(path, readFileSync(SRC + path, 'utf8')));
}

/** Reads what a file imports. Throws on source that is no TypeScript, and on an import whose name is computed. */
export function moduleOf(path: string, source: string): Module {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const names: string[] = [];
  const named = (node: { readonly type: string; readonly value?: unknown } | null | undefined) => {
    if (node === null || node === undefined) return;
    if (typeof node.value !== 'string') throw new Error(`${path}: an import of a computed name`);
    names.push(node.value);
  };
  new Visitor({
    ImportDeclaration: (node) => named(node.source),
    ExportAllDeclaration: (node) => named(node.source),
    ExportNamedDeclaration: (node) => named(node.source),
    ImportExpression: (node) => named(node.source),
    TSImportType: (node) => named(node.source),
    TSExternalModuleReference: (node) => named(node.expression),
  }).visit(program);
  return { path, source, imports: [...new Set(names)].map((name) => resolved(path, name)) };
}

function resolved(from: string, name: string): string {
  if (!name.startsWith('.')) return name;
  const url = new URL(name.replace(/\.js$/, '.ts'), `file:///src/${from}`);
  return decodeURIComponent(url.pathname).replace(/^\/src\//, '');
}
