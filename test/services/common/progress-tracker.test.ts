import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { type Token, token } from '../../../src/contracts/names.js';
import type { GitVersion } from '../../../src/contracts/plan-requests.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import type { TasksFile } from '../../../src/engine/files/local-tasks-file.js';
import type { SessionCommander } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { readDocument } from '../../../src/ledger/read-plan.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState } from '../../../src/memory/session/session-state.js';
import { ProgressTracker } from '../../../src/services/common/progress-tracker.js';
import { hashOf } from '../../../src/shared/hash.js';
import { timeOf } from '../../support/builders.js';

const read = readDocument;
const SESSION: Token = token('demo', 'session');
const PATH = 'specs/tasks.md';
const ONE = '- [ ] 1. write the lexer\n- [ ] 2. write the parser\n';
const TWO = '- [x] 1. write the lexer\n- [-] 2. write the parser\n';
const PROSE = '# The parser\n\nIt reads queries.\n';

interface FakeFile {
  text: string;
  mtimeMs: number;
  fault?: string;
}

/** A session that follows a file, both in memory. */
class Scene {
  readonly state: SessionState = emptyState('demo');
  readonly events: SessionEvent[] = [];
  readonly file: FakeFile = { text: ONE, mtimeMs: 1000 };
  readonly asked = { modified: 0, read: 0 };
  /** Documents beside the plan, by path. */
  readonly beside: Record<string, { text: string; mtimeMs: number }> = {};
  whileLooking: () => void = () => {};
  whileReading: () => void = () => {};
  refusal: ThroughlineError | undefined;
  version: GitVersion | undefined;
  readonly tracker: ProgressTracker;

  constructor() {
    const files: TasksFile = {
      modified: async () => {
        this.asked.modified += 1;
        const { fault, mtimeMs } = this.file;
        this.whileLooking();
        return fault === undefined ? { mtimeMs } : { fault };
      },
      read: async (path) => {
        if (/(requirements|spec|design|plan)\.md$/.test(path))
          return this.beside[path] ?? { fault: 'does not exist' };
        this.asked.read += 1;
        const { fault, text, mtimeMs } = this.file;
        this.whileReading();
        return fault === undefined ? { text, mtimeMs } : { fault };
      },
    };
    const command: SessionCommander = async (_session, _name, decide) => {
      if (this.refusal) throw this.refusal;
      const decision = decide(this.state);
      if (decision.kind === 'refuse') throw new Error(decision.message);
      if (decision.kind === 'answer') return { reply: decision.reply(this.state) };
      const { type, data } = decision.event;
      this.append({ v: EVENT_VERSION, type, at: timeOf(this.state.sequence + 1), data } as SessionEvent);
      return { reply: decision.reply(this.state), appended: type };
    };
    const version = () => this.version;
    this.tracker = new ProgressTracker({ files, command, logger: silentLogger, version });
  }

  append(event: SessionEvent): void {
    this.events.push(event);
    evolve(this.state, { sequence: this.state.sequence + 1, event });
  }

  /** Appends the events of `run.init`. */
  follow(path: string | undefined, text: string, mtimeMs: number): void {
    const outcome = read(text, path ?? 'tasksText', mtimeMs);
    if (!outcome.ok) throw new Error(outcome.message);
    const source = path === undefined ? { kind: 'document' as const } : { kind: 'file' as const, path };
    const data = { spec: 'parser', source, document: outcome.document };
    this.append({ v: EVENT_VERSION, type: 'run.initialized', at: timeOf(0), data });
  }

  refresh() {
    return this.tracker.refresh(SESSION, this.state);
  }

  types(): string[] {
    return this.events.map(({ type }) => type);
  }
}

function following(): Scene {
  const scene = new Scene();
  scene.follow(PATH, ONE, 1000);
  return scene;
}

function completedTasks({ state }: Scene): string[] {
  const tasks = state.run?.document.tasks ?? [];
  return tasks.filter(({ status }) => status === 'completed').map(({ id }) => id);
}

describe('a session', () => {
  it('a session without a run touches no file', async () => {
    const scene = new Scene();
    expect(await scene.refresh()).toEqual({ outcome: 'unchanged' });
    expect(scene.asked).toEqual({ modified: 0, read: 0 });
  });

  it('a session with a pushed document touches no file', async () => {
    const scene = new Scene();
    scene.follow(undefined, ONE, 0);
    expect(await scene.refresh()).toEqual({ outcome: 'unchanged' });
    expect(scene.asked).toEqual({ modified: 0, read: 0 });
  });
});

