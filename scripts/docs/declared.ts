import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { isObject } from '../../src/shared/text.js';
import { ROOT } from './pages.js';

/** What an entry of the package exports, as its source declares it, for the reference. */
export interface Declared {
  readonly name: string;
  readonly kind: 'class' | 'function' | 'type' | 'value';
  /** The text of its docstring; empty without one. */
  readonly about: string;
  /** Its first lines, without a body: of a function what it takes, of a type what it is. */
  readonly signature: string;
  /** The public members of a class or an interface. */
  readonly members: readonly Member[];
}

export interface Member {
  readonly name: string;
  readonly about: string;
  readonly signature: string;
}

/** Everything that a file of src exports, types included, in its order. */
export function declaredBy(path: string): Declared[] {
  const file = read(path);
  return file.program.body.flatMap((node): Declared[] => {
    if (node.type !== 'ExportNamedDeclaration') return [];
    if (node.declaration !== null)
      return [described(file, node, nameIn(node.declaration), nameIn(node.declaration))];
    return node.specifiers.flatMap((each): Declared[] => {
      if (each.local.type !== 'Identifier' || each.exported.type !== 'Identifier') return [];
      const from =
        node.source === null
          ? importedFrom(file, each.local.name)
          : { source: node.source.value, name: each.local.name };
      const found =
        from === undefined
          ? described(file, undefined, each.local.name, each.exported.name)
          : inFile(join(dirname(path), from.source), from.name, each.exported.name);
      return [found];
    });
  });
}

type File = ReturnType<typeof read>;
type Node = File['program']['body'][number];

function read(path: string) {
  const source = readFileSync(`${ROOT}${path}`, 'utf8');
  const { program, comments } = parseSync(path, source);
  return { path, source, program, comments };
}

/** A name of a file, declared there or passed on from another one. */
function inFile(path: string, name: string, as: string): Declared {
  const file = read(path.replace(/\.js$/, '.ts'));
  const declaring = file.program.body.find(
    (node) => nameIn('declaration' in node && node.declaration ? node.declaration : node) === name,
  );
  if (declaring !== undefined) return described(file, declaring, name, as);
  for (const node of file.program.body) {
    if (node.type !== 'ExportNamedDeclaration' || node.source === null) continue;
    const passed = node.specifiers.find(
      ({ exported }) => exported.type === 'Identifier' && exported.name === name,
    );
    if (passed?.local.type === 'Identifier')
      return inFile(join(dirname(path), node.source.value), passed.local.name, as);
  }
  throw new Error(`${path} does not declare ${name}`);
}

function importedFrom({ program }: File, name: string) {
  for (const node of program.body) {
    if (node.type !== 'ImportDeclaration') continue;
    const found = node.specifiers.find(({ local }) => local.name === name);
    if (found?.type === 'ImportSpecifier') return { source: node.source.value, name };
  }
  return undefined;
}

function nameIn(node: object): string {
  const { id, declarations }: { id?: unknown; declarations?: unknown } = node;
  const [first]: { id?: unknown }[] = Array.isArray(declarations) ? declarations : [];
  const named = id ?? first?.id;
  return isObject(named) ? String(named.name) : '';
}

function described(file: File, node: Node | undefined, name: string, as: string): Declared {
  const outer = node ?? file.program.body.find((each) => nameIn(each) === name);
  if (outer === undefined) throw new Error(`${file.path} does not declare ${name}`);
  const inner =
    outer.type === 'ExportNamedDeclaration' && outer.declaration !== null ? outer.declaration : outer;
  const about = docOf(file, outer.start);
  const base = { name: as, about };
  const text = (start: number, end: number) => file.source.slice(start, end).trim();
  if (inner.type === 'FunctionDeclaration')
    return {
      ...base,
      kind: 'function',
      signature: text(inner.start, inner.body?.start ?? inner.end),
      members: [],
    };
  if (inner.type === 'ClassDeclaration') {
    const members = inner.body.body.flatMap((member): Member[] => {
      if (!('key' in member) || member.key.type !== 'Identifier') return [];
      const body = member.type === 'MethodDefinition' ? member.value.body : null;
      return [
        {
          name: member.key.name,
          about: docOf(file, member.start),
          signature: text(member.start, body?.start ?? member.end),
        },
      ];
    });
    return { ...base, kind: 'class', signature: text(inner.start, inner.body.start), members };
  }
  if (inner.type === 'TSInterfaceDeclaration') {
    const members = inner.body.body.flatMap((member): Member[] =>
      'key' in member && member.key.type === 'Identifier'
        ? [
            {
              name: member.key.name,
              about: docOf(file, member.start),
              signature: text(member.start, member.end),
            },
          ]
        : [],
    );
    return { ...base, kind: 'type', signature: text(inner.start, inner.end), members };
  }
  const kind = inner.type === 'TSTypeAliasDeclaration' ? 'type' : 'value';
  return { ...base, kind, signature: text(inner.start, inner.end), members: [] };
}

/** The docstring directly before a place. */
function docOf({ source, comments }: File, start: number): string {
  const before = comments.findLast(({ end }) => end <= start);
  if (before === undefined || before.type !== 'Block' || !before.value.startsWith('*')) return '';
  if (source.slice(before.end, start).trim() !== '') return '';
  return before.value
    .slice(1)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
}
