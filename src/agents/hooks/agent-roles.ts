import { isRole, kindOf, ROLES, type Role } from '../../contracts/kinds.js';

/** Agents whose name says that they owe a result. */
const OWED: readonly Role[] = ROLES.filter((role) => kindOf(role).part !== 'note');

/**
 * The role of an agent: what `agents` says of its name, else its name where that is `implementer` or `reviewer`, with or
 * without the name of a plugin before it, as in `throughline:reviewer`.
 *
 * @param name empty for the agent that the user talks to, which `agents` calls `main`
 */
export function roleOfAgent(name: string, agents: Readonly<Record<string, string>> = {}): Role | undefined {
  const given = givenTo(name, agents);
  if (given !== undefined) return isRole(given) ? given : undefined;
  const bare = bareName(name).toLowerCase();
  return OWED.find((role) => role === bare);
}

/**
 * Whether an agent only looks: `agents` calls it a reader, or its client brings it for that and `agents` says nothing.
 *
 * @param readers names of the client's own
 */
export function onlyReads(
  name: string,
  readers: readonly string[],
  agents: Readonly<Record<string, string>> = {},
): boolean {
  const given = givenTo(name, agents);
  return given === undefined ? readers.includes(name) : given === 'reader';
}

function givenTo(name: string, agents: Readonly<Record<string, string>>): string | undefined {
  return name === '' ? agents.main : (agents[name] ?? agents[bareName(name)]);
}

/** Without the name of a plugin before it. */
function bareName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1);
}
