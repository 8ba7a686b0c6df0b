import { codeOf } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import type { SessionLifecycle } from '../../ports/session-lifecycle.js';
import { isGone } from './forget-claim.js';
import { resumeLeft } from './resume-left.js';

export interface ResumeRenamesPorts {
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'renamed'>;
  readonly clock: Clock;
  /** Throws `conflict` while sessions are being moved to another layout. */
  readonly refuseWhileMoving: () => Promise<void>;
  readonly logger: Logger;
}

/** What answers `session-rename`: it logs what fails, and undoes it where the new name does not have all of the session. */
type Rename = (request: { readonly session: Token; readonly to: Token }) => Promise<unknown>;

/** Goes on with renames that a process which is gone has left half done, until the function that it gives is called. */
export function watchRenames(ports: ResumeRenamesPorts, rename: Rename): () => void {
  return resumeLeft({
    isLeft: () => left(ports).length > 0,
    resume: () => resumeRenames(ports, rename),
    onFailed(error) {
      // While sessions are moved none is renamed.
      if (codeOf(error) !== 'conflict')
        ports.logger.error({ code: codeOf(error), err: error }, 'not renamed yet: it is tried again soon');
    },
  });
}

/** As who asks for each once more. Throws what `refuseWhileMoving` does. */
export async function resumeRenames(ports: ResumeRenamesPorts, rename: Rename): Promise<void> {
  await ports.refuseWhileMoving();
  for (const each of left(ports)) await rename(each).catch(() => undefined);
}

function left({ lifecycle, clock }: Pick<ResumeRenamesPorts, 'lifecycle' | 'clock'>) {
  return lifecycle.renamed().flatMap((session) => {
    const { renaming, renamed_to: to } = lifecycle.archived(session) ?? {};
    return to === undefined || renaming === undefined || !isGone(renaming, clock) ? [] : [{ session, to }];
  });
}
