import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { ErrorCode } from '../../contracts/error-codes.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { type GitVersion, REQUIREMENTS_FILES } from '../../contracts/plan-requests.js';
import type { TasksFile } from '../../engine/files/local-tasks-file.js';
import type { SessionCommander } from '../../engine/folding/session-folding.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { type PlanFiles, type ReadDocument, readDocument } from '../../ledger/read-plan.js';
import { NO_SCANNER, redactText, type SecretScanner } from '../../memory/redaction/redactor.js';
import { answer, append } from '../../memory/session/commands/session-decision.js';
import { planVersion, type SessionState } from '../../memory/session/session-state.js';
import { hashOf } from '../../shared/hash.js';

/**
 * Updates a session's progress from its tasks file. The result is an event, so that a prompt depends only on the log.
 *
 * Before a prompt, the modification time is checked first, then the hash; only a new hash is parsed and appended, and that the
 * file as it is was committed meanwhile.
 */
interface ProgressTrackerOptions {
  readonly files: TasksFile;
  readonly command: SessionCommander;
  readonly logger: Logger;
  readonly secrets?: SecretScanner;
  /** Returns the version of a file in its repository. */
  readonly version?: (path: string) => GitVersion | undefined;
}

export type Refreshed =
  | { readonly outcome: 'unchanged' }
  /** The session has new progress. Of several concurrent rebuilds, one appends it. */
  | { readonly outcome: 'rebuilt'; readonly appended: boolean }
  /** The file is unreadable, has no or too many tasks, or the tools do not answer: the earlier progress still applies. */
  | { readonly outcome: 'failed'; readonly message: string };

export class ProgressTracker {
  readonly #options: ProgressTrackerOptions;
  /** Git's newest answers by path, for files that it says are not committed: asking it holds the event loop. */
  readonly #versions = new LRUCache<string, { version?: GitVersion | undefined; until: number }>({
    max: 1000,
  });

  constructor(options: ProgressTrackerOptions) {
    this.#options = options;
  }

  /** @param known hash of the text that is known already: the documents beside it are then not read */
  async readFile(path: string, known = ''): Promise<ReadDocument> {
    const read = await this.#options.files.read(path);
    if ('fault' in read) {
      return { ok: false, code: 'progress_ledger_missing_tasks', message: `${path}: ${read.fault}` };
    }
    const { value: text, found } = redactText(read.text, this.#options.secrets ?? NO_SCANNER);
    if (text !== read.text) {
      this.#options.logger.info({ path, redacted: found }, 'secrets taken out of a tasks file');
    }
    const beside = hashOf(text) === known ? {} : await this.#companions(path);
    return readDocument(text, path, read.mtimeMs, beside);
  }

  async #companions(path: string): Promise<PlanFiles> {
    const read = async (names: readonly string[]) => {
      for (const name of names) {
        const beside = join(dirname(path), name);
        const found = beside === path ? { fault: '' } : await this.#options.files.read(beside);
        if (!('fault' in found)) return { path: beside, text: found.text };
      }
      return undefined;
    };
    const requirements = await read(REQUIREMENTS_FILES);
    const design = await read(DESIGNS);
    return {
      ...(requirements && {
        requirements: redactText(requirements.text, this.#options.secrets ?? NO_SCANNER).value,
      }),
      ...(design && { design: design.path }),
    };
  }

  /** Returns the plan as its file is now, if the session has another version, or why it cannot be read. */
  async #changed({ run, charter }: SessionState) {
    // The plan of an archived session is frozen.
    if (run?.source.kind !== 'file' || charter.archived !== undefined) return undefined;
    const { path } = run.source;
    const known = run.document.fingerprint;
    const modified = await this.#options.files.modified(path);
    if ('fault' in modified) return { fault: `${path}: ${modified.fault}` };
    const isUnchanged = modified.mtimeMs === known.mtimeMs;
    const committed = isUnchanged && run.version?.commits.length === 0 ? this.#committed(path) : undefined;
    if (isUnchanged && committed === undefined) return undefined;
    const read = await this.readFile(path, committed === undefined ? known.hash : undefined);
    if (!read.ok) return { fault: read.message };
    const { document, unnamed } = read;
    if (document.fingerprint.hash === known.hash && committed === undefined) return undefined;
    const version = committed ?? this.#options.version?.(path);
    return { path, ...(version && { version }), document, unnamed };
  }

  #committed(path: string): GitVersion | undefined {
    const now = performance.now();
    let answer = this.#versions.get(path);
    if (answer === undefined || answer.until < now) {
      answer = { version: this.#options.version?.(path), until: now + ASK_MS };
      this.#versions.set(path, answer);
    }
    return answer.version?.commits.length === 0 ? undefined : answer.version;
  }

  /** Returns the state with its plan as the file is now, which is not stored, or says why that cannot be read. */
  async seen(state: SessionState): Promise<{ readonly state: SessionState; readonly degraded?: string }> {
    const changed = await this.#changed(state);
    const { run } = state;
    if (changed === undefined || run === undefined) return { state };
    if ('fault' in changed) return { state, degraded: changed.fault };
    const document = planVersion(state, changed.document, changed.unnamed);
    const { version = run.version } = changed;
    return { state: { ...state, run: { ...run, ...(version && { version }), document } } };
  }

  async refresh(session: Token, state: SessionState): Promise<Refreshed> {
    const changed = await this.#changed(state);
    if (changed === undefined) return { outcome: 'unchanged' };
    if ('fault' in changed) return { outcome: 'failed', message: changed.fault };
    const { path, version, document, unnamed } = changed;
    try {
      const { appended } = await this.#options.command(session, 'progress.rebuilt', (now) =>
        now.run?.source.kind === 'file' &&
        now.run.source.path === path &&
        now.charter.archived === undefined &&
        (now.run.document.fingerprint.hash !== document.fingerprint.hash ||
          (version?.commits.length ?? 0) > (now.run.version?.commits.length ?? 0))
          ? append(
              {
                type: 'progress.rebuilt',
                data: { ...(version && { version }), document: planVersion(now, document, unnamed) },
              },
              () => ({}),
            )
          : answer(() => ({})),
      );
      if (appended === undefined) return { outcome: 'rebuilt', appended: false };
    } catch (error) {
      if (!(error instanceof ThroughlineError) || !PASSING.has(error.code)) throw error;
      return { outcome: 'failed', message: `${path}: ${error.message}` };
    }
    this.#options.logger.info({ session, path, tasks: document.tasks.length }, 'progress ledger rebuilt');
    return { outcome: 'rebuilt', appended: true };
  }
}

/** Errors that prevent progress but not the prompt. */
const PASSING: ReadonlySet<string> = new Set([
  'too_large',
  'progress_ledger_missing_tasks',
] satisfies ErrorCode[]);

/** Git is asked at most this often for the same file, in milliseconds. */
const ASK_MS = 10_000;

/** Names of the design beside a plan: Kiro and spec-workflow, spec-kit. */
const DESIGNS = ['design.md', 'plan.md'] as const;
