import type { CompileRequest } from '../../contracts/compile-request.js';
import { Durations } from '../../monitoring/histogram.js';
import type { Collector } from '../../monitoring/metric-registry.js';
import { COMPILE_STAGES, type CompileStage } from '../../monitoring/metric-table.js';
import { recordOf } from '../../shared/record-of.js';

type Kind = CompileRequest['kind'];
type ByStage = Readonly<Record<CompileStage, Durations>>;

/** How long compiling takes, by kind of prompt and by step. */
export class CompileTimes {
  readonly #kinds = new Map<Kind, ByStage>();

  /** Begins a compile: each lap is the time since the one before it. */
  begin(kind: Kind, started: number): Laps {
    let stages = this.#kinds.get(kind);
    if (stages === undefined) {
      stages = recordOf(COMPILE_STAGES, () => new Durations());
      this.#kinds.set(kind, stages);
    }
    return new Laps(stages, started);
  }

  /** Prompts compiled, and the milliseconds that they took together. */
  get totals(): { readonly count: number; readonly ms: number } {
    const all = [...this.#kinds.values()].map(({ total }) => total);
    return {
      count: all.reduce((sum, { counts }) => sum + counts.reduce((inner, each) => inner + each, 0), 0),
      ms: all.reduce((sum, { sum: seconds }) => sum + seconds * 1000, 0),
    };
  }

  readonly collect: Collector = () => ({
    throughline_compile_duration_seconds: [...this.#kinds].flatMap(([kind, stages]) =>
      COMPILE_STAGES.map((stage) => [{ kind, stage }, stages[stage]] as const),
    ),
  });
}

/** The steps of one compile. */
export class Laps {
  readonly #stages: ByStage;
  readonly #started: number;
  #last: number;

  constructor(stages: ByStage, started: number) {
    this.#stages = stages;
    this.#started = started;
    this.#last = started;
  }

  /** A step has ended. */
  lap(stage: Exclude<CompileStage, 'total'>): void {
    const now = performance.now();
    this.#stages[stage].observe(now - this.#last);
    this.#last = now;
  }

  /** The prompt is there; gives the milliseconds that it took. */
  done(): number {
    const ms = performance.now() - this.#started;
    this.#stages.total.observe(ms);
    return ms;
  }
}
