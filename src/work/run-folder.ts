import {
  closeSync,
  existsSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { messageOf, systemCode, ThroughlineError } from '../contracts/errors.js';
import {
  makePrivateFolder,
  projectStateDir,
  textOrNone,
  writePrivateFile,
} from '../engine/files/user-state.js';
import { identityOf, isRunning, type ProcessIdentity } from '../nats/server/process-identity.js';
import { hashOf } from '../shared/hash.js';
import { ifPossible, isObject, jsonOf, shellWord } from '../shared/text.js';
import { EndOfOutput, signalCall } from './process-group.js';
import { newHolder } from './session-tasks.js';

/** In bytes; larger files are ignored. */
const MAX_RECORD = 4096;

export type RunFolder = ReturnType<typeof openRunFolder>;

/**
 * Opens the folder of the logs and prompts of a session's runs in a checkout: in the user's state directory, never in a
 * repository. Kills the agents that a killed run left. Throws ThroughlineError `conflict` if another run works there.
 */
export function openRunFolder(stateDir: string, directory: string, session: string) {
  const checkout = checkoutOf(directory);
  const state = projectStateDir(stateDir, checkout);
  const logs = join(state, 'work', session);
  makePrivateFolder(logs);
  // The home folder may be shared with other machines and containers, whose processes are not visible here.
  const processSpace = `${hostname()} ${ifPossible(() => readlinkSync('/proc/self/ns/pid')) ?? ''}`;
  const record = join(state, `run-${hashOf(processSpace).slice(0, 12)}.json`);
  const before = runIn(record);
  if (before !== undefined && isRunning(before)) throw inUse(before.holder, checkout, session);
  rmSync(record, { force: true });
  const holder = newHolder();
  try {
    writeFileSync(record, JSON.stringify({ ...identityOf(process.pid), holder }), {
      mode: 0o600,
      flag: 'wx',
    });
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw inUse('another process', checkout, session);
    throw error;
  }
  const mark = hashOf(state).slice(0, 24);
  signalCall(undefined, mark, 'SIGKILL');
  const path = (name: string, kind: string) => join(logs, `${fileName(name)}.${kind}`);
  return {
    path: logs,
    holder,
    /** Marks the processes of the run's calls, so that the next run in this checkout finds those that a killed run left. */
    mark,
    ...(before !== undefined && { ended: [before.holder] }),
    log: (name: string) => new CallLog(path(name, 'log')),
    prompt(name: string, text: string) {
      writePrivateFile(path(name, 'prompt.md'), text);
      return path(name, 'prompt.md');
    },
    /** Lets another run begin in this checkout. */
    release: () => rmSync(record, { force: true }),
  };
}

/** Returns the root of the git checkout that contains a folder, else the folder. */
function checkoutOf(directory: string): string {
  const folder = realpathSync(directory);
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return folder;
  }
}

function inUse(holder: string, checkout: string, session: string): ThroughlineError {
  let number = 2;
  while (existsSync(`${checkout}-${number}`)) number += 1;
  const other = shellWord(join('..', `${basename(checkout)}-${number}`));
  const copy = existsSync(join(checkout, '.git')) ? `git worktree add ${other}` : `cp -r . ${other}`;
  const message = `${holder} works in ${checkout}: run "${copy}", and start the second run there, with --session ${session} instead of --plan`;
  return new ThroughlineError('conflict', message);
}

/** Reads the record of a run; returns undefined if there is none, or an invalid one. */
function runIn(record: string): (ProcessIdentity & { readonly holder: string }) | undefined {
  const value = jsonOf(textOrNone(record, MAX_RECORD));
  if (!isObject(value) || typeof value.pid !== 'number' || typeof value.holder !== 'string') return undefined;
  const { pid, started, holder } = value;
  return { pid, holder, ...(typeof started === 'string' && { started }) };
}

/** Returns a file name, with a hash if characters were replaced, so that two names never collide. */
function fileName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 120);
  return clean === name ? name : `${clean}-${hashOf(name).slice(0, 8)}`;
}

/** Size of the beginning and of the end of a log that are kept, in bytes: with the line between both, at most 16 MB. */
const PART = 8 * 1024 * 1024 - 100;

/** The log of a call: the beginning and the end of its output. Throws `config_invalid` if it cannot be written. */
export class CallLog {
  readonly #path: string;
  readonly #file: number;
  readonly #end = new EndOfOutput(PART);
  #room = PART;
  #more = 0;

  /** Creates the file. An existing file or link is removed, never followed. */
  constructor(path: string) {
    this.#path = path;
    this.#file = this.#written(() => {
      rmSync(path, { force: true });
      return openSync(path, 'wx', 0o600);
    });
  }

  write(text: string | Uint8Array): void {
    const bytes = Buffer.from(text);
    const [head, rest] = [bytes.subarray(0, this.#room), bytes.subarray(this.#room)];
    this.#room -= head.length;
    this.#append(head);
    if (rest.length > 0) this.#end.add(rest);
    this.#more += rest.length;
  }

  end(): void {
    try {
      const end = this.#end.bytes();
      if (this.#more > end.length)
        this.#append(Buffer.from(`\n… ${this.#more - end.length} bytes omitted …\n`));
      this.#append(end);
    } finally {
      closeSync(this.#file);
    }
  }

  #append(bytes: Uint8Array): void {
    this.#written(() => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    });
  }

  #written<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      const why = `${this.#path} cannot be written (${messageOf(cause)}): free some disk space`;
      throw new ThroughlineError('config_invalid', why, { cause });
    }
  }
}
