import { oneLine } from '../../shared/text.js';
import { compiled } from './context-tool.js';
import type { Memory } from './memory.js';
import { boardAndPlan } from './task-tool.js';

const MOST_LEARNINGS = 100;

/** What a user may attach to a chat, each as text. */
export const RESOURCES: Readonly<
  Record<
    string,
    {
      readonly title: string;
      readonly description: string;
      readonly read: (memory: Memory) => Promise<string>;
    }
  >
> = {
  session: {
    title: 'Session',
    description: 'What an agent reads at the start of this session',
    read: async (memory) => (await compiled(memory, {})).prompt,
  },
  plan: {
    title: 'Board and plan',
    description: 'The tasks of this session, and the progress of its plan',
    read: boardAndPlan,
  },
  learnings: {
    title: 'Learnings',
    description: 'What the project has learned, the newest first',
    read: learningsOf,
  },
};

async function learningsOf({ session, project, client: connect }: Memory): Promise<string> {
  const client = await connect();
  const own = project ?? (await client.tools.sessionShow({ session })).session.project;
  const { learnings, total } = await client.learnings.list({ project: own, limit: MOST_LEARNINGS });
  if (total === 0) return 'The project has no learnings yet.';
  const lines = learnings.map(({ type, content }) => `- ${type}: ${oneLine(content)}`);
  return [...lines, ...(total > lines.length ? [`and ${total - lines.length} older ones`] : [])].join('\n');
}
