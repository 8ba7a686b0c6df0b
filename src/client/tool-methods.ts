import type { ToolReply } from '../contracts/replies/replies.js';
import { TOOL_NAMES, type ToolName } from '../contracts/request-names.js';
import type { ToolInput } from '../contracts/tool-requests.js';

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** One method a tool: `tools.taskAdd({ session, content })`. Where nothing has to be given, nothing need be. */
export type Tools = {
  readonly [Name in ToolName as CamelCase<Name>]: object extends ToolInput<Name>
    ? (input?: ToolInput<Name>) => Promise<ToolReply<Name>>
    : (input: ToolInput<Name>) => Promise<ToolReply<Name>>;
};

/** Makes the methods from the table of tools. */
export function createTools(request: (name: ToolName, input: object) => Promise<unknown>): Tools {
  const methods = TOOL_NAMES.map((name) => [
    name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    (input: object = {}) => request(name, input),
  ]);
  return Object.fromEntries(methods) as Tools;
}
