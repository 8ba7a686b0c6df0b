import type { JetStreamManager } from 'nats';
import type { Token } from '../../contracts/names.js';
import type { SnapshotStore } from '../../engine/ports/session-log.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import { counted } from '../../shared/text.js';
import { ifExists } from '../connection/nats-errors.js';
import { REPAIR } from '../jetstream/dispatch-numbers.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** Snapshots that are read, of the longest logs: each costs one or two requests. */
const MAX_READ = 500;
const AT_A_TIME = 16;
const SHOWN = 10;

export interface ExaminedLog {
  readonly key: Token;
  readonly events: number;
  readonly stream: string;
  /** Last sequence of its stream when it was listed. */
  readonly last: number;
}

interface TailsExamined {
  readonly jsm: JetStreamManager;
  readonly kind: 'session' | 'project';
  readonly logs: readonly ExaminedLog[];
  readonly snapshots: Pick<SnapshotStore, 'load'>;
  readonly faults: readonly Finding[];
}

/** Finds logs that are behind their snapshots. */
export async function tailFindings(examined: TailsExamined): Promise<Finding[]> {
  const { jsm, kind, logs, snapshots, faults } = examined;
  const found = [...faults];
  const turns = new Semaphore(AT_A_TIME);
  const longest = logs.toSorted((one, other) => other.events - one.events).slice(0, MAX_READ);
  const read = longest.map(({ key, stream, last }) =>
    turns.run(async () => {
      const at = (await snapshots.load(key))?.sequence ?? 0;
      if (at <= last) return;
      // The snapshot may be newer than the list.
      const now = (await ifExists(jsm.streams.info(stream), `looking at stream ${stream}`))?.state.last_seq;
      if (now === undefined || at <= now) return;
      const message = `its stream is at ${now} and its snapshot at ${at}: it was restored from an earlier backup, and new events would not count`;
      found.push(fail(`${kind} ${key}`, message, REPAIR));
    }),
  );
  await Promise.all(read);
  if (found.length === 0) return [ok(`${kind}s`, counted(logs.length, kind))];
  const hidden = found.length - SHOWN;
  return [
    ...found.slice(0, SHOWN),
    ...(hidden > 0
      ? [warn(`${kind}s`, counted(hidden, 'further finding'), 'fix these first, then check again')]
      : []),
  ];
}
