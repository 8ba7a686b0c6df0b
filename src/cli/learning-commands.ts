import { REQUESTS, type ReplyTo } from '../contracts/requests.js';
import type { Learning, Proposal, RankedLearning } from '../memory/learnings/learnings-state.js';
import { counted, quoted } from '../shared/text.js';
import type { Command } from './cli-command.js';
import { type Cli, cliOf, note, out, withClient } from './command-context.js';
import { type Cell, noteNextPage } from './output.js';
import { addFields, addRequests, printTable } from './request-command.js';
import { onProject, type ProjectOptions, projectIn, projectOption, shownOf } from './session-argument.js';
import type { Colors } from './show-reply.js';

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
      show: ({ results }, pc) => results.map((result) => rankedLine(pc, result)),
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
    'learning.retract': { show },
  });
}

interface ListOptions extends ProjectOptions {
  readonly status?: string;
}

function addList(learning: Command): void {
  const list = learning
    .command('ls')
    .summary('list the pending proposals and the learnings')
    .description(
      'Lists what waits for a decision, then the learnings of a project, the newest first. With --status it lists proposals.',
    );
  const { status, limit, cursor } = REQUESTS['proposal.list'].shape;
  const fieldsIn = addFields(list, {
    status: status.unwrap().optional().describe('list only proposals with this status'),
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
      const request = { ...projectIn(cli, options), ...fieldsIn() };
      const name = options.status === undefined ? 'learning.list' : 'proposal.list';
      // The first page begins with what waits for a decision.
      const isFirst = name === 'learning.list' && !('cursor' in request);
      await withClient(cli, async (client) => {
        const pending = isFirst ? await client.send('proposal.list', request) : undefined;
        const reply = await client.send(name, request);
        printList(cli, reply, options, pending);
        noteNextPage(list, reply.next);
      });
    });
}

function printList(
  cli: Cli,
  reply: ReplyTo<'learning.list'> | ReplyTo<'proposal.list'>,
  { json, status }: ListOptions,
  pending?: ReplyTo<'proposal.list'>,
): void {
  const waiting = pending?.proposals ?? [];
  if (json) {
    out(JSON.stringify(pending === undefined ? reply : { ...reply, pending: waiting }));
    return;
  }
  const found = 'proposals' in reply ? reply.proposals : [...waiting, ...reply.learnings];
  printTable(cli, ['ID', 'TYPE', 'SURE', 'TEXT'], found, (pc, entry) =>
    learningCells(pc, entry, pending !== undefined),
  );
  const option = projectOption(cli, reply.project);
  if (pending !== undefined && waiting.length > 0) note(proposalsNote(pending, 'pending', option));
  note('proposals' in reply ? proposalsNote(reply, status, option) : learningsNote(reply, option));
}

function learningsNote({ learnings, project, total }: ReplyTo<'learning.list'>, option: string): string {
  return learnings.length === 0
    ? `-- project ${project} has no learnings yet: "throughline learning propose TEXT${option}" proposes one`
    : `-- ${shownOf(learnings.length, total, 'learning')} of project ${project}`;
}

function proposalsNote(
  { proposals, project, total, rulesPaused, sessionsPaused }: ReplyTo<'proposal.list'>,
  status: string | undefined,
  option: string,
): string {
  const kind = status === undefined || status === 'all' ? '' : `${status} `;
  if (proposals.length === 0)
    return `-- project ${project} has no ${kind}proposals: they come from notes and from recurring reviews; "throughline learning propose TEXT${option}" adds one`;
  const next = proposals.some((proposal) => proposal.status === 'pending')
    ? `: decide with "throughline learning accept ID${option}" or "learning reject ID${option}"`
    : '';
  const ofWhom = rulesPaused ? '' : ` of ${sessionsPaused?.slice(0, 5).join(', ')}`;
  const paused =
    rulesPaused || sessionsPaused
      ? `\n-- too many are pending: rules propose nothing more${ofWhom} until some are decided`
      : '';
  return `-- ${shownOf(proposals.length, total, `${kind}proposal`)} of project ${project}${next}${paused}`;
}

