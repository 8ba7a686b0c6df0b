import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemCode, ThroughlineError } from '../contracts/errors.js';
import { identityOf, isRunning, type ProcessIdentity } from '../nats-server/process-identity.js';
import { hashOf } from '../shared/hash.js';
import { isObject } from '../shared/is-object.js';
import { endGroup } from './process-group.js';
import type { AgentAnswer, KeptAnswers } from './run-types.js';

/**
 * The folder of a run: a log of each call, its prompt, and answers from the moment they are given. None of it is needed to
 * go on: without it a call whose answer was not published is made again.
 *
 * While a run uses it, it holds a lock: two runs of one session would each take the same task.
 */
export interface RunFolder extends KeptAnswers {
  readonly path: string;
  /** Adds to the log of a call. */
  log(name: string, text: string | Uint8Array): void;
  /** Writes the prompt of a call into a file, and gives its path. */
  prompt(name: string, text: string): string;
  /** Notes the process group of a call while it runs, so that the next run ends what a killed one has left. */
  running(name: string, pid: number): () => void;
  /** Gives the lock back. */
  release(): void;
}

/**
 * Opens the folder, takes its lock, and ends the agents that a killed run has left.
 *
 * @throws ThroughlineError `conflict` where another run has it
 */
export function openRunFolder(path: string, session: string): RunFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  ignoredByGit(path);
  const release = takeLock(join(path, 'lock'), session);
  for (const name of readdirSync(path)) if (name.endsWith('.pid')) endLeft(join(path, name));
  const at = (name: string, kind: string) => join(path, `${fileName(name)}.${kind}`);
  const write = (file: string, text: string) => {
    writeFileSync(`${file}.tmp`, text, { mode: 0o600 });
    renameSync(`${file}.tmp`, file);
  };
  return {
    path,
    release,
    log: (name, text) => appendFileSync(at(name, 'log'), text, { mode: 0o600 }),
    prompt(name, text) {
      write(at(name, 'prompt.md'), text);
      return at(name, 'prompt.md');
    },
    running(name, pid) {
      const file = at(name, 'pid');
      write(file, JSON.stringify(identityOf(pid)));
      return () => rmSync(file, { force: true });
    },
    async read(name) {
      return answerIn(at(name, 'answer.json'));
    },
    async keep(name, answer) {
      write(at(name, 'answer.json'), JSON.stringify(answer));
    },
  };
}

/** One name of a task may stand for another as a file name: then it gets a part of its hash. */
function fileName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 120);
  return clean === name ? name : `${clean}-${hashOf(name).slice(0, 8)}`;
}

function ignoredByGit(path: string): void {
  try {
    writeFileSync(join(path, '.gitignore'), '*\n', { flag: 'wx' });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

function takeLock(file: string, session: string): () => void {
  const own = JSON.stringify(identityOf(process.pid));
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, own);
  try {
    for (;;) {
      try {
        linkSync(draft, file);
        return () => {
          if (textOf(file) === own) rmSync(file, { force: true });
        };
      } catch (error) {
        if (systemCode(error) !== 'EEXIST') throw error;
      }
      const found = textOf(file);
      const holder = found === undefined ? undefined : identityIn(found);
      if (holder !== undefined && isRunning(holder)) throw isTaken(holder, session);
      // Of two that find it left behind one moves it away, and the other finds it gone or taken again.
      const away = `${draft}.left`;
      try {
        renameSync(file, away);
      } catch {
        continue;
      }
      const taken = textOf(away);
      if (taken !== found && taken !== undefined) linkBack(away, file);
      rmSync(away, { force: true });
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

function linkBack(away: string, file: string): void {
  try {
    linkSync(away, file);
  } catch {
    // A third one has it by now.
  }
}

function isTaken({ pid }: ProcessIdentity, session: string): ThroughlineError {
  return new ThroughlineError(
    'conflict',
    `another run works on session ${session}, process ${pid}: wait for it, or stop it ("kill ${pid}")`,
  );
}

function endLeft(file: string): void {
  const left = identityIn(textOf(file) ?? '');
  if (left !== undefined && isRunning(left)) endGroup(left.pid, 'SIGKILL');
  rmSync(file, { force: true });
}

function identityIn(text: string): ProcessIdentity | undefined {
  const value = jsonIn(text);
  if (!isObject(value) || typeof value.pid !== 'number') return undefined;
  return { pid: value.pid, ...(typeof value.started === 'string' && { started: value.started }) };
}

function answerIn(file: string): AgentAnswer | undefined {
  const value = jsonIn(textOf(file) ?? '');
  if (!isObject(value) || typeof value.text !== 'string') return undefined;
  const { text, tokens, cost, fault } = value;
  return {
    text,
    ...(typeof tokens === 'number' && { tokens }),
    ...(typeof cost === 'number' && { cost }),
    ...(typeof fault === 'string' && { fault }),
  };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