describe('a file', () => {
  it('a file that was not modified is not read', async () => {
    const scene = following();
    expect(await scene.refresh()).toEqual({ outcome: 'unchanged' });
    expect(scene.asked).toEqual({ modified: 1, read: 0 });
  });

  it('a file with a new text is read, and becomes an event with its fingerprint and its version', async () => {
    const scene = following();
    const version = { file: 'tasks.md', commits: ['two', 'one'] };
    scene.version = version;
    Object.assign(scene.file, { text: TWO, mtimeMs: 2000.5 });
    expect(await scene.refresh()).toEqual({ outcome: 'rebuilt', appended: true });
    expect(scene.types()).toEqual(['run.initialized', 'progress.rebuilt']);
    expect(scene.state.run).toMatchObject({
      spec: 'parser',
      source: { kind: 'file', path: PATH },
      version,
      document: { fingerprint: { mtimeMs: 2000.5, hash: hashOf(TWO) } },
    });
    expect(completedTasks(scene)).toEqual(['1']);
    expect(await scene.refresh()).toEqual({ outcome: 'unchanged' });
    expect(scene.asked).toEqual({ modified: 2, read: 1 });
  });

  it('a file that is committed after it was read gets its version, and git is asked again only later', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    const scene = following();
    scene.version = { file: 'tasks.md', commits: [] };
    Object.assign(scene.file, { text: TWO, mtimeMs: 2000 });
    await scene.refresh();
    expect(await scene.refresh()).toEqual({ outcome: 'unchanged' });
    scene.version = { file: 'tasks.md', commits: ['one'] };
    expect(await scene.refresh()).toEqual({ outcome: 'unchanged' });
    now.mockReturnValue(10_001);
    const { state } = await scene.tracker.seen(scene.state);
    expect(state.run?.version).toEqual(scene.version);
    expect(await scene.refresh()).toEqual({ outcome: 'rebuilt', appended: true });
    expect(scene.state.run).toMatchObject({
      version: scene.version,
      document: { fingerprint: { mtimeMs: 2000 } },
    });
    expect(await scene.refresh()).toEqual({ outcome: 'unchanged' });
  });

  it('a file with the same text and a new time is read, and appends nothing', async () => {
    const scene = following();
    scene.file.mtimeMs = 2000;
    expect(await scene.refresh()).toEqual({ outcome: 'unchanged' });
    expect(scene.types()).toEqual(['run.initialized']);
    expect(scene.asked).toEqual({ modified: 1, read: 1 });
  });

  it('a file that was changed back, with its old time as well, is read again each time', async () => {
    const scene = following();
    Object.assign(scene.file, { text: TWO, mtimeMs: 2000 });
    await scene.refresh();
    Object.assign(scene.file, { text: ONE, mtimeMs: 1000 });
    expect(await scene.refresh()).toEqual({ outcome: 'rebuilt', appended: true });
    expect(completedTasks(scene)).toEqual([]);
    expect(scene.types()).toHaveLength(3);
  });

  it('a changed file that twenty callers find at once is appended by one of them', async () => {
    const scene = following();
    Object.assign(scene.file, { text: TWO, mtimeMs: 2000 });
    const all = await Promise.all(Array.from({ length: 20 }, () => scene.refresh()));
    expect(all.every(({ outcome }) => outcome === 'rebuilt')).toBe(true);
    expect(all.filter((each) => each.outcome === 'rebuilt' && each.appended)).toHaveLength(1);
    expect(scene.types()).toEqual(['run.initialized', 'progress.rebuilt']);
  });

  it('a file that is replaced while it is read changes nothing', async () => {
    const scene = following();
    Object.assign(scene.file, { text: TWO, mtimeMs: 2000 });
    scene.whileReading = () => {
      scene.whileReading = () => {};
      scene.follow('specs/other.md', '- [x] 7. another run\n', 5000);
    };
    await scene.refresh();
    expect(scene.types()).toEqual(['run.initialized', 'run.initialized']);
    expect(completedTasks(scene)).toEqual(['7']);
  });

  it('the requirements document and the design beside a new text are read with it', async () => {
    const scene = following();
    scene.beside['specs/requirements.md'] = {
      text: '### Requirement 1: Lexer\n\n#### Acceptance Criteria\n\n1. IT SHALL read UTF-8\n2. IT SHALL be fast\n',
      mtimeMs: 1,
    };
    scene.beside['specs/design.md'] = { text: '# Design', mtimeMs: 1 };
    Object.assign(scene.file, { text: `${TWO}  - _Requirements: 1.2, 7_\n`, mtimeMs: 2000 });
    await scene.refresh();
    expect(scene.state.run?.document).toMatchObject({
      requirementTexts: { '1.2': 'IT SHALL be fast' },
      design: 'specs/design.md',
    });
  });
});