function shortId(id: string): string {
  return quoted(id).slice(0, 5);
}

function confidenceText(confidence: number | undefined): string {
  return confidence === undefined ? 'N/A' : confidence.toFixed(2);
}

/** @param among true in a list that also has learnings: a pending proposal is then marked as one */
export function learningCells(pc: Colors, entry: Learning | Proposal, among = false): Cell[] {
  const { id, type, confidence, content } = entry;
  const isNamed = 'status' in entry && (among || entry.status !== 'pending');
  const why = isNamed && entry.reason !== undefined ? `: ${quoted(entry.reason)}` : '';
  const decided = isNamed ? pc.dim(`  (${decisionText(entry)}${why})`) : '';
  return [
    { text: shortId(id), colour: pc.bold },
    { text: quoted(type), colour: pc.cyan },
    confidenceText(confidence).padStart(4),
    `${quoted(content)}${decided}`,
  ];
}

/** `[0.89] abc12  pattern         Run the linter`; without a score where only its age chose it. */
export function rankedLine(pc: Colors, { learning, score }: RankedLearning): string {
  const place = score === 0 ? '-     ' : `[${score.toFixed(2)}]`;
  return `${place} ${pc.bold(shortId(learning.id))}  ${pc.cyan(learning.type.padEnd(14))}  ${quoted(learning.content)}`;
}

export function proposalFields(pc: Colors, { proposal, learning, similar }: ReplyTo<'proposal.show'>) {
  const { session, dispatch, note } = proposal.source;
  const source = Object.entries({ session, result: dispatch, note }).filter(
    ([, value]) => value !== undefined,
  );
  const fields: [string, string | null | undefined][] = [
    ['id', proposal.id],
    ['status', decisionText(proposal)],
    ['type', proposal.type],
    ['confidence', confidenceText(proposal.confidence)],
    ['content', proposal.content],
    ['now', learning && learning.content !== proposal.content ? learning.content : undefined],
    ['tags', proposal.tags.join(', ') || undefined],
    ['method', proposal.method],
    ['source', source.map((part) => part.join(' ')).join(', ') || undefined],
    ['proposed', proposal.extractedAt],
    ['reason', proposal.reason],
    [
      'similar',
      similar && `${shortId(similar.learning)} (${similar.similarity.toFixed(2)}) ${similar.content}`,
    ],
    ...proposal.evidence.map(({ session, task, dispatch }): [string, string] => [
      'evidence',
      `session ${session}, task ${task}, result ${dispatch}`,
    ]),
  ];
  return fields
    .flatMap(([name, value]) => (value == null ? [] : [`${pc.dim(name.padEnd(11))}  ${quoted(value)}`]))
    .join('\n');
}

function decisionText({ status, decidedBy, decidedAt, mergedInto }: Proposal): string {
  if (status === 'pending') return status;
  const merged = mergedInto === undefined ? '' : `, merged into ${shortId(mergedInto)}`;
  return quoted(`${status} by ${decidedBy ?? 'unknown'} at ${decidedAt ?? 'an unknown time'}${merged}`);
}

export function outcomeLine(pc: Colors, { proposal, learning }: ReplyTo<'proposal.show'>): string {
  const { id, content, status, mergedInto } = proposal;
  const done = mergedInto === undefined ? status : `merged into ${shortId(mergedInto)}`;
  return `${pc.bold(shortId(id))} ${done}: ${quoted(learning?.content ?? content)}`;
}

export function proposedLine(pc: Colors, reply: ReplyTo<'learning.propose'>): string {
  const { proposal, learning, existing } = reply;
  const what = !existing ? 'proposed' : learning ? 'is a learning already' : 'is proposed already';
  return `${pc.bold(shortId(proposal.id))} ${what}: ${quoted(learning?.content ?? proposal.content)}`;
}
