import type { WordVectorsLoader } from '../../config/load-language-data.js';
import { noSuchSession, ThroughlineError } from '../../contracts/errors.js';
import { type Token, token } from '../../contracts/names.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { SessionState } from '../../memory/session/session-state.js';
import { recallFrom } from '../../prompt/recall.js';
import type { Handlers } from '../common/service-shell.js';
import type { SessionList } from './session-list.js';

/** Maximum number of sessions that are searched: each is folded for it. */
const MOST_SESSIONS = 100;
/** Every session, archived ones too; without their figures the newest come first. */
const ANY = { brief: true, archived: true, active: false, stalled: false, limit: MOST_SESSIONS };

/** Searches what one session remembers, or the sessions of a project. */
export function createRecall(
  reader: Pick<SessionReader, 'load'>,
  list: Pick<SessionList, 'list'>,
  wordVectors: WordVectorsLoader,
): Handlers<'tool.recall'>['tool.recall'] {
  const stateOf = async (session: Token): Promise<SessionState> => (await reader.load(session)).folded.state;
  return async ({ session, project, ...query }) => {
    if (session !== undefined && project !== undefined)
      throw new ThroughlineError(
        'schema_invalid',
        'project: cannot be combined with session, which is searched alone: leave one of them out',
        { details: { fields: ['project'] } },
      );
    const ofProject = project !== undefined && { project, brief: false };
    const { sessions, total } =
      session === undefined
        ? await list.list({ ...ANY, ...ofProject })
        : { sessions: [{ session }], total: 1 };
    const states = await Promise.all(sessions.map(({ session: name }) => stateOf(token(name, 'session'))));
    if (session !== undefined && states[0]?.sequence === 0) throw noSuchSession(session);
    return {
      ...recallFrom(states, query, await wordVectors()),
      searched: states.length,
      sessions: total,
    };
  };
}
