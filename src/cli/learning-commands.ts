import { usageError } from '../contracts/errors.js';
import { REQUESTS, type ReplyTo } from '../contracts/requests.js';
import { counted } from '../shared/text.js';
import type { Command } from './cli-command.js';
import { type Cli, cliOf, note, out, withClient } from './command-context.js';
import { nextPageLines } from './output.js';
import { addFields, addRequests, printTable } from './request-command.js';
import { onProject, type ProjectOptions, projectIn, projectOption, shownOf } from './session-argument.js';
import {
  LEARNING_HEADINGS,
  learningCells,
  learningLine,
  outcomeLine,
  proposalFields,
  proposedLine,
  rankedLine,
  shortId,
} from './show-learning.js';
import { type Colors, coloursOf } from './show-reply.js';

export function learningCommand(program: Command): void {
  const learning = program
    .command('learning')
    .description(
      'Proposals come from notes, from what reviewers demand again and again, and from people. A person accepts or rejects\n' +
        'them. Only accepted ones, the learnings, reach prompts.',
    )
    .examples(
      'throughline learning ls',
      'throughline learning accept abc12',
      'throughline learning search "write tests"',
    );
  addList(learning);
  const show = (reply: ReplyTo<'proposal.show'>, pc: Colors) => [outcomeLine(pc, reply)];
  addRequests(learning, {
    'learning.list': false,
    'proposal.list': false,
    'learning.search': {
      show: ({ results }, pc) => results.map((each) => rankedLine(pc, each)),
      remark: ({ results, total, project, method }) =>
        `${results.length} of ${counted(total, 'learning')} of project ${project}, ${method}`,
    },
    'proposal.show': { show: (reply, pc) => [proposalFields(pc, reply)] },
    'learning.propose': {
      show: (reply, pc) => [proposedLine(pc, reply)],
      remark({ proposal: { id, status }, project }, cli) {
        const accept = `throughline learning accept ${shortId(id)}${projectOption(cli, project)}`;
        return status === 'pending' ? `"${accept}" makes it a learning of project ${project}` : undefined;
      },
    },
    'proposal.accept': { show },
    'proposal.reject': { show },
    'learning.edit': {
      show: ({ learning: changed, proposal }, pc) => [learningLine(pc, changed ?? proposal)],
    },
    'learning.retract': { show },
    'learning.supersede': { show },
  });
}

interface ListOptions extends ProjectOptions {
  readonly status?: 'pending' | 'accepted' | 'rejected' | 'all';
  readonly retired?: boolean;
}

function addList(learning: Command): void {
  const list = learning
    .command('ls')
    .summary('list the pending proposals and the learnings')
    .description(
      'Lists what waits for a decision, then the learnings of a project, the newest first. With --status it lists proposals.',
    );
  const { status, limit, cursor } = REQUESTS['proposal.list'].shape;
  const { retired } = REQUESTS['learning.list'].shape;
  const fieldsIn = addFields(list, {
    status: status.unwrap().optional().describe('list only proposals with this status'),
    retired,
    limit,
    cursor,
  });
  onProject(list)
    .examples(
      'throughline learning ls',
      'throughline learning ls --status pending',
      'throughline learning ls --project shop --json',
    )
    .action(async (options: ListOptions) => {
      const cli = cliOf(list);
      const asked = { ...projectIn(cli, options), ...fieldsIn() };
      const ofProposals = options.status !== undefined;
      if (ofProposals && options.retired) throw usageError('--retired is for learnings: leave out --status');
      await withClient(cli, async (client) => {
        if (ofProposals) {
          const next = printList(cli, await client.send('proposal.list', asked), options);
          for (const line of nextPageLines(list, next)) note(line);
          return;
        }
        // The first page begins with what waits for a decision.
        const { cursor: from, retired: _, ...common } = asked as Asked;
        const isFirst = from === undefined && options.retired !== true;
        const pending = isFirst ? await client.send('proposal.list', common) : undefined;
        const next = printList(cli, await client.send('learning.list', asked), options, pending);
        for (const line of nextPageLines(list, next)) note(line);
      });
    });
}

function printList(
  cli: Cli,
  reply: ReplyTo<'learning.list'> | ReplyTo<'proposal.list'>,
  { json, status, retired }: ListOptions,
  pending?: ReplyTo<'proposal.list'>,
): string | undefined {
  const waiting = pending?.proposals ?? [];
  if (json) out(JSON.stringify(pending === undefined ? reply : { ...reply, pending: waiting }));
  else {
    const found = 'proposals' in reply ? reply.proposals : [...waiting, ...reply.learnings];
    const pc = coloursOf(cli);
    printTable(
      cli,
      LEARNING_HEADINGS,
      found.map((each) => learningCells(pc, each, pending !== undefined)),
    );
    const option = projectOption(cli, reply.project);
    if (pending !== undefined && waiting.length > 0) note(proposalsNote(pending, 'pending', option));
    note(
      'proposals' in reply
        ? proposalsNote(reply, status ?? 'pending', option)
        : learningsNote(reply, retired === true, option),
    );
  }
  return reply.next;
}

function learningsNote(
  { learnings, project, total }: ReplyTo<'learning.list'>,
  retired: boolean,
  option: string,
): string {
  if (learnings.length > 0) {
    const kind = retired ? 'retired learning' : 'learning';
    return `-- ${shownOf(learnings.length, total, kind)} of project ${project}`;
  }
  if (retired) return `-- project ${project} has no retired learnings`;
  return `-- project ${project} has no learnings yet: "throughline learning propose TEXT${option}" proposes one`;
}

function proposalsNote(
  { proposals, project, total, rulesPaused, sessionsPaused }: ReplyTo<'proposal.list'>,
  status: string,
  option: string,
): string {
  const kind = status === 'all' ? '' : `${status} `;
  if (proposals.length === 0) {
    const origin =
      status === 'accepted' || status === 'rejected'
        ? `"throughline learning ls${option}" shows what waits for a decision`
        : `they come from notes and from recurring reviews; "throughline learning propose TEXT${option}" adds one`;
    return `-- project ${project} has no ${kind}proposals: ${origin}`;
  }
  const next = proposals.some((each) => each.status === 'pending')
    ? `: decide with "throughline learning accept ID${option}" or "learning reject ID${option}"`
    : '';
  const paused = rulesPaused
    ? '\n-- too many are pending: rules propose nothing more until some are decided'
    : sessionsPaused
      ? `\n-- too many are pending: rules propose nothing more of ${sessionsPaused.slice(0, 5).join(', ')} until some are decided`
      : '';
  return `-- ${shownOf(proposals.length, total, `${kind}proposal`)} of project ${project}${next}${paused}`;
}

type Asked = Readonly<Record<string, unknown>>;
