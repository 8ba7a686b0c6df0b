import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, realpath } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import dockerignore from '@balena/dockerignore';
import { cleanEnv } from '../support/cli.js';

/** A stage of a Dockerfile that was built in a directory, which stands for its `/`. */
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
 * Builds a Dockerfile of plain instructions without an engine: each stage is a directory below `into`, COPY is a copy
 * through `.dockerignore`, and RUN a shell of this machine, whose PATH stands for the base image.
 *
 * @returns the last stage
 */
export async function buildImage(context: string, into: string): Promise<Image> {
  const ignored = dockerignore.default().add(await readFile(join(context, '.dockerignore'), 'utf8'));
  const text = await readFile(join(context, 'Dockerfile'), 'utf8');
  const roots = new Map<string, string>();
  let image: Image | undefined;
  for (const line of text.split('\n').filter((each) => /^[A-Z]/.test(each))) {
    const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') {
      const stage = / AS (\S+)/.exec(rest)?.[1] ?? 'last';
      const root = join(into, stage);
      roots.set(stage, root);
      const path = [join(root, 'usr/local/bin'), ...machinePath()].join(':');
      image = { root, workdir: '/', env: { PATH: path }, user: 'root', command: [] };
      await mkdir(join(root, 'usr/local/bin'), { recursive: true });
    } else if (image === undefined) throw new Error(`${name} before the first FROM`);
    else if (name === 'WORKDIR') image = { ...image, workdir: resolve(image.workdir, rest) };
    else if (name === 'ENV') image = { ...image, env: { ...image.env, ...variable(rest) } };
    else if (name === 'USER') image = { ...image, user: rest };
    else if (name === 'CMD') image = { ...image, command: JSON.parse(rest) };
    // What the same command has installed for the tests from the same lock file: it takes half a minute.
    else if (name === 'RUN' && rest === 'npm ci --ignore-scripts')
      await copied(
        await realpath(join(context, 'node_modules')),
        join(image.root, image.workdir, 'node_modules'),
      );
    else if (name === 'RUN') await runIn(image, ['sh', '-ec', inside(image, rest)]);
    else if (name === 'COPY') {
      const words = rest.split(/\s+/);
      const stage = /^--from=(.*)/.exec(words[0] ?? '')?.[1];
      const target = join(image.root, image.workdir, words.pop() ?? '');
      for (const word of words.slice(stage === undefined ? 0 : 1)) {
        const source = stage === undefined ? join(context, word) : join(roots.get(stage) ?? '', word);
        const isLeftOut = (file: string) => stage === undefined && ignored.ignores(relative(context, file));
        if (isLeftOut(source)) throw new Error(`COPY ${rest}: .dockerignore leaves out "${word}"`);
        await copied(source, word.endsWith('/') ? target : join(target, basename(word)), isLeftOut);
      }
    } else throw new Error(`this builder does not know ${name}: teach it`);
    await mkdir(join(image.root, image.workdir), { recursive: true });
  }
  if (image === undefined) throw new Error('the Dockerfile has no FROM');
  return image;
}

function copied(from: string, to: string, isLeftOut: (file: string) => boolean = () => false): Promise<void> {
  return cp(from, to, { recursive: true, verbatimSymlinks: true, filter: (file) => !isLeftOut(file) });
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
