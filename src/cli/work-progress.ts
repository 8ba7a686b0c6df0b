import { clippedToColumns, visible } from '../shared/terminal-text.js';
import type { RunPlanEvent } from '../work/run-types.js';
import { note, out } from './output.js';
import { eventLine, type LiveTask, liveLine } from './show-work.js';

/** Shows how far a run is. */
interface WorkProgress {
  tell(event: RunPlanEvent): void;
  /** Takes the live lines away. */
  end(): void;
}

/** JSON: an object a line on standard output. A terminal: one live line a task. Anywhere else: plain lines on standard error. */
export function workProgress(json: boolean): WorkProgress {
  if (json) return { tell: (event) => out(JSON.stringify(event)), end() {} };
  if (process.stderr.isTTY) return new LiveProgress();
  return {
    tell(event) {
      const line = eventLine(event);
      if (line !== undefined) note(line);
    },
    end() {},
  };
}

const REDRAW_MS = 1000;
/** What a live line says already. */
const QUIET: ReadonlySet<RunPlanEvent['type']> = new Set([
  'call-started',
  'task-started',
  'result',
  'checked',
]);

class LiveProgress implements WorkProgress {
  readonly #tasks = new Map<string, LiveTask>();
  #shown = 0;
  readonly #timer = setInterval(() => this.#draw(), REDRAW_MS).unref();

  tell(event: RunPlanEvent): void {
    const line = QUIET.has(event.type) && !this.#says(event) ? undefined : eventLine(event);
    this.#take(event);
    this.#draw(line);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#tasks.clear();
    this.#draw();
  }

  /** Repairs are said wherever one looks. */
  #says(event: RunPlanEvent): boolean {
    return event.type === 'result' && event.repaired !== undefined;
  }

  #take(event: RunPlanEvent): void {
    if (!('task' in event)) return;
    const now = performance.now();
    const nothing = { text: '', round: 1, doing: '', sinceMs: now, tokens: 0, findings: 0 };
    const known = this.#tasks.get(event.task) ?? { task: event.task, ...nothing };
    const set = (more: Partial<LiveTask>) => this.#tasks.set(event.task, { ...known, ...more });
    switch (event.type) {
      case 'task-started':
        return void set({ text: event.text, doing: 'begins' });
      case 'call-started':
        return void set({ round: event.round, doing: event.role, sinceMs: now });
      case 'call-ended':
        return void set({ tokens: known.tokens + (event.tokens ?? 0) });
      case 'checked':
        return void set({ round: event.round, doing: event.passed ? 'check passed' : 'check failed' });
      case 'result':
        return void set({ doing: event.verdict, findings: known.findings + event.findings });
      case 'task-ended':
        return void this.#tasks.delete(event.task);
      default:
    }
  }

  /** Writes a line that stays, and the live lines below it. */
  #draw(line?: string): void {
    const columns = Math.max(20, process.stderr.columns ?? 80);
    const now = performance.now();
    const live = [...this.#tasks.values()].map((each) =>
      clippedToColumns(visible(liveLine(each, now)), columns - 1),
    );
    const up = this.#shown > 0 ? `\u001b[${this.#shown}A` : '';
    const lines = [...(line === undefined ? [] : [visible(line)]), ...live];
    process.stderr.write(`${up}\r\u001b[J${lines.map((each) => `${each}\n`).join('')}`);
    this.#shown = live.length;
  }
}
