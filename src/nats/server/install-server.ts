import { type ExecFileException, execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, constants, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { messageOf } from '../../contracts/errors.js';
import {
  type Environment,
  makeFolder,
  NATS_SERVER_PIN,
  parseServerVersion,
  releaseName,
} from './server-version.js';

export interface FindOptions {
  readonly env: Environment;
  /** Cache of installed servers; see `cacheDirOf`. */
  readonly cacheDir: string;
  /** Same values as `process.platform` and `process.arch`. */
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** Called with one line before each slow step, and for each server that was found and not used. Default: nothing. */
  readonly progress?: ((line: string) => void) | undefined;
  /** Default: the pinned release on GitHub. */
  readonly releaseBaseUrl?: string | undefined;
  /** SHA-256 in hex by `<os>-<arch>`. Default: the pinned ones. */
  readonly releaseChecksums?: Readonly<Record<string, string>> | undefined;
}

export interface NatsServerSource {
  readonly path: string;
  readonly version: string;
  readonly foundBy: 'NATS_SERVER_BIN' | 'PATH' | 'cache' | 'go install' | 'release archive';
}

/** `reason` completes "<place>: …". */
export type Attempt = { readonly found: NatsServerSource } | { readonly reason: string };

/** A place to search. It returns a reason if it has nothing, and throws only if the search must end. */
export interface Place {
  readonly name: string;
  look(options: FindOptions): Promise<Attempt>;
}

/** Path of the pinned server in the cache. It contains the version, so that a new pin does not affect running servers. */
export function pinnedBinaryPath(options: FindOptions): string {
  const folder = join(options.cacheDir, `nats-server-${NATS_SERVER_PIN.version}`);
  return join(folder, executableName('nats-server', options.platform));
}

/** Installs the pinned server; `build` creates it in a folder and returns its path. An unfit binary is never cached. */
async function installPinned(
  options: FindOptions,
  foundBy: 'go install' | 'release archive',
  build: (folder: string) => Promise<string>,
): Promise<Attempt> {
  const path = pinnedBinaryPath(options);
  try {
    await installIntoCache(path, async (folder) => {
      const built = await build(folder);
      const probe = await probeBinary(built, options.env);
      if ('reason' in probe) throw new Error(`the installed server does not run: ${probe.reason}`);
      if (probe.version !== NATS_SERVER_PIN.version)
        throw new Error(`installed ${probe.version}, not ${NATS_SERVER_PIN.version}`);
      return built;
    });
    return { found: { path, version: NATS_SERVER_PIN.version, foundBy } };
  } catch (fault) {
    return { reason: messageOf(fault) };
  }
}

/**
 * Puts one file into the cache atomically. `build` creates it in an empty folder and returns its path; it is then renamed to
 * `target`. Concurrent installs all succeed, and nobody sees an incomplete file. Throws the error of `build`.
 */
export async function installIntoCache(
  target: string,
  build: (folder: string) => Promise<string>,
): Promise<void> {
  const home = dirname(target);
  await makeFolder(home);
  // Next to the target: a rename is atomic only within a file system.
  const folder = await mkdtemp(join(home, '.installing-'));
  try {
    const built = await build(folder);
    await rename(built, target).catch(async (fault: unknown) => {
      // Windows refuses to replace a running program: the existing one is what we wanted.
      await access(target).catch(() => {
        throw fault;
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const BUILD_TIMEOUT_MS = 10 * 60_000;

/** Builds the pinned server with Go, which verifies the sources against its checksum database. */
export const goInstall: Place = {
  name: 'go install',
  async look(options) {
    const [go] = await executablesOnPath(executableName('go', options.platform), options.env);
    if (go === undefined) return { reason: 'no go on PATH' };
    options.progress?.(
      `building nats-server ${NATS_SERVER_PIN.version} with Go, which takes a minute or two`,
    );
    return installPinned(options, 'go install', async (folder) => {
      const target = `${NATS_SERVER_PIN.goModule}@v${NATS_SERVER_PIN.version}`;
      const env = goInstallEnvironment(options.env, folder);
      const within = { env, cwd: folder, timeoutMs: BUILD_TIMEOUT_MS };
      const result = await runCommand(go, ['install', target], within);
      if (!result.ok) throw new Error(result.reason);
      return join(folder, executableName('nats-server', options.platform));
    });
  },
};

/** Returns an environment in which `go install` builds for this machine into `folder`. */
export function goInstallEnvironment(env: Environment, folder: string): Environment {
  // GOOS or GOARCH from cross-compiling would target another machine, and go refuses them with GOBIN.
  return { ...env, CGO_ENABLED: '0', GOBIN: folder, GOOS: undefined, GOARCH: undefined };
}

const DOWNLOAD_TIMEOUT_MS = 3 * 60_000;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export const releaseArchive: Place = {
  name: 'release archive',
  async look(options) {
    const target = `${options.platform}-${ARCHITECTURES[options.arch] ?? options.arch}`;
    const checksums: Readonly<Record<string, string>> =
      options.releaseChecksums ?? NATS_SERVER_PIN.releaseChecksums;
    const checksum = checksums[target];
    if (checksum === undefined) return { reason: `no checksum is pinned for ${target}` };
    const url = `${options.releaseBaseUrl ?? NATS_SERVER_PIN.releaseBaseUrl}/${releaseName(target)}.tar.gz`;
    options.progress?.(`downloading nats-server ${NATS_SERVER_PIN.version} for ${target}`);
    const attempt = await installPinned(options, 'release archive', async (folder) => {
      const archive = await download(url);
      const actual = createHash('sha256').update(archive).digest('hex');
      if (actual !== checksum) throw new Error(`${url} has the SHA-256 ${actual}, not ${checksum}: not used`);
      await unpack(archive, folder, options);
      return join(folder, releaseName(target), 'nats-server');
    });
    if ('reason' in attempt) options.progress?.(`note: ${attempt.reason}; trying go install`);
    return attempt;
  },
};

async function download(url: string): Promise<Buffer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (fault) {
    // The message is only "fetch failed"; the cause has the reason.
    const cause = fault instanceof Error && fault.cause !== undefined ? messageOf(fault.cause) : '';
    throw new Error(`cannot download ${url}: ${cause || messageOf(fault)}`);
  }
}

async function unpack(archive: Buffer, folder: string, options: FindOptions): Promise<void> {
  // Unzipped here: not every tar can without a gzip program.
  const tar = join(folder, 'release.tar');
  await writeFile(tar, await promisify(gunzip)(archive));
  const result = await runCommand('tar', ['-xf', tar, '-C', folder], { env: options.env, timeoutMs: 60_000 });
  if (!result.ok) throw new Error(`cannot unpack it with tar: ${result.reason}`);
}

type BinaryProbe = { readonly version: string } | { readonly reason: string };

export async function probeBinary(path: string, env: Environment): Promise<BinaryProbe> {
  const result = await runCommand(path, ['--version'], { env, timeoutMs: 10_000 });
  if (!result.ok) return { reason: result.reason };
  const version = parseServerVersion(result.stdout);
  if (version === undefined) return { reason: 'its --version names no version' };
  return { version };
}

export function executableName(name: string, platform: NodeJS.Platform): string {
  return platform === 'win32' ? `${name}.exe` : name;
}

export async function executablesOnPath(name: string, env: Environment): Promise<readonly string[]> {
  // Windows preserves the variable's own spelling.
  const folders = new Set(
    (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => isAbsolute(folder)),
  );
  const found: string[] = [];
  for (const folder of folders) {
    const path = join(folder, name);
    if (await isExecutableFile(path)) found.push(path);
  }
  return found;
}

async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** `reason` is the last line of output, or why the command could not run. */
type CommandResult =
  | { readonly ok: true; readonly stdout: string }
  | { readonly ok: false; readonly reason: string };

/** Runs a command without a shell, by `env.PATH`. Never rejects: failure, missing command and timeout (ms) are results. */
export function runCommand(
  file: string,
  args: readonly string[],
  options: { readonly env: Environment; readonly timeoutMs: number; readonly cwd?: string | undefined },
): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(
      file,
      args,
      {
        env: { ...options.env },
        cwd: options.cwd,
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: 16 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ ok: true, stdout });
        else resolve({ ok: false, reason: reasonOf(error, stdout, stderr, options.timeoutMs) });
      },
    );
  });
}

function reasonOf(error: ExecFileException, stdout: string, stderr: string, timeoutMs: number): string {
  if (error.code === 'ENOENT') return 'not found';
  if (error.code === 'EACCES') return 'not executable';
  if (error.killed === true) return `no answer within ${timeoutMs / 1000} s`;
  const lastLine = (text: string) => text.trim().split('\n').at(-1)?.trim();
  return lastLine(stderr) || lastLine(stdout) || `exit status ${error.code ?? error.signal ?? 'unknown'}`;
}
