import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';

/** One file of src, as the rules see it: paths are relative to src, `facts/store.ts`. */
export interface Module {
  readonly path: string;
  readonly source: string;
  /** What it imports or re-exports, types included: a path in src, or the name of a package. */
  readonly imports: readonly string[];
  /** What is loaded together with it: no types, and nothing that it loads later. */
  readonly loads: readonly string[];
}

export const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

export function modulesOfSrc(): Module[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter(isSource)
    .map((name) => name.replaceAll('\\', '/'))
    .sort()
    .map((path) => moduleOf(path, readFileSync(SRC + path, 'utf8')));
}

/** Whether a path, or what an import names, is a file of code in src. */
export function isSource(path: string): boolean {
  return /\.tsx?$/.test(path);
}

/** Reads what a file imports. Throws on source that is not TypeScript, and on an import whose name is computed. */
export function moduleOf(path: string, source: string): Module {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const names: string[] = [];
  const loaded: string[] = [];
  const loadedBy = (source: { readonly value: string } | null, kind: string) => {
    if (source !== null && kind === 'value') loaded.push(source.value);
  };
  const named = (node: { readonly type: string; readonly value?: unknown } | null | undefined) => {
    if (node === null || node === undefined) return;
    if (typeof node.value !== 'string') throw new Error(`${path}: an import of a computed name`);
    names.push(node.value);
  };
  new Visitor({
    ImportDeclaration(node) {
      named(node.source);
      loadedBy(node.source, node.importKind ?? 'value');
    },
    ExportAllDeclaration(node) {
      named(node.source);
      loadedBy(node.source, node.exportKind ?? 'value');
    },
    ExportNamedDeclaration(node) {
      named(node.source);
      loadedBy(node.source, node.exportKind ?? 'value');
    },
    ImportExpression: (node) => named(node.source),
    TSImportType: (node) => named(node.source),
    TSExternalModuleReference: (node) => named(node.expression),
  }).visit(program);
  const paths = (all: readonly string[]) => [...new Set(all)].map((name) => resolved(path, name));
  return { path, source, imports: paths(names), loads: paths(loaded) };
}

/** Everything that is loaded with these files, themselves included: paths in src, and names of packages. */
export function loadedWith(modules: readonly Module[], ...paths: readonly string[]): string[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const reached = new Set(paths);
  for (const path of reached) {
    for (const target of byPath.get(path)?.loads ?? []) reached.add(target);
  }
  return [...reached];
}

function resolved(from: string, name: string): string {
  if (!name.startsWith('.')) return name;
  const path = decodeURIComponent(new URL(name, `file:///src/${from}`).pathname).replace(/^\/src\//, '');
  const inJsx = path.replace(/\.js$/, '.tsx');
  return existsSync(SRC + inJsx) ? inJsx : path.replace(/\.js$/, '.ts');
}