describe('a file that cannot be used', () => {
  it('a file that became unreadable is a failure with its path, and leaves what was read before', async () => {
    const scene = following();
    scene.file.fault = 'EACCES: permission denied';
    const failed = { outcome: 'failed', message: `${PATH}: EACCES: permission denied` };
    expect(await scene.refresh()).toEqual(failed);
    expect(await scene.refresh()).toEqual(failed);
    expect(scene.types()).toEqual(['run.initialized']);
    expect(scene.state.run?.document.tasks).toHaveLength(2);
  });

  it('a file that holds no tasks now is a failure, until it holds some again', async () => {
    const scene = following();
    Object.assign(scene.file, { text: PROSE, mtimeMs: 2000 });
    expect(await scene.refresh()).toMatchObject({
      outcome: 'failed',
      message: expect.stringMatching(/^specs\/tasks\.md holds no task that can be read \(line \d+: /),
    });
    expect(scene.types()).toEqual(['run.initialized']);
    Object.assign(scene.file, { text: TWO, mtimeMs: 3000 });
    expect(await scene.refresh()).toEqual({ outcome: 'rebuilt', appended: true });
  });

  it('a file whose event is too large is a failure, and keeps no prompt from being made', async () => {
    const scene = following();
    Object.assign(scene.file, { text: TWO, mtimeMs: 2000 });
    scene.refusal = new ThroughlineError('too_large', 'more than the server takes');
    const message = `${PATH}: more than the server takes`;
    expect(await scene.refresh()).toEqual({ outcome: 'failed', message });
    // It is not mistaken for one that was processed.
    expect(await scene.refresh()).toEqual({ outcome: 'failed', message });
    scene.refusal = undefined;
    expect(await scene.refresh()).toEqual({ outcome: 'rebuilt', appended: true });
  });

  it('a missing log is an error', async () => {
    const scene = following();
    Object.assign(scene.file, { text: TWO, mtimeMs: 2000 });
    scene.refusal = new ThroughlineError('unavailable', 'nobody answers');
    await expect(scene.refresh()).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a text', () => {
  it.each([
    ['prose', PROSE],
    ['nothing', ''],
  ])('a text of %s is refused with its name and a line', (_what, text) => {
    expect(read(text, PATH, 0)).toEqual({
      ok: false,
      code: 'progress_ledger_parse_failed',
      message: expect.stringMatching(/^specs\/tasks\.md holds no task that can be read \(line \d+: .+\)$/),
      fix: expect.stringContaining('- [ ] Write the parser'),
    });
  });
});

describe('the text of a tasks document', () => {
  it.each(['\n', '\r\n', '\r'])(
    'a tasks document with too many lines is refused unread, with lines that end in %j',
    (lineBreak) => {
      const plan = (lines: number) =>
        Array.from({ length: lines }, (_, at) => (at % 10 === 0 ? '- [ ] a' : '')).join(lineBreak);
      expect(read(plan(5001), 'tasksText', 0)).toEqual({
        ok: false,
        code: 'plan_too_long',
        message:
          'tasksText has 5001 lines, the limit is 5000: take out what is done, or split it into several plans',
      });
      expect(read(plan(5000), 'tasksText', 0)).toMatchObject({ ok: true });
    },
  );

  it('a tasks document with more tasks than fit into one event is refused, with their number and what to do', () => {
    const first = Array.from({ length: 150 }, (_, at) => `${at + 1}`).join(', ');
    const text = Array.from({ length: 4000 }, (_, at) => `- [ ] ${at + 1} a (depends on ${first})`).join(
      '\n',
    );
    expect(read(text, 'tasksText', 0)).toMatchObject({
      ok: false,
      code: 'too_large',
      message: expect.stringMatching(
        /^tasksText has 4000 tasks, .* limit is 900000: leave out what is done, or split it$/,
      ),
    });
  });
});
