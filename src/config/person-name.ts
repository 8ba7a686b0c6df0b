import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { clipText, quoted } from '../shared/text.js';
import { commonFolder, gitAbove, gitText } from './git-repository.js';
import type { ServerInUse } from './user-server.js';

/**
 * Returns the name of the person who works in a folder: the one under which a member was invited, else `user.name` of git, as
 * in commits. Undefined where neither is set.
 */
export function personName(server: ServerInUse, directory: string): string | undefined {
  if (server.kind === 'team' && server.as !== undefined) return server.as;
  const git = gitAbove(directory);
  const common = git && commonFolder(git);
  // The user's own files may be links.
  const files = ['.gitconfig', '.config/git/config'].map((name) => join(homedir(), name)).filter(existsSync);
  const settings = [
    common ? gitText(join(common, 'config')) : '',
    ...files.map((file) => readFileSync(file, 'utf8')),
  ];
  return settings.map(userNameIn).find((name) => name !== '');
}

function userNameIn(settings: string): string {
  let section = '';
  let found = '';
  for (const line of settings.split('\n').map((text) => text.trim())) {
    if (line.startsWith('[')) section = line.toLowerCase();
    const [key = '', ...value] = line.split('=');
    if (section === '[user]' && key.trim().toLowerCase() === 'name') found = value.join('=');
  }
  return clipText(quoted(found.replaceAll('"', '')), 128);
}
