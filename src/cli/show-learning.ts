import type { LearningEvidence, LearningSource } from '../contracts/learning-events.js';
import type { ReplyTo } from '../contracts/requests.js';
import type {
  ListedLearning,
  Proposal,
  RankedLearning,
  Retirement,
} from '../memory/learnings/learnings-state.js';
import { oneLine } from '../shared/text.js';
import { type Cell, inLine } from './output.js';
import type { Colors } from './show-reply.js';

/** Learnings and proposals as text for people. What agents wrote may hold escape sequences: they are taken out. */

/** Returns the prefix of an id that prompts show and commands accept. */
export function shortId(id: string): string {
  return oneLine(id).slice(0, 5);
}

export function confidenceText(confidence: number | undefined): string {
  return confidence === undefined ? 'N/A' : confidence.toFixed(2);
}

/** `abc12  pattern         0.82  Run the linter`, with what was decided, or why it holds no more, behind it. */
export function learningLine(pc: Colors, each: ListedLearning | Proposal): string {
  return inLine(learningCells(pc, each), '  ');
}

export const LEARNING_HEADINGS = ['ID', 'TYPE', 'SURE', 'TEXT'];

/** @param among true in a list that also has learnings: a pending proposal is then marked as one */
export function learningCells(pc: Colors, each: ListedLearning | Proposal, among = false): Cell[] {
  const { id, type, confidence, content } = each;
  const became = becameText(each) ?? (among && 'status' in each ? each.status : undefined);
  const decided = became === undefined ? '' : pc.dim(`  (${became})`);
  return [
    { text: shortId(id), colour: pc.bold },
    { text: oneLine(type), colour: pc.cyan },
    confidenceText(confidence).padStart(4),
    `${oneLine(content)}${decided}`,
  ];
}

function becameText(each: ListedLearning | Proposal): string | undefined {
  if ('status' in each) return each.status === 'pending' ? undefined : decisionText(each);
  return each.retired && retirementText(each.retired);
}

/** `superseded by anna at …, replaced by def45`, or `retracted by anna at …: We use biome now`. */
function retirementText({ how, by, at, replacement, reason }: Retirement): string {
  const next = replacement === undefined ? '' : `, replaced by ${shortId(replacement)}`;
  return oneLine(`${how} by ${by} at ${at}${next}${reason === undefined ? '' : `: ${reason}`}`);
}

/** `[0.89] abc12  pattern         Run the linter`; without a score where only its age chose it. */
export function rankedLine(pc: Colors, { learning, score }: RankedLearning): string {
  const place = score === 0 ? '-     ' : `[${score.toFixed(2)}]`;
  return `${place} ${pc.bold(shortId(learning.id))}  ${pc.cyan(learning.type.padEnd(14))}  ${oneLine(learning.content)}`;
}

export function proposalFields(
  pc: Colors,
  { proposal, learning, retired, similar }: ReplyTo<'proposal.show'>,
): string {
  const own = learning?.id === proposal.id ? learning : undefined;
  const tags = (of: ListedLearning | Proposal | undefined) => of?.tags.join(', ') || undefined;
  const fields: [string, string | undefined][] = [
    ['id', proposal.id],
    ['status', decisionText(proposal)],
    ['type', proposal.type],
    ['confidence', confidenceText(proposal.confidence)],
    ['content', proposal.content],
    ['now', learning && learning.content !== proposal.content ? learning.content : undefined],
    ['tags', tags(proposal)],
    ['now type', own?.type === proposal.type ? undefined : own?.type],
    ['now tags', tags(own) === tags(proposal) ? undefined : tags(own)],
    ['method', proposal.method],
    ['source', sourceText(proposal.source)],
    ['proposed', proposal.extractedAt],
    ['reason', proposal.reason],
    ['retired', retired && `${retired.how} by ${retired.by} at ${retired.at}`],
    ['replaced by', retired?.replacement],
    ['why', retired?.reason],
    ['similar', similar ? similarText(similar) : undefined],
    ...proposal.evidence.map((each): [string, string] => ['evidence', evidenceText(each)]),
  ];
  return fields
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`${pc.dim(name.padEnd(11))}  ${oneLine(value)}`],
    )
    .join('\n');
}

/** `pending`, or `accepted by anna at …`. */
export function decisionText({ status, decidedBy, decidedAt, mergedInto }: Proposal): string {
  if (status === 'pending') return status;
  const merged = mergedInto === undefined ? '' : `, merged into ${shortId(mergedInto)}`;
  return oneLine(`${status} by ${decidedBy ?? 'unknown'} at ${decidedAt ?? 'an unknown time'}${merged}`);
}

export function evidenceText({ session, task, dispatch }: LearningEvidence): string {
  return oneLine(`session ${session}, task ${task}, dispatch ${dispatch}`);
}

/** `9f00a (0.83) Run the linter first`. */
export function similarText({
  learning,
  similarity,
  content,
}: NonNullable<ReplyTo<'proposal.show'>['similar']>): string {
  return oneLine(`${shortId(learning)} (${similarity.toFixed(2)}) ${content}`);
}

/** The result of a decision: `abc12 accepted: Run the linter`, `abc12 superseded by def45`. */
export function outcomeLine(pc: Colors, { proposal, learning, retired }: ReplyTo<'proposal.show'>): string {
  const { id, content, mergedInto } = proposal;
  const done =
    retired?.how ?? (mergedInto === undefined ? proposal.status : `merged into ${shortId(mergedInto)}`);
  const by = retired?.replacement === undefined ? '' : ` by ${shortId(retired.replacement)}`;
  // A retired learning may have been edited since it was proposed: its text is not in the reply.
  const text = retired === undefined ? `: ${oneLine(learning?.content ?? content)}` : '';
  return `${pc.bold(shortId(id))} ${done}${by}${text}`;
}

export function proposedLine(pc: Colors, reply: ReplyTo<'learning.propose'>): string {
  const { proposal, learning, existing } = reply;
  const what = !existing ? 'proposed' : learning ? 'is a learning already' : 'is proposed already';
  return `${pc.bold(shortId(proposal.id))} ${what}: ${oneLine(learning?.content ?? proposal.content)}`;
}

function sourceText({ session, dispatch, note }: LearningSource): string | undefined {
  const parts = [
    ...(session === undefined ? [] : [`session ${session}`]),
    ...(dispatch === undefined ? [] : [`dispatch ${dispatch}`]),
    ...(note === undefined ? [] : [`note ${note}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
