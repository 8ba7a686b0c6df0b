import type { Token } from '../../contracts/names.js';
import { learningsCheckpoint } from '../../learnings/learnings-checkpoint.js';
import { withRenamed } from '../../learnings/rename-in-learnings.js';
import type { LearningsPorts } from './forget-learnings.js';

/** Has learnings of all projects name a session by its new name. To do it again harms nothing. */
export async function renameInLearnings(
  ports: Pick<LearningsPorts, 'learnings' | 'projects' | 'command'>,
  from: Token,
  to: Token,
): Promise<void> {
  for (const project of await ports.learnings.projects()) {
    const { state } = (await ports.projects.load(project)).folded;
    if (withRenamed(state, from, to) === state) continue;
    await ports.command(project, 'rename', (current) => ({
      kind: 'append',
      event: {
        type: 'checkpoint',
        data: learningsCheckpoint(withRenamed(current, from, to), 'session_renamed'),
      },
      reply: () => ({}),
    }));
  }
}
