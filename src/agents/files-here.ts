import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gitAbove } from '../config/git-repository.js';

/** A path inside a project; the first part of a web address has a dot. */
const PATH = /(?<![\w./:@-])\.?[\w@-]+(?:\/[\w@.-]+){0,30}\/[\w@.-]+\.\w{1,8}(?![\w/])/g;
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
  const missing = [...new Set(reply.prompt.match(PATH))].filter(isMissing);
  return missing.length === 0 ? reply : compile({ hints: { missing: missing.slice(0, MOST) } });
}
