import type { Command } from 'commander';
import type { ThroughlineClient } from '../client/throughline-client.js';
import { LEARNING_REQUESTS, type LearningRequest } from '../contracts/learning-requests.js';
import type { LearningReply } from '../contracts/replies/learning-reply.js';
import { type Cli, cliOf, coloured, examples, note, out, withClient } from './command-context.js';
import { deciderIn, deciding, onProject, type ProjectOptions, projectIn } from './project-options.js';
import { addFields, fieldsIn } from './request-options.js';

/** What was asked, by field. */
export type Asked = Readonly<Record<string, unknown>>;

/** How a command prints its reply: the answer, and what stands beside it on standard error. */
export interface Printed {
  readonly answer: readonly string[];
  readonly note?: string | undefined;
}

export interface RequestCommand<Subject extends LearningRequest> {
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
