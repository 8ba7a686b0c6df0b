import type { RecordedEntry } from '../../contracts/trace-entry.js';

/** Effect of a tool, by name and command. All that is not known to change or to read counts as run: tests, scripts. */
type ToolEffect = 'change' | 'read' | 'run';

/** Verb for a tool that changes files, by a word of its name. */
const CHANGES = new Map<string, string>(
  Object.entries({
    edited: ['edit', 'multiedit', 'notebookedit', 'insert', 'replace', 'update', 'modify', 'append'],
    wrote: ['write', 'save', 'put', 'overwrite'],
    created: ['create', 'touch', 'mkdir', 'add'],
    removed: ['delete', 'remove', 'rm', 'unlink', 'rmdir'],
    moved: ['move', 'mv', 'rename'],
    copied: ['copy', 'cp'],
    patched: ['patch', 'apply'],
  }).flatMap(([did, words]) => words.map((word): [string, string] => [word, did])),
);
const READS = new Set(
  (
    'read open view cat find search grep rg glob ls list head tail less more goto scroll show get fetch look load stat ' +
    'file files diff tree wc pwd which cd true echo printf whoami date env query lookup'
  ).split(' '),
);
const SHELLS = new Set(['bash', 'sh', 'zsh', 'shell', 'terminal', 'powershell', 'cmd']);

const CHANGING_PROGRAMS = new Set(
  'rm rmdir unlink mv cp mkdir touch tee patch chmod chown ln unzip'.split(' '),
);
const CHANGING_WORDS =
  /^(git (add|commit|apply|mv|rm|push|pull|merge|rebase|checkout|switch|restore|reset|stash|clone|init|cherry-pick|revert)|(npm|pnpm|yarn|bun|pip3?|uv|poetry|cargo|gem|apt|apt-get|brew|composer) (-\S+ )*(install|i|ci|add|remove|uninstall|update|upgrade|sync)|(sed|perl) (\S+ )*-i)\b/;
const READING_WORDS = /^(git (status|log|diff|show|branch|blame|grep|ls-files|rev-parse|remote)|sed -n)\b/;
const REDIRECTION = /(?<![\d&>=<-])>>?\s*(?![&>\s]|\/dev\/null)/;
/** Words before the program in a part of a command. */
const PREFIX = /^((sudo|time|env|\w+=\S*)\s+)+/;

export function effectOf({ action, tool, command, target, files }: RecordedEntry): ToolEffect {
  if (action === 'CONTEXT_LOAD') return 'read';
  // A dispatch changed what it says it did.
  if (target !== undefined) return files === undefined ? 'run' : 'change';
  if (command !== undefined && isOfShell(tool, command)) {
    const effects = commandParts(command).map(effectOfPart);
    if (effects.includes('run')) return 'run';
    return effects.includes('change') ? 'change' : 'read';
  }
  const verb = verbOf(tool);
  if (verb === undefined) return 'run';
  return CHANGES.has(verb) ? 'change' : 'read';
}

export function changeOf(tool: string | undefined): string | undefined {
  return CHANGES.get(verbOf(tool) ?? '');
}

/**
 * The files that an entry was about. Some agents name the file that was open, whatever the command was about: where a command
 * names a path, it is about the files that it names. What a tool for editing was given names other things.
 */
export function ownFiles({ tool, command, files = [] }: RecordedEntry): readonly string[] {
  const [line = ''] = command?.split('\n', 1) ?? [];
  if (!namesPath(line) || EDITS.has(changeOf(tool) ?? '')) return files;
  return files.filter((file) => namesFile(line, file));
}

const EDITS: ReadonlySet<string> = new Set(['edited', 'patched']);

/** The files of an entry that a success of it has changed. A command of a shell changes those that it names. */
export function changedFiles(entry: RecordedEntry): readonly string[] {
  const { tool, command } = entry;
  const files = ownFiles(entry);
  if (command === undefined || !isOfShell(tool, command)) return effectOf(entry) === 'change' ? files : [];
  return commandParts(command)
    .filter((part) => effectOfPart(part) === 'change')
    .flatMap((part) => {
      const named = files.filter((file) => namesFile(part, file));
      const place = (file: string) => part.lastIndexOf(baseOf(file));
      // A redirection, `cp`, `ln` and `tee` change only their destination, the file named last.
      return REDIRECTION.test(part) || /^(cp|ln|tee)\b/.test(part)
        ? named.toSorted((one, other) => place(one) - place(other)).slice(-1)
        : named;
    });
}

export function namesPath(command: string): boolean {
  return /[\w-]\.[a-z]\w*\b|\w\/\w/i.test(command);
}

/** True if the command is a shell command line, not the input of an editing tool. */
export function isOfShell(tool: string | undefined, command: string): boolean {
  if (tool === undefined || SHELLS.has(tool.toLowerCase())) return true;
  return (
    verbOf(tool) === undefined ||
    (command.startsWith(tool) && (CHANGING_PROGRAMS.has(tool) || tool === 'echo'))
  );
}

export function effectOfPart(part: string): ToolEffect {
  const program = part.split(/\s/, 1)[0] ?? '';
  if (CHANGING_PROGRAMS.has(program) || CHANGING_WORDS.test(part)) return 'change';
  if (!READS.has(program) && !READING_WORDS.test(part)) return 'run';
  return REDIRECTION.test(part) ? 'change' : 'read';
}

/** The commands of a line for a shell, without what goes before their programs. */
export function commandParts(command: string): string[] {
  return command
    .split(/&&|\|\||[;|\n]/)
    .map((part) => part.trim().replace(PREFIX, ''))
    .filter((part) => part !== '');
}

function namesFile(part: string, file: string): boolean {
  return part.includes(baseOf(file));
}

export function baseOf(file: string): string {
  return file.slice(file.lastIndexOf('/', file.length - 2) + 1);
}

/** The word of a tool's name that says what it does: `str_replace`, `NotebookEdit`, `mcp__fs__write_file`. */
function verbOf(tool = ''): string | undefined {
  const words = tool.replace(/([a-z])([A-Z])/g, '$1 $2').split(/[^\p{L}\p{N}]+/u);
  const verbs = [tool, ...words]
    .map((word) => word.toLowerCase())
    .filter((word) => CHANGES.has(word) || READS.has(word));
  // "search_replace" replaces.
  return verbs.find((word) => word === 'replace') ?? verbs[0];
}
