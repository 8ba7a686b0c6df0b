import type { Command } from 'commander';
import type { LearningReply } from '../contracts/replies/learning-reply.js';
import { counted } from '../shared/counted.js';
import { examples } from './command-context.js';
import { addRequest } from './learning-request.js';
import { coloursOf, nextPage, projectOption, shownOf } from './project-options.js';
import { learningLine, outcomeLine, proposedLine, rankedLine, shortId } from './show-learning.js';

/** `throughline learnings …`: what a project has learned; what waits for a decision is under `proposals`. */
export function learningsCommand(program: Command): void {
  const learnings = program
    .command('learnings')
    .description('Learnings are proposals that a person has accepted. Only learnings reach prompts.')
    .addHelpText('after', examples('throughline learnings ls', 'throughline learnings search "write tests"'));

  addRequest(learnings, 'ls', 'learning.list', {
    show: (reply, cli, { retired }) => ({
      answer: reply.learnings.map((each) => learningLine(coloursOf(cli), each)),
      note: listed(reply, retired === true, projectOption(cli, reply.project)),
    }),
  });
  addRequest(learnings, 'search', 'learning.search', {
    show: ({ results, total, project, method }, cli) => ({
      answer: results.map((each) => rankedLine(coloursOf(cli), each)),
      note: `-- ${results.length} of ${counted(total, 'learning')} of project ${project}, ${method}`,
    }),
  });
  addRequest(learnings, 'propose', 'learning.propose', {
    show: (reply, cli) => {
      const { id, status } = reply.proposal;
      const accept = `throughline proposals accept ${shortId(id)}${projectOption(cli, reply.project)}`;
      return {
        answer: [proposedLine(coloursOf(cli), reply)],
        note:
          status === 'pending' ? `-- "${accept}" makes it a learning of project ${reply.project}` : undefined,
      };
    },
  });
  addRequest(learnings, 'edit', 'learning.edit', {
    show: ({ learning, proposal }, cli) => ({ answer: [learningLine(coloursOf(cli), learning ?? proposal)] }),
  });
  addRequest(learnings, 'supersede', 'learning.supersede', {
    show: (reply, cli) => ({ answer: [outcomeLine(coloursOf(cli), reply)] }),
  });
  addRequest(learnings, 'retract', 'learning.retract', {
    show: (reply, cli) => ({ answer: [outcomeLine(coloursOf(cli), reply)] }),
  });
}

function listed(
  { learnings, project, total, next }: LearningReply<'learning.list'>,
  retired: boolean,
  option: string,
): string {
  if (learnings.length > 0) {
    const kind = retired ? 'retired learning' : 'learning';
    return `-- ${shownOf(learnings.length, total, kind)} of project ${project}${nextPage(next)}`;
  }
  if (retired) return `-- project ${project} has no retired learnings`;
  return `-- project ${project} has no learnings yet: "throughline proposals ls${option}" shows what waits for a decision`;
}
