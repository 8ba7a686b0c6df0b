import type { Command } from 'commander';
import picocolors from 'picocolors';
import { ThroughlineError } from '../../contracts/errors.js';
import type { ThroughlineClient } from '../../sdk/throughline-client.js';
import { type Cli, cliOf, coloured, examples, note, out, withClient } from '../command-context.js';
import { Interrupted } from '../output.js';
import { deciderIn, deciding, type ProjectOptions, projectIn, shownOf } from '../session-argument.js';
import { openTerminal } from './raw-terminal.js';
import { type Review, type ReviewDecision, startReview } from './review-steps.js';
import { type ReviewRequests, runReview } from './run-review.js';

/** As many proposals as one request may list. */
const MOST = 1000;

/** `throughline learning review`: one key for each decision. */
export function addReview(proposals: Command): void {
  deciding(proposals.command('review'))
    .description(
      'Shows the pending proposals one by one on a terminal, and takes one key for each: accept, reject, edit,\n' +
        'skip, … Each decision is sent at once, so you can leave a review at any moment. With --json the last line\n' +
        'is a tally.',
    )
    .addHelpText(
      'after',
      examples('throughline learning review', 'throughline learning review --project shop'),
    )
    .action(async (options: ProjectOptions, self: Command) => {
      const cli = cliOf(self);
      if (!process.stdin.isTTY || !process.stdout.isTTY) {
        throw new ThroughlineError(
          'usage',
          'review needs a terminal: use "throughline learning ls --status pending --json", "learning accept ID" and "learning reject ID"',
        );
      }
      const { phase, tally } = await withClient(cli, (client) => review(cli, client, options));
      if (options.json) out(JSON.stringify(tally));
      if (phase.kind !== 'over') return;
      if (phase.fault !== undefined) throw phase.fault;
      if (phase.exitCode !== undefined) throw new Interrupted(phase.exitCode);
    });
}

async function review(cli: Cli, client: ThroughlineClient, options: ProjectOptions): Promise<Review> {
  const request = { ...projectIn(cli, options), limit: MOST };
  const { proposals, project, total } = await client.proposals.list(request);
  // The oldest first: what came later may say the same.
  const start = startReview(proposals.map(({ id }) => id).reverse());
  if (proposals.length === 0) {
    note(`-- project ${project} has no pending proposals: nothing to review`);
    return start;
  }
  if (total > proposals.length)
    note(
      `-- the newest ${shownOf(proposals.length, total, 'pending proposal')}: the others come with the next review`,
    );
  const terminal = openTerminal(process.stdin, process.stdout);
  try {
    const requests = requestsOn(client, projectIn(cli, options), deciderIn(options));
    return await runReview(start, { terminal, requests, pc: picocolors.createColors(coloured(cli)) });
  } finally {
    terminal.close();
  }
}

function requestsOn(
  { proposals, learnings }: ThroughlineClient,
  project: { readonly project?: string },
  decider: { readonly by?: string },
): ReviewRequests {
  return {
    show: (id) => proposals.show({ ...project, id }),
    decide: (id, decision: ReviewDecision) => {
      const request = { ...project, ...decider, id };
      if (decision.kind === 'edited') return learnings.edit({ ...request, content: decision.content });
      if (decision.kind === 'rejected') return proposals.reject(request);
      const { kind } = decision;
      return proposals.accept({ ...request, merge: kind === 'merged', separate: kind === 'separate' });
    },
  };
}
