import { execFile } from 'node:child_process';
import { copyFile, cp, link, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import dockerignore from '@balena/dockerignore';
import { cleanEnv } from '../support/cli.js';
import { type Instruction, type Stage, stagesOf } from './dockerfile.js';

/** A stage that was built in a directory, which stands for its `/`. */
export interface Image {
  readonly root: string;
  /** As the stage sees it: `/app`. */
  readonly workdir: string;
  /** Its own variables, and the PATH that it has inside. */
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly command: readonly string[];
}

/**
 * Builds a Dockerfile without an engine: each stage is a directory below `into`, which COPY fills from the context,
 * through `.dockerignore`, or from a stage before, and where each RUN runs in a shell of this machine. The base images are
 * empty but for what this machine has on its PATH.
 *
 * @returns the last stage
 */
export async function buildImage(context: string, into: string): Promise<Image> {
  const built = new Map<string, Image>();
  let last: Image | undefined;
  for (const [index, stage] of stagesOf(await readFile(join(context, 'Dockerfile'), 'utf8')).entries()) {
    const name = stage.name ?? String(index);
    last = await buildStage(stage, join(into, name), await contextFiles(context), built, () =>
      realpath(join(context, 'node_modules')),
    );
    built.set(name, last);
  }
  if (last === undefined) throw new Error('the Dockerfile has no FROM');
  return last;
}

/** Where a COPY takes its files from: each below `path`, as its path on this machine and below `path`. */
type Source = (path: string) => Promise<{ readonly file: string; readonly below: string }[]>;

async function buildStage(
  stage: Stage,
  root: string,
  context: Source,
  built: ReadonlyMap<string, Image>,
  installed: () => Promise<string>,
): Promise<Image> {
  await mkdir(join(root, 'usr/local/bin'), { recursive: true });
  let image: Image = {
    root,
    workdir: '/',
    env: { PATH: [join(root, 'usr/local/bin'), ...machinePath()].join(':') },
    user: 'root',
    command: [],
  };
  for (const { name, rest } of stage.instructions) {
    if (name === 'WORKDIR') image = { ...image, workdir: resolve(image.workdir, rest) };
    else if (name === 'ENV') image = { ...image, env: { ...image.env, ...variable(rest) } };
    else if (name === 'USER') image = { ...image, user: rest };
    else if (name === 'CMD') image = { ...image, command: JSON.parse(rest) };
    else if (name === 'COPY') await copy(rest, image, context, built);
    // What the same command has installed for the tests from the same lock file: it takes half a minute.
    else if (name === 'RUN' && rest === 'npm ci --ignore-scripts')
      await cp(await installed(), join(root, image.workdir, 'node_modules'), { recursive: true });
    else if (name === 'RUN') await runIn(image, ['sh', '-ec', inside(image, rest)]);
    else throw new Error(`this builder does not know ${name}: teach it`);
    await mkdir(join(root, image.workdir), { recursive: true });
  }
  return image;
}

/** Runs a command as a container of the image would, with more variables. Rejects where it exits with another code than 0. */
export async function runIn(image: Image, [file = '', ...args]: readonly string[], more = {}) {
  return promisify(execFile)(file, args, {
    cwd: join(image.root, image.workdir),
    // The test runner's own NODE_ENV is not the image's.
    env: { ...cleanEnv(BUILD_SETTINGS), NODE_ENV: undefined, ...image.env, ...more },
    maxBuffer: 16 * 1024 * 1024,
  });
}

/** The PATH of this machine without the programs of packages: the image must bring those that it needs. */
function machinePath(): string[] {
  return (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
}

/** They change how fast npm is, and nothing that it installs. */
const BUILD_SETTINGS = { npm_config_prefer_offline: 'true', npm_config_audit: 'false' };

/** A command with its absolute paths below the root of the image. */
function inside({ root }: Image, command: string): string {
  return command.replace(/(?<=^|[\s=])\/(?=\w)/g, `${root}/`);
}

function variable(rest: string): Record<string, string> {
  const [, name, value] = /^(\w+)=(\S+)$/.exec(rest) ?? [];
  if (name === undefined || value === undefined) throw new Error(`this builder cannot read ENV ${rest}`);
  return { [name]: value };
}

async function copy(
  rest: Instruction['rest'],
  image: Image,
  context: Source,
  built: ReadonlyMap<string, Image>,
): Promise<void> {
  const words = rest.split(/\s+/);
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
  const target = words.pop() ?? '';
  const source = from === undefined ? context : stageFiles(built.get(from));
  // Thousands of packages' files, which nothing changes any more.
  const place = from === undefined ? copyFile : link;
  const toFolder = target.endsWith('/') || target === '.' || words.length > 1;
  const folder = join(image.root, isAbsolute(target) ? target : join(image.workdir, target));
  for (const word of words) {
    const files = await source(word);
    if (files.length === 0) throw new Error(`COPY ${rest}: "${word}" is not in the build context`);
    const copies = files.map(({ file, below }) => {
      const name = below === '' && toFolder ? basename(file) : below;
      return { file, to: join(folder, name) };
    });
    for (const each of new Set(copies.map(({ to }) => dirname(to)))) await mkdir(each, { recursive: true });
    await Promise.all(copies.map(({ file, to }) => place(file, to)));
  }
}

/** The build context: what `.dockerignore` leaves. */
async function contextFiles(context: string): Promise<Source> {
  const ignored = dockerignore.default().add(await readFile(join(context, '.dockerignore'), 'utf8'));
  return async (path) => {
    const files = await filesBelow(join(context, path));
    return files.filter(({ file }) => !ignored.ignores(relative(context, file).replaceAll(sep, '/')));
  };
}

function stageFiles(stage: Image | undefined): Source {
  if (stage === undefined) throw new Error('COPY --from names a stage that was not built before');
  return (path) => filesBelow(join(stage.root, path));
}

/** Files and links at a path and below it; none where it does not exist. */
async function filesBelow(path: string): Promise<{ file: string; below: string }[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return [];
  if (found.isFile()) return [{ file: path, below: '' }];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ file, below: relative(path, file) }));
}
