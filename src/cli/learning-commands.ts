import { usageError } from '../contracts/errors.js';
import type { LearningEvidence, LearningSource } from '../contracts/learning-events.js';
import { REQUESTS, type ReplyTo } from '../contracts/requests.js';
import type {
  ListedLearning,
  Proposal,
  RankedLearning,
  Retirement,
} from '../memory/learnings/learnings-state.js';
import { counted, quoted } from '../shared/text.js';
import type { Command } from './cli-command.js';
import { type Cli, cliOf, note, out, withClient } from './command-context.js';
import { type Cell, inLine, nextPageLines } from './output.js';
import { addFields, addRequests, printTable } from './request-command.js';
import { onProject, type ProjectOptions, projectIn, projectOption, shownOf } from './session-argument.js';
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
      const request = { ...projectIn(cli, options), ...fieldsIn() };
      const ofProposals = options.status !== undefined;
      if (ofProposals && options.retired) throw usageError('--retired is for learnings: leave out --status');
      await withClient(cli, async (client) => {
        if (ofProposals) {
          const next = printList(cli, await client.send('proposal.list', request), options);
          for (const line of nextPageLines(list, next)) note(line);
          return;
        }
        // The first page begins with what waits for a decision.
        const { cursor: from, retired: _, ...common } = request as Asked;
        const isFirst = from === undefined && options.retired !== true;
        const pending = isFirst ? await client.send('proposal.list', common) : undefined;
        const next = printList(cli, await client.send('learning.list', request), options, pending);
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
      found.map((entry) => learningCells(pc, entry, pending !== undefined)),
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
  const next = proposals.some((proposal) => proposal.status === 'pending')
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

/** Returns the prefix of an id that prompts show and commands accept. */
function shortId(id: string): string {
  return quoted(id).slice(0, 5);
}

export function confidenceText(confidence: number | undefined): string {
  return confidence === undefined ? 'N/A' : confidence.toFixed(2);
}

/** `abc12  pattern         0.82  Run the linter`, with what was decided, or why it holds no more, behind it. */
export function learningLine(pc: Colors, entry: ListedLearning | Proposal): string {
  return inLine(learningCells(pc, entry), '  ');
}

const LEARNING_HEADINGS = ['ID', 'TYPE', 'SURE', 'TEXT'];

/** @param among true in a list that also has learnings: a pending proposal is then marked as one */
function learningCells(pc: Colors, entry: ListedLearning | Proposal, among = false): Cell[] {
  const { id, type, confidence, content } = entry;
  const became = becameText(entry) ?? (among && 'status' in entry ? entry.status : undefined);
  const decided = became === undefined ? '' : pc.dim(`  (${became})`);
  return [
    { text: shortId(id), colour: pc.bold },
    { text: quoted(type), colour: pc.cyan },
    confidenceText(confidence).padStart(4),
    `${quoted(content)}${decided}`,
  ];
}

function becameText(entry: ListedLearning | Proposal): string | undefined {
  if ('status' in entry) return entry.status === 'pending' ? undefined : decisionText(entry);
  return entry.retired && retirementText(entry.retired);
}

/** `superseded by anna at …, replaced by def45`, or `retracted by anna at …: We use biome now`. */
function retirementText({ how, by, at, replacement, reason }: Retirement): string {
  const next = replacement === undefined ? '' : `, replaced by ${shortId(replacement)}`;
  return quoted(`${how} by ${by} at ${at}${next}${reason === undefined ? '' : `: ${reason}`}`);
}

/** `[0.89] abc12  pattern         Run the linter`; without a score where only its age chose it. */
export function rankedLine(pc: Colors, { learning, score }: RankedLearning): string {
  const place = score === 0 ? '-     ' : `[${score.toFixed(2)}]`;
  return `${place} ${pc.bold(shortId(learning.id))}  ${pc.cyan(learning.type.padEnd(14))}  ${quoted(learning.content)}`;
}

export function proposalFields(
  pc: Colors,
  { proposal, learning, retired, similar }: ReplyTo<'proposal.show'>,
): string {
  const accepted = learning?.id === proposal.id ? learning : undefined;
  const tags = (of: ListedLearning | Proposal | undefined) => of?.tags.join(', ') || undefined;
  const fields: [string, string | undefined][] = [
    ['id', proposal.id],
    ['status', decisionText(proposal)],
    ['type', proposal.type],
    ['confidence', confidenceText(proposal.confidence)],
    ['content', proposal.content],
    ['now', learning && learning.content !== proposal.content ? learning.content : undefined],
    ['tags', tags(proposal)],
    ['now type', accepted?.type === proposal.type ? undefined : accepted?.type],
    ['now tags', tags(accepted) === tags(proposal) ? undefined : tags(accepted)],
    ['method', proposal.method],
    ['source', sourceText(proposal.source)],
    ['proposed', proposal.extractedAt],
    ['reason', proposal.reason],
    ['retired', retired && `${retired.how} by ${retired.by} at ${retired.at}`],
    ['replaced by', retired?.replacement],
    ['why', retired?.reason],
    ['similar', similar ? similarText(similar) : undefined],
    ...proposal.evidence.map((item): [string, string] => ['evidence', evidenceText(item)]),
  ];
  return fields
    .flatMap(([name, value]) => (value === undefined ? [] : [`${pc.dim(name.padEnd(11))}  ${quoted(value)}`]))
    .join('\n');
}

/** `pending`, or `accepted by anna at …`. */
function decisionText({ status, decidedBy, decidedAt, mergedInto }: Proposal): string {
  if (status === 'pending') return status;
  const merged = mergedInto === undefined ? '' : `, merged into ${shortId(mergedInto)}`;
  return quoted(`${status} by ${decidedBy ?? 'unknown'} at ${decidedAt ?? 'an unknown time'}${merged}`);
}

function evidenceText({ session, task, dispatch }: LearningEvidence): string {
  return quoted(`session ${session}, task ${task}, dispatch ${dispatch}`);
}

/** `9f00a (0.83) Run the linter first`. */
function similarText({
  learning,
  similarity,
  content,
}: NonNullable<ReplyTo<'proposal.show'>['similar']>): string {
  return quoted(`${shortId(learning)} (${similarity.toFixed(2)}) ${content}`);
}

/** The result of a decision: `abc12 accepted: Run the linter`, `abc12 superseded by def45`. */
export function outcomeLine(pc: Colors, { proposal, learning, retired }: ReplyTo<'proposal.show'>): string {
  const { id, content, mergedInto } = proposal;
  const done =
    retired?.how ?? (mergedInto === undefined ? proposal.status : `merged into ${shortId(mergedInto)}`);
  const by = retired?.replacement === undefined ? '' : ` by ${shortId(retired.replacement)}`;
  // A retired learning may have been edited since it was proposed: its text is not in the reply.
  const text = retired === undefined ? `: ${quoted(learning?.content ?? content)}` : '';
  return `${pc.bold(shortId(id))} ${done}${by}${text}`;
}

export function proposedLine(pc: Colors, reply: ReplyTo<'learning.propose'>): string {
  const { proposal, learning, existing } = reply;
  const what = !existing ? 'proposed' : learning ? 'is a learning already' : 'is proposed already';
  return `${pc.bold(shortId(proposal.id))} ${what}: ${quoted(learning?.content ?? proposal.content)}`;
}

function sourceText({ session, dispatch, note }: LearningSource): string | undefined {
  const parts = [
    ...(session === undefined ? [] : [`session ${session}`]),
    ...(dispatch === undefined ? [] : [`dispatch ${dispatch}`]),
    ...(note === undefined ? [] : [`note ${note}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
