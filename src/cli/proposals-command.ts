import type { Command } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import type { LearningReply } from '../contracts/replies/learning-reply.js';
import { sameText } from '../memory/learnings/learning-text.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { oneLine } from '../shared/text.js';
import { examples } from './command-context.js';
import { type Asked, addRequest } from './learnings-command.js';
import { addReview } from './review/review-command.js';
import { coloursOf, nextPage, projectOption, shownOf } from './session-argument.js';
import { learningLine, outcomeLine, proposalFields, shortId } from './show-learning.js';

/** `throughline proposals …`: what becomes a learning when a person accepts it. */
export function proposalsCommand(program: Command): void {
  const proposals = program
    .command('proposals')
    .description(
      'Proposals come from notes, from what reviewers demand again and again, and from any person.',
    )
    .addHelpText('after', examples('throughline proposals ls', 'throughline proposals review'));

  addRequest(proposals, 'ls', 'proposal.list', {
    show: (reply, cli, { status }) => ({
      answer: reply.proposals.map((each) => learningLine(coloursOf(cli), each)),
      note: listed(reply, typeof status === 'string' ? status : 'pending', projectOption(cli, reply.project)),
    }),
  });
  addRequest(proposals, 'show', 'proposal.show', {
    show: (reply, cli) => ({ answer: [proposalFields(coloursOf(cli), reply)] }),
  });
  addRequest(proposals, 'accept', 'proposal.accept', {
    show: (reply, cli) => ({ answer: [outcomeLine(coloursOf(cli), reply)] }),
    explain: withWaysOut,
  });
  addRequest(proposals, 'reject', 'proposal.reject', {
    show: (reply, cli) => ({ answer: [outcomeLine(coloursOf(cli), reply)] }),
  });
  addReview(proposals);
}

function listed(
  { proposals, project, total, next: more, rulesPaused, sessionsPaused }: LearningReply<'proposal.list'>,
  status: string,
  option: string,
): string {
  const kind = status === 'all' ? '' : `${status} `;
  if (proposals.length === 0) {
    const origin =
      status === 'accepted' || status === 'rejected'
        ? `"throughline proposals review${option}" decides on pending ones`
        : `they come from notes and from recurring reviews; "throughline learnings propose TEXT${option}" adds one`;
    return `-- project ${project} has no ${kind}proposals: ${origin}`;
  }
  const next = proposals.some((each) => each.status === 'pending')
    ? `: "throughline proposals review${option}" decides on them one by one`
    : '';
  const paused = rulesPaused
    ? '\n-- too many are pending: rules propose nothing more until some are decided'
    : sessionsPaused
      ? `\n-- too many are pending: rules propose nothing more of ${sessionsPaused.slice(0, 5).join(', ')} until some are decided`
      : '';
  return `-- ${shownOf(proposals.length, total, `${kind}proposal`)} of project ${project}${next}${paused}${nextPage(more)}`;
}

/** The refusal of a near-duplicate in terms of the command line, with both ways out; any other fault unchanged. */
async function withWaysOut(
  fault: unknown,
  client: ThroughlineClient,
  { project, id }: Asked,
): Promise<unknown> {
  if (!(fault instanceof ThroughlineError) || fault.code !== 'near_duplicate') return fault;
  const { proposal, similar } = await client.proposals.show({
    id: String(id),
    ...(typeof project === 'string' && { project }),
  });
  if (similar === null) return fault;
  const same = sameText(proposal.content, similar.content);
  const how = same ? 'the same' : `nearly the same (${similar.similarity.toFixed(2)})`;
  const other = same ? 'or reject the proposal' : 'or --separate to keep both';
  return new ThroughlineError(
    'near_duplicate',
    `learning ${shortId(similar.learning)} says ${how}: ${JSON.stringify(oneLine(similar.content))}. ` +
      `Give --merge to add the evidence to it, ${other}`,
    { cause: fault },
  );
}
