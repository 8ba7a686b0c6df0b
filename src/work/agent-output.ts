import { BEGIN } from '../contracts/reading/result-marks.js';
import { isObject } from '../shared/is-object.js';
import type { AgentAnswer } from './run-types.js';

/** Of a line of JSON: more are not looked through. */
const MAX_DEPTH = 6;
/** Of an output with more lines the last ones count: a line that is not JSON takes as long as a thousand characters of it. */
const MAX_LINES = 10_000;
/** The type or role of what an agent was told, or what its tools were given and gave: a file in it may hold a result block. */
const NOT_SAID = /user|system|developer|tool|function|command|exec|file_change|search/i;
/** `tokens used: 1,234`, as Codex says it, also with the number in the next line. */
const TOKENS = /^tokens used:?\s{0,3}\n?\s{0,3}(\d[\d,]{0,15})/im;
/** Our own, for a command of yours: `cost: $0.12`. */
const COST = /^cost:? \$(\d{1,9}(?:\.\d{1,9})?)/im;

/**
 * What a command line agent said: its text, and what it used. Plain text is taken as it is. Where it writes JSON, one
 * object or one a line (`claude -p --output-format json`, `codex exec --json`), the text is the last one in it that
 * holds a result, else the last `result` or `text`; tokens and cost are what its `usage` and `total_cost_usd` say last. What
 * the agent did not say itself does not count.
 */
export function agentOutput(stdout: string, stderr: string): AgentAnswer {
  const values = jsonOf(stdout);
  if (values.length === 0) return { text: stdout, ...plainUse(`${stdout}\n${stderr}`) };
  const found = new Found();
  for (const value of values) found.look(value, 0);
  const unsaid = stdout.includes(BEGIN) ? '' : stdout;
  return { text: found.block ?? found.said ?? unsaid, ...found.use() };
}

/** The objects of an output that is JSON: as a whole, or line by line. */
function jsonOf(stdout: string): unknown[] {
  const whole = parsed(stdout.trim());
  if (whole !== undefined) return isResult(whole) ? [] : [whole];
  const lines = stdout
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-MAX_LINES);
  const values = lines.flatMap((line) => parsed(line.trim()) ?? []);
  // A text with an object in one of its lines is a text.
  return values.length > 0 && values.length * 2 > lines.length ? values : [];
}

function parsed(text: string): object | undefined {
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The result itself, without anything around it. */
function isResult(value: object): boolean {
  return 'task_id' in value;
}

class Found {
  block: string | undefined;
  said: string | undefined;
  #tokens: number | undefined;
  #cost: number | undefined;

  look(value: unknown, depth: number, key = ''): void {
    if (typeof value === 'string') {
      if (value.includes(BEGIN)) this.block = value;
      else if (key === 'result' || key === 'text') this.said = value;
    }
    if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return;
    if (isObject(value) && [value.type, value.role].some((of) => typeof of === 'string' && NOT_SAID.test(of)))
      return;
    if (!Array.isArray(value) && key === 'usage') this.#usage(value);
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'total_cost_usd' && typeof inner === 'number') this.#cost = inner;
      this.look(inner, depth + 1, Array.isArray(value) ? key : name);
    }
  }

  use() {
    return {
      ...(this.#tokens !== undefined && { tokens: this.#tokens }),
      ...(this.#cost !== undefined && { cost: this.#cost }),
    };
  }

  #usage(usage: object): void {
    if (!isObject(usage)) return;
    const number = (name: string) => (typeof usage[name] === 'number' ? usage[name] : 0);
    const total = number('total_tokens') || number('input_tokens') + number('output_tokens');
    if (total > 0) this.#tokens = total;
  }
}

function plainUse(text: string) {
  const tokens = TOKENS.exec(text)?.[1];
  const cost = COST.exec(text)?.[1];
  return {
    ...(tokens !== undefined && { tokens: Number(tokens.replaceAll(',', '')) }),
    ...(cost !== undefined && { cost: Number(cost) }),
  };
}
