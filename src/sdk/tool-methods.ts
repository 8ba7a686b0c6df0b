import type { ToolReply } from '../contracts/replies/replies.js';
import { TOOL_NAMES, type ToolName } from '../contracts/request-names.js';
import type { ToolInput } from '../contracts/tool-requests.js';

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/**
 * One method per tool: `tools.taskAdd({ session, content })`. The input is optional if none of its fields is required.
 */
export type Tools = {
  readonly [Name in ToolName as CamelCase<Name>]: (...given: Given<Name>) => Promise<ToolReply<Name>>;
};

/** Optional if no field is required. */
type Given<Name extends ToolName> =
  object extends ToolInput<Name> ? [input?: ToolInput<Name>] : [input: ToolInput<Name>];

export function createTools(request: (name: ToolName, input: object) => Promise<unknown>): Tools {
  const methods = TOOL_NAMES.map((name) => [
    name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    (input: object = {}) => request(name, input),
  ]);
  return Object.fromEntries(methods) as Tools;
}
