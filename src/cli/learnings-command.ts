import type { Command } from 'commander';
import { LEARNING_REQUESTS, type LearningRequest } from '../contracts/learning-requests.js';
import type { LearningReply } from '../contracts/replies/learning-reply.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted } from '../shared/text.js';
import { type Cli, cliOf, coloured, examples, note, out, withClient } from './command-context.js';
import { addFields, fieldsIn } from './request-options.js';
import {
  coloursOf,
  deciderIn,
  deciding,
  nextPage,
  onProject,
  type ProjectOptions,
  projectIn,
  projectOption,
  shownOf,
} from './session-argument.js';
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

/** What was asked, by field. */
export type Asked = Readonly<Record<string, unknown>>;

/** How a command prints its reply: the answer, and what stands beside it on standard error. */
interface Printed {
  readonly answer: readonly string[];
  readonly note?: string | undefined;
}

interface RequestCommand<Subject extends LearningRequest> {
  readonly show: (reply: LearningReply<Subject>, cli: Cli, asked: Asked) => Printed;
  /** Says what to do about a fault, in words of the command line. */
  readonly explain?: (fault: unknown, client: ThroughlineClient, asked: Asked) => Promise<unknown>;
}

/** Fields that options of other names stand for. */
const RENAMED = { cursor: 'page', maxResults: 'maxLearnings' };
/** Fields that every command has in the same way. */
const COMMON = new Set(['project', 'by', 'source']);

/** Adds the command of a request: its arguments and options come from the table of requests. */
export function addRequest<Subject extends LearningRequest>(
  group: Command,
  word: string,
  subject: Subject,
  { show, explain = async (fault) => fault }: RequestCommand<Subject>,
): void {
  const { shape, help } = LEARNING_REQUESTS[subject];
  const places: Readonly<Record<string, string>> = help.places ?? {};
  const command = group.command(word).description(help.about);
  for (const [field, about] of Object.entries(places)) command.argument(`<${field}>`, about);
  const fields = Object.entries(shape).filter(([field]) => !COMMON.has(field) && !(field in places));
  const options = Object.fromEntries(fields);
  addFields(command, options, { renamed: RENAMED });
  if ('source' in shape) command.option('-s, --session <name>', 'the session that it comes from');
  if ('by' in shape) deciding(command);
  else onProject(command);
  command
    .addHelpText('after', examples(`throughline ${group.name()} ${word} ${help.example}`))
    .action(async () => {
      const cli = cliOf(command);
      const given = command.opts<ProjectOptions & { session?: string }>();
      const asked: Asked = {
        ...projectIn(cli, given),
        ...('by' in shape && deciderIn(given)),
        ...('source' in shape && given.session !== undefined && { source: { session: given.session } }),
        ...Object.fromEntries(Object.keys(places).map((field, place) => [field, command.args[place]])),
        ...fieldsIn(command.opts(), options, { renamed: RENAMED }),
      };
      const reply = await withClient(cli, async (client) => {
        return client.requestLearning(subject, asked).catch(async (fault: unknown) => {
          throw await explain(fault, client, asked);
        });
      });
      if (given.json) return out(JSON.stringify(reply));
      const { answer, note: beside } = show(reply, cli, asked);
      for (const line of answer) out(line, coloured(cli));
      if (beside !== undefined) note(beside);
    });
}
