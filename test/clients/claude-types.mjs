// Claude Code has more events than a run shows. The payloads that the tests give its hooks are checked against the types of its SDK: each is one
// that the SDK declares, every event that it declares has one, and what we answer is an output that it takes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './processes.mjs';
import { BIN } from './services.mjs';

const FIXTURES = fileURLToPath(new URL('../fixtures/hooks/', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/package.json');

/** What is wrong; nothing where all is right. `sdk` is a folder in which the SDK is installed. */
export async function claudeTypesFault(sdk, env) {
  const folder = join(sdk, 'check');
  mkdirSync(folder, { recursive: true });
  const payloads = ['claude', 'claude-others'].flatMap((name) => {
    const lines = readFileSync(join(FIXTURES, `${name}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n');
    return lines.map((line) => JSON.parse(line));
  });
  const answers = [];
  // An empty memory says nothing at the start of a session.
  const known = JSON.stringify({ task_id: '1.1', status: 'completed', summary: 'Lexer written' });
  const published = await run(process.execPath, [BIN, 'publish', 'implementer', '--wait'], {
    env,
    input: known,
  });
  if (published.code !== 0) return `no result was published: ${published.output}`;
  for (const payload of payloads) {
    const { stdout, code, output } = await run(
      process.execPath,
      [BIN, 'hook', 'claude', '--within', '8000'],
      {
        env,
        input: JSON.stringify(payload),
      },
    );
    if (code !== 0) return `the hook of ${payload.hook_event_name} ended with ${code}: ${output}`;
    if (stdout !== '') answers.push(JSON.parse(stdout));
  }
  if (answers.length < 5) return `only ${answers.length} hooks answered`;
  writeFileSync(
    join(folder, 'payloads.ts'),
    `import type { HookEvent, HookInput, HookJSONOutput } from '@anthropic-ai/claude-agent-sdk';
const payloads = ${JSON.stringify(payloads, null, 2)} as const satisfies readonly DeepReadonly<HookInput>[];
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
const answers: readonly HookJSONOutput[] = ${JSON.stringify(answers, null, 2)};
// Calls of tools are read from the transcript.
type Unused = 'PostToolUse' | 'PostToolUseFailure';
type Missing = Exclude<HookEvent, Unused | (typeof payloads)[number]['hook_event_name']>;
const missing: [Missing] extends [never] ? 'none' : Missing = 'none';
console.log(answers, missing);
`,
  );
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        skipLibCheck: true,
        module: 'nodenext',
        target: 'es2023',
        types: [],
      },
    }),
  );
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const checked = await run(process.execPath, [join(dirname(tsc), 'bin/tsc'), '-p', folder]);
  return checked.code === 0 ? undefined : checked.output.slice(0, 3000);
}
