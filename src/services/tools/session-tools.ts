import { checkedRequest } from '../../contracts/checked.js';
import { codeOf } from '../../contracts/errors.js';
import { type Token, token } from '../../contracts/names.js';
import type { SessionEvent } from '../../contracts/session-events.js';
import { type CommandName, TOOLS, type ToolArguments } from '../../contracts/tool-requests.js';
import type {
  SessionCommander,
  SessionReader,
  SessionSnapshotWriter,
} from '../../engine/folding/session-folding.js';
import type { Logger } from '../../engine/ports/logger.js';
import { decide } from '../../memory/session/commands/decide-session.js';
import type { Archiver } from '../lifecycle/archive-session.js';

/** Answers the commands of `session-tools`: validate, execute, write a snapshot if one is due. */
interface SessionToolsOptions {
  readonly command: SessionCommander;
  readonly reader: SessionReader;
  readonly writer: SessionSnapshotWriter;
  readonly logger: Logger;
  /** Applies archiving and reopening beyond their events. Default: nothing. */
  readonly archiver?: Pick<Archiver, 'requireCheckpointFits' | 'settle'>;
  /** Called for each session whose notes or project changed. */
  readonly onNotes?: (session: Token) => void;
}

export type SessionTools = (name: CommandName, request: unknown) => Promise<object>;

/** Events after which notes may be proposed; the end of an iteration makes up for missed ones. */
const TELLS_NOTES: ReadonlySet<string> = new Set([
  'note.added',
  'note.edited',
  'session.opened',
  'iteration.completed',
] satisfies SessionEvent['type'][]);

export function createSessionTools(options: SessionToolsOptions): SessionTools {
  return async (name, request) => {
    const { session, args } = checked(name, request);
    if (name === 'session-archive') await options.archiver?.requireCheckpointFits(session);
    const carryOut = () => options.command(session, name, (state) => decide(name, state, args));
    const { reply, appended } = await carryOut();
    if (appended !== undefined && TELLS_NOTES.has(appended)) options.onNotes?.(session);
    if (appended === 'iteration.completed' || appended === 'iteration.started')
      await snapshot(options, session);
    if (name !== 'session-archive' && name !== 'session-reopen') return reply;
    // Also if it was done before, which resumes interrupted work. The reply shows the session afterwards.
    const removing = await options.archiver?.settle(session);
    const { reply: settled } = await carryOut();
    return removing === undefined ? settled : { ...settled, removing };
  };
}

function checked<Name extends CommandName>(
  name: Name,
  request: unknown,
): { session: Token; args: ToolArguments<Name> } {
  const { session, ...args } = checkedRequest(TOOLS[name].request, request);
  // The index type loses the relation between a tool and its arguments.
  return { session: token(session, 'session'), args: args as ToolArguments<Name> };
}

/** Writes a snapshot at the end of an iteration, because a fresh agent is about to load the session. */
async function snapshot({ reader, writer, logger }: SessionToolsOptions, session: Token): Promise<void> {
  try {
    const { folded } = await reader.load(session);
    // Starting an iteration ends the previous one.
    if (folded.state.history.iterations.some((iteration) => iteration.ended_at !== undefined)) {
      await writer.write(folded);
    }
  } catch (error) {
    logger.warn(
      { session, code: codeOf(error), err: error },
      'snapshot not written: the next load replays more events',
    );
  }
}
