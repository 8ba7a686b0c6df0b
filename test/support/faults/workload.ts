import { implemented, reviewed } from '../system.js';
import type { Chance } from './random.js';

/** One result as an agent runtime publishes it. */
export interface Publication {
  readonly subject: string;
  readonly body: Uint8Array;
  /** Under which it is published again until there is a PubAck. */
  readonly id: string;
}

export interface WorkloadOptions {
  /** At most 64, the disorder that the fold mends exactly: then every end can be compared byte for byte. */
  readonly perSession: number;
  readonly sessions: readonly string[];
  /** Share of publications that cannot be used. Default: 0.1. */
  readonly invalid?: number;
}

/** Results of both roles on the same few tasks and files, the sessions taking turns, and some that are invalid. */
export function publications(chance: Chance, options: WorkloadOptions): Publication[] {
  const { sessions, perSession, invalid = 0.1 } = options;
  const made: Publication[] = [];
  for (let index = 0; index < perSession; index += 1) {
    for (const session of sessions) {
      const { role, text } = chance.happens(invalid) ? unusable(chance) : usable(chance, index);
      const body = new TextEncoder().encode(text);
      made.push({ subject: `dispatch.${session}.${role}`, body, id: `${session}:${index}` });
    }
  }
  return made;
}

function usable(chance: Chance, index: number): { role: string; text: string } {
  const task = `t${chance.between(1, 5)}`;
  if (chance.happens(0.6)) {
    const files_modified = [`src/f${chance.between(1, 4)}.ts`];
    const blockers = chance.happens(0.2) ? [`waits for ${chance.between(1, 3)}`] : [];
    const result = implemented(task, { summary: `step ${index}`, files_modified, blockers });
    return { role: 'implementer', text: JSON.stringify(result) };
  }
  const assessment = chance.pick(['approved', 'needs_changes', 'blocked']);
  const required_fixes = assessment === 'approved' ? [] : [`fix ${index}`, `mend ${chance.between(1, 3)}`];
  return { role: 'reviewer', text: JSON.stringify(reviewed(task, assessment, { required_fixes })) };
}

function unusable(chance: Chance): { role: string; text: string } {
  const role = chance.pick(['implementer', 'reviewer', 'observer']);
  const text = chance.pick(['{"task_id":', 'done', '{"task_id":"1","status":"perhaps"}', '']);
  return { role, text };
}
