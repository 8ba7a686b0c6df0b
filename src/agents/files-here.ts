import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gitAbove } from '../config/git-repository.js';

/** A path inside a project; the first part of a web address has a dot. */
const PATH = /(?<![\w./:@-])\.?[\w@-]+(?:\/[\w@.-]+){0,30}\/[\w@.-]+\.\w{1,8}(?![\w/])/g;
/** A list of files and a line of a likely one: there a path needs no folder and no extension. */
const LIST = /(?:^Perhaps these files:|\| Files:) (.+)$/gm;
const LIKELY = /^- (\S+) \(.+\)$/gm;
const MOST = 50;

/** Compiles a prompt, and again without the files that it names and that do not exist where the agent works. */
export async function compiledHere<Reply extends { readonly prompt: string }>(
  directory: string,
  compile: (more: { readonly hints?: { readonly missing: string[] } }) => Promise<Reply>,
): Promise<Reply> {
  const reply = await compile({});
  const git = gitAbove(directory);
  const folders = git === undefined ? [directory] : [directory, dirname(git)];
  const isMissing = (path: string) => !folders.some((folder) => existsSync(join(folder, path)));
  const all = (pattern: RegExp) => [...reply.prompt.matchAll(pattern)];
  const listed = all(LIST).flatMap(([, list = '']) =>
    list
      .split(/ \[| and \d/, 1)
      .join('')
      .split(', '),
  );
  const likely = all(LIKELY).map(([, path = '']) => path);
  const named = all(PATH).map(([path]) => path);
  const missing = [...new Set([...named, ...listed, ...likely])].filter(isMissing);
  return missing.length === 0 ? reply : compile({ hints: { missing: missing.slice(0, MOST) } });
}
