import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/version.js';
import { cleanEnv } from '../support/cli.js';
import { startSystem } from '../support/system.js';

/** What users get: the packed tarball, installed into an empty project. */

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 180_000;

let project: string;
let files: string[];

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'throughline-package-'));
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], {
    cwd: root,
  });
  const [tarball]: { filename: string; files: { path: string }[] }[] = JSON.parse(packed.stdout);
  if (tarball === undefined) throw new Error('npm pack made nothing');
  files = tarball.files.map(({ path }) => path);
  await writeFile(join(project, 'package.json'), '{"name":"consumer","private":true,"type":"module"}');
  await inProject(
    'npm',
    'install',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    join(project, tarball.filename),
  );
}, INSTALL_TIMEOUT_MS);
afterAll(() => rm(project, { recursive: true, force: true }));

async function inProject(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(command, args, { cwd: project, env: cleanEnv() });
  return stdout;
}

describe('the package', () => {
  it('holds what it needs and nothing else', () => {
    expect(files).toContain('dist/cli/bin.js');
    expect(files).toContain('dist/index.d.ts');
    expect(files).toContain('LICENSE');
    const strays = files.filter((path) => !/^(dist\/|README\.md$|LICENSE$|package\.json$)/.test(path));
    expect(strays).toEqual([]);
  });

  it('brings the command line', async () => {
    expect(await inProject('npx', '--no-install', 'throughline', '--version')).toBe(`${VERSION}\n`);
  });

  it('exports these names, and no path beside its root', async () => {
    const script = `
      const sdk = await import('throughline');
      const inner = await import('throughline/dist/main.js').catch((error) => error.code);
      console.log(JSON.stringify([Object.keys(sdk).sort(), inner]));`;
    const printed = await inProject(process.execPath, '--input-type=module', '-e', script);
    expect(JSON.parse(printed)).toEqual([
      [
        'ERROR_CODES',
        'HookEngine',
        'PreCompactHook',
        'ThroughlineClient',
        'ThroughlineError',
        'connectThroughline',
        'preparePrompt',
        'withPreLlmCompaction',
      ],
      'ERR_PACKAGE_PATH_NOT_EXPORTED',
    ]);
  });

  it('works: a result in, a prompt out', async () => {
    await using system = await startSystem();
    const script = `
      import { connectThroughline } from 'throughline';
      const client = await connectThroughline({ url: ${JSON.stringify(system.url)} });
      const result = { task_id: '1', status: 'completed', summary: 'Parser done' };
      const { sequence } = await client.publishImplementer('packed', result);
      const request = { session: 'packed', taskId: '2', taskPrompt: 'Print it', after: sequence };
      console.log((await client.compile(request)).sessionContext);
      await client.close();`;
    const printed = await inProject(process.execPath, '--input-type=module', '-e', script);
    expect(printed).toContain('- task:1 summary Parser done [task:1]');
  });

  it('has types: what is right compiles, and each wrong use is an error', async () => {
    await writeFile(join(project, 'consumer.ts'), CONSUMER);
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023'];
    const modules = ['--module', 'nodenext', '--lib', 'es2023,esnext.disposable', '--skipLibCheck'];
    await inProject(tsc, ...options, ...modules, 'consumer.ts').catch((fault: { stdout: string }) => {
      expect.fail(fault.stdout);
    });
  });

  it('names its licence and the Node that it needs', async () => {
    const manifest = await readFile(join(project, 'node_modules', 'throughline', 'package.json'), 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({ license: 'MIT', engines: { node: '>=20.19.0' } });
  });
});

/** Every exported type, as a consumer writes it. */
const CONSUMER = `
import {
  type ClientOptions, type ClientTransport, type CompiledFact, type CompileReply, type CompileRequest,
  type ConnectOptions, connectThroughline, ERROR_CODES, type ErrorCode, type ExplainedFact,
  type ImplementerResult, type Learning, type LearningInput, type LearningReply, type Proposal, type ProposalView,
  type Published, type ReviewerResult, type Role, ThroughlineClient, ThroughlineError,
} from 'throughline';

const where: ConnectOptions = { url: 'nats://127.0.0.1:4222', timeoutMs: 1000 };
await using client: ThroughlineClient = await connectThroughline(where);
const done: ImplementerResult = { task_id: '1', status: 'completed', summary: 'x', files_changed: ['a.ts'] };
const review: ReviewerResult = { task_id: '1', assessment: 'approved', issues: [{ severity: 'minor', message: 'x' }] };
const published: Published = await client.publishImplementer('s', done);
const role: Role = 'reviewer';
await client.publishReviewer('s', review);
await client.publishText('s', role, 'text');
const request: CompileRequest = { session: 's', taskId: '2', taskPrompt: 'x', after: published.sequence };
const reply: CompileReply = await client.compile(request);
const fact: CompiledFact | ExplainedFact | undefined = reply.facts[0];
export const words: string = fact === undefined ? '' : fact.subject + fact.object;
const proposal: LearningInput<'learning.propose'> = { content: 'Run the linter', type: 'pattern', confidence: 0.8 };
const proposed: LearningReply<'learning.propose'> = await client.learnings.propose(proposal);
const view: ProposalView = await client.proposals.accept({ id: proposed.proposal.id, by: 'anna', merge: true });
export const learned: Learning | null = view.learning;
export const pending: readonly Proposal[] = (await client.proposals.list()).proposals;
const started = await client.compile({ kind: 'session-start', session: 's', maxLearnings: 3 });
export const shown: number | undefined = started.learningsShown;
export const transport = (each: ClientTransport, options: ClientOptions) => new ThroughlineClient(each, options);
export const codeOf = (error: unknown): ErrorCode | undefined =>
  error instanceof ThroughlineError ? error.code : undefined;
export const meaning: string = ERROR_CODES.not_caught_up;

// @ts-expect-error a status that there is none of
await client.publishImplementer('s', { task_id: '1', status: 'done', summary: 'x' });
// @ts-expect-error a request without a task prompt
await client.compile({ session: 's', taskId: '2' });
// @ts-expect-error a decision without an id
await client.proposals.accept({ by: 'anna' });
// @ts-expect-error a status that no proposal has
await client.proposals.list({ status: 'open' });
// @ts-expect-error a role that there is none of
await client.publishText('s', 'boss', 'text');
`;
