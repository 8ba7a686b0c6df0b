import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { messageOf, systemCode, ThroughlineError } from '../contracts/errors.js';
import {
  makePrivateFolder,
  projectStateDir,
  readRegularFile,
  userStateDir,
  writePrivateFile,
} from '../engine/files/user-state.js';
import { identityOf, isRunning, type ProcessIdentity } from '../nats/server/process-identity.js';
import { hashOf } from '../shared/hash.js';
import { isObject } from '../shared/text.js';
import { endRecorded, type RecordedCall } from './process-group.js';
import type { AgentAnswer, KeptAnswers, RunIdentity } from './run-types.js';
import { newHolder } from './session-tasks.js';

/**
 * The folder of a session's runs: records of runs and their calls, answers that are not published yet, and by default logs and
 * prompts. A run can resume without it, but repeats calls whose answer was not published.
 *
 * Records and answers are read only from the user's state directory: a folder of logs may belong to a repository, and is only
 * written to. Agents can write there too, so answers are read before the first agent starts, or kept in memory.
 */
export interface RunFolder extends KeptAnswers, RunIdentity {
  /** Folder of logs and prompts. */
  readonly path: string;
  /** Opens the log of a call and replaces an earlier one. */
  log(name: string): CallLog;
  /** Writes the prompt of a call to a file, and returns its path. */
  prompt(name: string, text: string): string;
  /** Records the processes of a call while it runs, so that the next run can kill them if this one is killed. */
  running(name: string, mark: string, pid?: number): () => void;
  /** Removes the records of this run, and of runs that ended before it. */
  release(): void;
}

/** In bytes; larger files are ignored. */
const MAX_RECORD = 1024 * 1024;
const MAX_ANSWER = 64 * 1024 * 1024;
const MARK = /^[A-Za-z0-9_-]{16,64}$/;

/** Returns the folder of a session's runs in the user's state directory, for a project. */
export function runStateDir(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
  project: string,
  session: string,
): string {
  return join(projectStateDir(userStateDir(env, home), project), 'work', session);
}

/** Opens the folder, and kills the agents that killed runs left behind. */
export function openRunFolder(state: string, logs = state): RunFolder {
  const [runs, answers, begun] = [join(state, 'runs'), join(state, 'answers'), join(state, 'begun')];
  for (const folder of [state, runs, answers, begun]) makePrivateFolder(folder);
  if (logs !== state) makeIgnoredFolder(logs);
  const holder = newHolder();
  const own = { ...identityOf(process.pid), space: processSpace(), holder };
  const record = join(runs, `${randomBytes(12).toString('hex')}.json`);
  const calls = new Map<string, RecordedCall>();
  const recorded = () =>
    writePrivateFile(record, JSON.stringify({ ...own, calls: Object.fromEntries(calls) }));
  recorded();
  const left = endUnfinishedCalls(runs);
  const isAlone = () => readdirSync(runs).length === left.length + 1;
  // Agents of another run could write during this read.
  const known = new Map(
    isAlone() ? readdirSync(answers).map((file) => [file, jsonIn(join(answers, file), MAX_ANSWER)]) : [],
  );
  const log = (name: string, kind: string) => join(logs, `${fileName(name)}.${kind}`);
  const answer = (name: string) => `${fileName(name)}.json`;
  return {
    path: logs,
    holder,
    ended: left.map((run) => run.holder).filter(Boolean),
    log: (name) => new CallLog(log(name, 'log')),
    prompt(name, text) {
      writePrivateFile(log(name, 'prompt.md'), text);
      return log(name, 'prompt.md');
    },
    running(name, mark, pid) {
      calls.set(name, { mark, ...(pid !== undefined && { leader: identityOf(pid) }) });
      recorded();
      return () => {
        calls.delete(name);
        recorded();
      };
    },
    release() {
      // Restores the folder, because agents may have written answers for the next run.
      for (const file of isAlone() ? readdirSync(answers) : []) {
        const own = known.get(file);
        rmSync(join(answers, file), { force: true });
        if (own !== undefined) writePrivateFile(join(answers, file), JSON.stringify(own));
      }
      for (const file of [record, ...left.map((run) => run.file)]) rmSync(file, { force: true });
    },
    async read(name) {
      return answerIn(known.get(answer(name)));
    },
    async keep(name, given) {
      known.set(answer(name), given);
      writePrivateFile(join(answers, answer(name)), JSON.stringify(given));
    },
    async begin(name) {
      const mark = join(begun, fileName(name));
      const wasBegun = existsSync(mark) && !known.has(answer(name));
      writePrivateFile(mark, '');
      return wasBegun;
    },
    async drop(name) {
      known.delete(answer(name));
      rmSync(join(begun, fileName(name)), { force: true });
      rmSync(join(answers, answer(name)), { force: true });
    },
  };
}

