/** Why a result cannot be used, and what to do about it. */
interface Refusal {
  readonly reason: string;
  readonly fix?: string | undefined;
}

/** The same refusal with the command to type in place of the subject to publish on. */
export function asCommand<Known extends Refusal>(known: Known, command: (role: string) => string): Known {
  const typed = (text: string) =>
    text.replace(ON_SUBJECT, (_, role: string) => `publish it with "${command(role)}"`);
  const { reason, fix } = known;
  return { ...known, reason: typed(reason), ...(fix !== undefined && { fix: typed(fix) }) };
}

/** How a reason names a subject: `publish it on dispatch.<session>.reviewer`. */
const ON_SUBJECT = /publish it (?:on|as \w+ \()\s*dispatch\.<session>\.(\w+)\)?/g;
