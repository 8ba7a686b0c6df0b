import { clipText, named, quoted } from '../shared/text.js';

/** The run's additions to the text of a task. Names of files, branches and commands are quoted data. */
export interface PromptRemarks {
  /** The command that judges the work. */
  readonly check?: string | undefined;
  /** Set after an interruption: files that differ from the last commit, if they are known. */
  readonly interrupted?: { readonly files: readonly string[] };
  /** Output of hooks, quoted. */
  readonly hooks?: readonly string[];
  /** For a reviewer: the work, if it is in a git repository. */
  readonly review?: WorkPlace & { readonly base?: string | undefined };
}

/** The state of a git repository. */
export interface WorkPlace {
  readonly commit: string;
  readonly branch?: string | undefined;
}

const MOST_FILES = 30;
/** In characters. */
const MAX_FILE = 300;

/** Returns the text of a task with the remarks as paragraphs. */
export function taskPromptOf(
  text: string,
  { check, interrupted, review, hooks = [] }: PromptRemarks,
): string {
  const parts = [text];
  if (check !== undefined) parts.push(`This command judges the work: ${quoted(check)} (it must pass)`);
  if (interrupted !== undefined) {
    const files = interrupted.files.map((file) => JSON.stringify(clipText(quoted(file), MAX_FILE)));
    const changed =
      files.length === 0 ? '' : ` Files that differ from the last commit: ${named(files, MOST_FILES)}.`;
    parts.push(`An earlier attempt at this step was interrupted: half-finished work may exist.${changed}`);
  }
  if (review !== undefined) {
    const { base, commit, branch } = review;
    const on = branch === undefined ? '' : `, branch ${JSON.stringify(quoted(branch))}`;
    parts.push(
      base === undefined || base === commit
        ? `The work is on top of commit ${commit}${on}, as far as it is not committed.`
        : `The work began at commit ${base}, and is at commit ${commit}${on}.`,
    );
  }
  return [...parts, ...hooks].join('\n\n');
}