/** Kills the calls of killed runs, and returns the files and holders of these runs. */
function endUnfinishedCalls(runs: string) {
  return readdirSync(runs).flatMap((name) => {
    const file = join(runs, name);
    const run = runIn(jsonIn(file, MAX_RECORD));
    // The home folder may be shared with other machines and containers, whose processes are not visible here.
    if (run !== undefined && (run.space !== processSpace() || isRunning(run))) return [];
    for (const call of run?.calls ?? []) endRecorded(call);
    return [{ file, holder: run?.holder ?? '' }];
  });
}

interface RecordedRun extends ProcessIdentity {
  readonly space: unknown;
  readonly holder: string;
  readonly calls: readonly RecordedCall[];
}

/** Returns the scope of process ids: the machine, and on Linux the namespace. */
export function processSpace(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Reads the record of a run; returns undefined for an invalid one. */
export function runIn(value: unknown): RecordedRun | undefined {
  const process = identityIn(value);
  if (process === undefined || !isObject(value) || typeof value.holder !== 'string') return undefined;
  const calls = Object.values(isObject(value.calls) ? value.calls : {}).flatMap((call) => {
    if (!isObject(call) || typeof call.mark !== 'string' || !MARK.test(call.mark)) return [];
    const leader = identityIn(call.leader);
    return [{ mark: call.mark, ...(leader !== undefined && { leader }) }];
  });
  return { ...process, space: value.space, holder: value.holder, calls };
}

/** Rejects process ids up to 1: 1 is the init process, and 0 and negative numbers are groups. */
function identityIn(value: unknown): ProcessIdentity | undefined {
  if (!isObject(value) || !Number.isSafeInteger(value.pid) || Number(value.pid) <= 1) return undefined;
  return { pid: Number(value.pid), ...(typeof value.started === 'string' && { started: value.started }) };
}

/** Creates a folder that git ignores, because it may be in a repository. */
export function makeIgnoredFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(join(path, '.gitignore'), '*\n', { flag: 'wx' });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

/** Returns a file name, with a hash if characters were replaced, so that two names never collide. */
function fileName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 120);
  return clean === name ? name : `${clean}-${hashOf(name).slice(0, 8)}`;
}

function answerIn(value: unknown): AgentAnswer | undefined {
  if (!isObject(value) || typeof value.text !== 'string') return undefined;
  const { text, tokens, cost, fault } = value;
  return {
    text,
    ...(typeof tokens === 'number' && { tokens }),
    ...(typeof cost === 'number' && { cost }),
    ...(typeof fault === 'string' && { fault }),
  };
}

function jsonIn(file: string, maxBytes: number): unknown {
  const found = readRegularFile(file, maxBytes);
  try {
    return Buffer.isBuffer(found) ? JSON.parse(found.toString('utf8')) : undefined;
  } catch {
    return undefined;
  }
}

/** Size of the beginning of a log that is kept, in bytes. */
const HEAD = 8 * 1024 * 1024;
/** Size of its end; with the line between both, a log has at most 16 MB. */
const TAIL = HEAD - 100;

/**
 * The log of a call: the beginning and the end of its output. The end is a ring buffer in the file, sorted when the call ends.
 * Each method throws `config_invalid` if the file cannot be written.
 */
export class CallLog {
  readonly #path: string;
  readonly #file: number;
  #size = 0;

  /** Creates the file. An existing file or link is removed, never followed. */
  constructor(path: string) {
    this.#path = path;
    this.#file = this.#written(() => {
      rmSync(path, { force: true });
      return openSync(path, 'wx+', 0o600);
    });
  }

  write(text: string | Uint8Array): void {
    this.#written(() => this.#append(text));
  }

  end(): void {
    this.#written(() => {
      try {
        this.#putInOrder();
      } finally {
        closeSync(this.#file);
      }
    });
  }

  #append(text: string | Uint8Array): void {
    let rest = Buffer.from(text);
    while (rest.length > 0) {
      const free = this.#size < HEAD ? HEAD - this.#size : TAIL - ((this.#size - HEAD) % TAIL);
      const part = rest.subarray(0, free);
      this.#writeAt(part, this.#place);
      this.#size += part.length;
      rest = rest.subarray(part.length);
    }
  }

  #putInOrder(): void {
    const leftOut = this.#size - HEAD - TAIL;
    if (leftOut > 0) {
      const ring = Buffer.alloc(TAIL);
      readSync(this.#file, ring, 0, TAIL, HEAD);
      const begins = this.#place - HEAD;
      const note = Buffer.from(`\n… ${leftOut} bytes omitted …\n`);
      this.#writeAt(Buffer.concat([note, ring.subarray(begins), ring.subarray(0, begins)]), HEAD);
      ftruncateSync(this.#file, HEAD + note.length + TAIL);
    }
  }

  /** File position of the next byte. */
  get #place(): number {
    return this.#size < HEAD ? this.#size : HEAD + ((this.#size - HEAD) % TAIL);
  }

  #written<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      const why = `${this.#path} cannot be written (${messageOf(cause)})`;
      const fix = 'free some disk space, or name another folder with --logs';
      throw new ThroughlineError('config_invalid', `${why}: ${fix}`, { cause });
    }
  }

  #writeAt(bytes: Uint8Array, position: number): void {
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(this.#file, bytes, written, bytes.length - written, position + written);
    }
  }
}
