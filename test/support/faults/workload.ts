import { implemented, reviewed } from '../system.js';
import type { Chance } from './random.js';

/** One result as an agent runtime publishes it. */
export interface Publication {
  readonly subject: string;
  readonly body: Uint8Array;
  /** Under which it is published again until there is a PubAck. */
  readonly id: string;
  /** Which result it is: the same for one that is published again later. Default: its id. */
  readonly result?: string;
}

export interface WorkloadOptions {
  /** At most 64, the disorder that the fold mends exactly: then every end can be compared byte for byte. */
  readonly perSession: number;
  readonly sessions: readonly string[];
  /** Share of publications that cannot be used. Default: 0.1. */
  readonly invalid?: number;
  /**
   * Share of publications that are an earlier one of their session once more: under the same id, or under another one if
   * its body names the result. Default: 0.2.
   */
  readonly again?: number;
}

/** Results of both roles on the same few tasks and files, the sessions taking turns, and some that are invalid. */
export function publications(chance: Chance, options: WorkloadOptions): Publication[] {
  const { sessions, perSession, invalid = 0.1, again = 0.2 } = options;
  const made: Publication[] = [];
  for (let index = 0; index < perSession; index += 1) {
    for (const session of sessions) {
      const id = `${session}:${index}`;
      const [first, ...others] = made.filter(({ subject }) => subject.startsWith(`dispatch.${session}.`));
      if (first !== undefined && chance.happens(again)) {
        const same = chance.pick([first, ...others]);
        const isNamed = new TextDecoder().decode(same.body).includes('"result_id"');
        made.push(isNamed && chance.happens(0.7) ? { ...same, id } : same);
        continue;
      }
      const { role, text } = chance.happens(invalid) ? unusable(chance) : usable(chance, index, id);
      const body = new TextEncoder().encode(text);
      made.push({ subject: `dispatch.${session}.${role}`, body, id, result: id });
    }
  }
  return made;
}

function usable(chance: Chance, index: number, id: string): { role: string; text: string } {
  const task = `t${chance.between(1, 5)}`;
  const named = chance.happens(0.6) ? { result_id: id } : {};
  if (chance.happens(0.6)) {
    const files_modified = [`src/f${chance.between(1, 4)}.ts`];
    const blockers = chance.happens(0.2) ? [`waits for ${chance.between(1, 3)}`] : [];
    const result = {
      ...implemented(task, { summary: `step ${index}`, files_modified, blockers }),
      ...named,
    };
    return { role: 'implementer', text: JSON.stringify(result) };
  }
  const assessment = chance.pick(['approved', 'needs_changes', 'blocked']);
  const required_fixes = assessment === 'approved' ? [] : [`fix ${index}`, `mend ${chance.between(1, 3)}`];
  return {
    role: 'reviewer',
    text: JSON.stringify({ ...reviewed(task, assessment, { required_fixes }), ...named }),
  };
}

function unusable(chance: Chance): { role: string; text: string } {
  const role = chance.pick(['implementer', 'reviewer', 'observer', 'spectator']);
  const text = chance.pick(['{"task_id":', 'done', '{"task_id":"1","status":"perhaps"}', '']);
  return { role, text };
}
