import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { packedInto } from '../../scripts/pack.mjs';
import { componentsOfPackage } from '../../scripts/sbom.mjs';
import { shippedPackages } from '../../scripts/shipped.mjs';
import { VERSION } from '../../src/version.js';
import { cleanEnv, startNode } from '../support/cli.js';
import { folderOfFile } from '../support/of-file.js';
import { soon } from '../support/soon.js';
import { startSystem } from '../support/system.js';

/** What users get: the packed tarball, installed into an empty project. */

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const REPOSITORY = { type: 'git', url: 'git+https://example.com/owner/throughline.git' };
const INSTALL_TIMEOUT_MS = 180_000;

const project = await folderOfFile();
let files: string[];

beforeAll(async () => {
  const tarball = await packedInto(project, REPOSITORY);
  const { stdout } = await run('tar', ['-tzf', tarball], { maxBuffer: 2 ** 24 });
  files = stdout
    .trimEnd()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
  await writeFile(join(project, 'package.json'), '{"name":"consumer","private":true,"type":"module"}');
  await inProject('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', tarball);
}, INSTALL_TIMEOUT_MS);

async function inProject(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(command, args, { cwd: project, env: cleanEnv() });
  return stdout;
}

function evaluated(script: string): Promise<string> {
  return inProject(process.execPath, '--input-type=module', '-e', script);
}

/** The files that a process of node loads, each from its package's name on. */
async function loadedBy(...args: string[]): Promise<string[]> {
  const dir = await mkdtemp(join(project, 'coverage-'));
  await run(process.execPath, args, { cwd: project, env: cleanEnv({ NODE_V8_COVERAGE: dir }) });
  const reports = await Promise.all((await readdir(dir)).map((name) => readFile(join(dir, name), 'utf8')));
  const urls = reports.flatMap((text) => {
    const { result }: { result: { url: string }[] } = JSON.parse(text);
    return result.map(({ url }) => url);
  });
  return [...new Set(urls)].flatMap((url) => url.split('/node_modules/')[1] ?? []);
}

function packageOf(path: string): string {
  return path.split('/')[0] ?? path;
}

describe('the package', () => {
  it('the package holds what it needs and nothing else', () => {
    expect(files).toContain('dist/cli/bin.cjs');
    expect(files).toContain('dist/index.d.ts');
    expect(files).toContain('dist/inspector/index.html');
    expect(files.filter((path) => path.startsWith('dist/page/'))).toEqual([]);
    expect(files.filter((path) => path.endsWith('.map'))).toEqual([]);
    expect(files).toContain('LICENSE');
    const strays = files.filter(
      (path) =>
        !/^(dist\/|plugins\/|clients\/python\/(src\/throughline_memory\/|pyproject\.toml$|README\.md$)|schemas\/[a-z.-]+\.json$|server\.json$|README\.md$|CHANGELOG\.md$|LICENSE$|package\.json$)/.test(
          path,
        ),
    );
    expect(strays).toEqual([]);
    const declarations = files.filter((path) => path.endsWith('.d.ts'));
    console.log(`packed: ${files.length} files, ${declarations.length} of them declarations`);
    expect(declarations.length).toBeLessThan(200);
  });

  it('the package brings the command line', async () => {
    expect(await inProject('npx', '--no-install', 'throughline', '--version')).toBe(`${VERSION}\n`);
  });

  it.each([
    [
      'throughline',
      [
        'ERROR_CODES',
        'ThroughlineClient',
        'ThroughlineError',
        'connectThroughline',
        'createThroughlineClient',
      ],
    ],
    [
      'throughline/facts',
      [
        'EXTRACTION_RULES',
        'InMemorySessionFactStore',
        'KeywordFactRetriever',
        'RuleBasedFactExtractor',
        'createFactId',
        'factsOfEvent',
        'formatSessionFacts',
      ],
    ],
    ['throughline/traces', ['HookEngine', 'PreCompactHook', 'preparePrompt', 'withPreLlmCompaction']],
    [
      'throughline/schemas',
      [
        'REQUESTS',
        'RESULTS',
        'compileRequest',
        'explicitFact',
        'learningEvent',
        'reviewIssue',
        'sessionEvent',
        'taskId',
        'testRun',
        'traceEntry',
      ],
    ],
    ['throughline/server', ['SERVICES', 'startThroughline']],
    ['throughline/work', ['runPlan']],
  ])('the package exports the listed names from %s, and no others', async (entry, names) => {
    const script = `console.log(JSON.stringify(Object.keys(await import('${entry}')).sort()));`;
    expect(JSON.parse(await evaluated(script))).toEqual(names);
  });

  it('the package gives each JSON Schema by its name', async () => {
    const script = `
      import { createRequire } from 'node:module';
      console.log(createRequire(import.meta.url)('throughline/schemas/result.implementer.json').title);`;
    expect(await evaluated(script)).toBe('ResultImplementer\n');
  });

  it('the package exports no path beside its entry points', async () => {
    const script = `console.log(await import('throughline/dist/services/serve.js').catch((error) => error.code));`;
    expect(await evaluated(script)).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED\n');
  });

  it('the list of components names each package that is installed or comes as a copy, with version, licence and hash', async () => {
    const { bomFormat, specVersion, serialNumber, metadata, components, dependencies } =
      await componentsOfPackage();
    expect({ bomFormat, specVersion }).toEqual({ bomFormat: 'CycloneDX', specVersion: '1.5' });
    expect(serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
    expect(metadata.component).toMatchObject({ name: 'throughline', version: VERSION });
    const shipped = shippedPackages();
    expect(components.map(({ name }) => name).sort()).toEqual(shipped.map(({ name }) => name));
    for (const { name, version, licence, copies } of shipped) {
      const component = components.find((each) => each.name === name);
      expect(component).toMatchObject({ version, licenses: [{ license: { id: licence } }] });
      expect(component?.purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
      expect(component?.hashes.map(({ alg, content }) => `${alg} ${content.length}`)).toEqual([
        'SHA-512 128',
      ]);
      expect(component?.properties).toHaveLength(copies.length > 0 ? 1 : 0);
    }
    const refs = new Set([`throughline@${VERSION}`, ...components.map((each) => each['bom-ref'])]);
    expect(new Set(dependencies.map(({ ref }) => ref))).toEqual(refs);
    expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);

    const lock = await readFile(join(project, 'node_modules', '.package-lock.json'), 'utf8');
    const installed = Object.keys(JSON.parse(lock).packages).map((path) => path.replace('node_modules/', ''));
    const expected = shipped.filter(({ isInstalled }) => isInstalled).map(({ name }) => name);
    expect(installed.sort()).toEqual([...expected, 'throughline'].sort());
  });

  it('the package is at most 33 MB with all its dependencies', async () => {
    const [kilobytes] = (await inProject('du', '-sk', 'node_modules')).split('\t');
    const megabytes = Number(kilobytes) / 1024;
    console.log(`installed, with dependencies: ${megabytes.toFixed(1)} MB`);
    expect(megabytes).toBeLessThanOrEqual(33);
  });

  it('the client entry point loads the NATS client, and neither services nor schemas', async () => {
    const loaded = await loadedBy('--input-type=module', '-e', "await import('throughline')");
    expect([...new Set(loaded.map(packageOf))].sort()).toEqual([
      'lru-cache',
      'nats',
      'nkeys.js',
      'throughline',
      'tweetnacl',
    ]);
    const ours = loaded.filter((path) => packageOf(path) === 'throughline');
    expect(ours).toContain('throughline/dist/sdk/throughline-client.js');
    expect(
      ours.filter((path) =>
        /\/dist\/(cli|services|memory\/(facts|session|learnings|redaction))\//.test(path),
      ),
    ).toEqual([]);
  });

  it('the command line loads no package and few files to print its version or a prompt', async () => {
    const bin = join(project, 'node_modules', 'throughline', 'dist', 'cli', 'bin.cjs');
    const version = await loadedBy(bin, '--version');
    expect(new Set(version.map(packageOf))).toEqual(new Set(['throughline']));
    expect(version.length).toBeLessThanOrEqual(4);
    await using system = await startSystem();
    const request = ['prompt', '--nats', system.url, '-s', 'packed', '-t', '1', '-p', 'Go on', '--new'];
    const compile = await loadedBy(bin, ...request);
    expect(new Set(compile.map(packageOf))).toEqual(new Set(['throughline']));
    expect(compile.length).toBeLessThanOrEqual(7);
  });

  it('the package turns results into facts without a server', async () => {
    const script = `
      import * as facts from 'throughline/facts';
      const store = new facts.InMemorySessionFactStore();
      const result = { task_id: '1', status: 'completed', summary: 'Parser done' };
      const origin = { sequence: 1, at: '2026-01-01T00:00:00Z', role: 'implementer', taskId: '1' };
      store.add(new facts.RuleBasedFactExtractor().extractFromImplementer(result, origin));
      const query = { taskDescription: 'Extend the parser', taskId: '2', maxFacts: 1, maxTokens: 100 };
      console.log(facts.formatSessionFacts(new facts.KeywordFactRetriever(store).retrieve(query)));`;
    expect(await evaluated(script)).toBe('[Session Context]\n- task:1 summary Parser done [task:1]\n');
  });

  it('the package brings the inspector, with its page', async () => {
    await using system = await startSystem();
    const bin = join(project, 'node_modules', 'throughline', 'dist', 'cli', 'bin.cjs');
    const args = ['admin', 'serve', '--nats', system.url, '--only', 'inspector', '--inspector-port', '0'];
    await using serving = await startNode([bin, ...args], {}, project);
    const [, url = ''] = await soon(() => {
      const line = /^inspector (.+)$/m.exec(serving.stdout());
      expect(line).not.toBeNull();
      return line ?? [];
    });
    const html = await (await fetch(url)).text();
    expect(html).toContain('<div id="page">');
    const [, script = ''] = /src="([^"]+)"/.exec(html) ?? [];
    expect(files).toContain(`dist/inspector${script}`);
  });

  it.each([
    ['nothing but its language', []],
    ['the types of Node', ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]],
    ['the types of a browser', ['--lib', 'es2022,dom']],
    ['exact optional properties', ['--exactOptionalPropertyTypes', '--skipLibCheck']],
  ])(
    'the package’s types compile in a strict program with %s, and each wrong use is an error',
    async (_, more) => {
      await writeFile(join(project, 'consumer.ts'), CONSUMER);
      const tsc = join(root, 'node_modules', '.bin', 'tsc');
      const options = [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--lib',
        'es2022',
        '--module',
        'nodenext',
      ];
      await inProject(tsc, ...options, ...more, 'consumer.ts').catch((fault: { stdout: string }) => {
        expect.fail(fault.stdout);
      });
    },
  );

  it('the package says where to read on and where to report, from the one repository of package.json', async () => {
    const packed = (name: string) => readFile(join(project, 'node_modules', 'throughline', name), 'utf8');
    const web = 'https://example.com/owner/throughline';
    expect(JSON.parse(await packed('package.json'))).toMatchObject({
      repository: REPOSITORY,
      homepage: `${web}#readme`,
      bugs: { url: `${web}/issues` },
    });
    expect(await packed('README.md')).toContain(`](${web}/blob/v${VERSION}/docs/concepts.md)`);
  });
});

/** Every exported type, as a consumer writes it. */
const CONSUMER = `
import {
  type BoardCounts, type BudgetReport, type ClientOptions, type ClientTransport, type CompiledFact, type CompileReply,
  type CompileReplyTo, type CompileRequest, type ConnectOptions, connectThroughline, type Considered,
  type ConsideredFact, type ConsideredFile, createThroughlineClient, type DispatchReply,
  ERROR_CODES, type ErrorCode, type IterationReply, type Learning,
  type Proposal, type Published, type ReplyTo, type RequestInput, type Result, type Role, type RunStatusReply, type SectionReport, type Session, type SessionOverview, type SessionStartReply, type TaskView,
  ThroughlineClient, ThroughlineError, type WatchedEvent, type ToolReply,
} from 'throughline';
import {
  createFactId, type FactQuery, formatSessionFacts, type IFactExtractor, type IFactRetriever,
  InMemorySessionFactStore, type ISessionFactStore, KeywordFactRetriever, RuleBasedFactExtractor, type SessionFact,
  type SessionFactTag,
} from 'throughline/facts';
import { compileRequest, RESULTS, sessionEvent } from 'throughline/schemas';
import { type RunningThroughline, type ServerOptions, startThroughline } from 'throughline/server';
import { HookEngine, type PreLlmOptions, preparePrompt, withPreLlmCompaction } from 'throughline/traces';

const where: ConnectOptions = { url: 'nats://127.0.0.1:4222', timeoutMs: 1000 };
await using client: ThroughlineClient = await connectThroughline(where);
export const shared = (connection: Parameters<typeof createThroughlineClient>[0]): ThroughlineClient =>
  createThroughlineClient(connection, { timeoutMs: 1000 });
const session: Session = client.session('s');
const done: Result<'implementer'> = { taskId: '1', status: 'completed', summary: 'x', filesModified: ['a.ts'] };
const review: Result<'reviewer'> = { taskId: '1', assessment: 'approved', issues: [{ severity: 'minor', message: 'x' }] };
const published: Published = await session.publish('implementer', done);
const role: Role = 'reviewer';
await session.publish('reviewer', review);
await session.publish('observer', { taskId: '1', summary: 'x' });
await client.publishText('s', role, 'text');

const dispatch: DispatchReply = await client.compile({ session: 's', taskId: '2', taskPrompt: 'x', after: published.sequence });
export const hashes: readonly string[] = [dispatch.stablePrefixHash, dispatch.messages?.[0]?.content ?? '', dispatch.ledger.mode];
const same: DispatchReply = await session.compile({ taskId: '2', taskPrompt: 'x' });
export const compiled: string = same.prompt;
const asMessages = await client.compile({ session: 's', taskId: '2', taskPrompt: 'x', include: ['messages', 'facts'] });
export const content: string = asMessages.messages.map((each) => each.content).join() + asMessages.facts.length;
const iteration: IterationReply = await client.compile({ kind: 'iteration', session: 's' });
const started: SessionStartReply = await client.compile({ kind: 'session-start', session: 's', maxLearnings: 3 });
export const shown: number = started.learningsShown;
export const maybe: number | undefined = iteration.learningsShown;
declare const request: CompileRequest;
const reply: CompileReply = await client.compile(request);
const budget: BudgetReport = reply.budget;
export const roomLeft: number = budget.room - budget.used;
const sections: readonly SectionReport[] = budget.sections;
export const cut: readonly string[] = sections.filter(({ shown, total }) => shown < total).map(({ name }) => name);
const considered: Considered | undefined = reply.considered;
const weighed: ConsideredFact | undefined = considered?.facts[0];
const likely: ConsideredFile | undefined = considered?.files[0];
export const why: string | undefined = weighed?.left ?? likely?.path;
export const typed: CompileReplyTo<{ kind: 'iteration'; session: string }> = iteration;
const fact: CompiledFact | undefined = reply.facts?.[0];
export const words: string = fact === undefined ? '' : fact.subject + fact.object;

const initiated: ReplyTo<'run.init'> = await client.runs.init({ session: 's', spec: 'parser', tasksText: '- [ ] 1. x' });
export const problems: readonly string[] = initiated.problems.map(({ line, code, message }) => line + code + message);
const status: RunStatusReply = await client.runs.status({ session: 's' });
export const left: number = status.run === null ? 0 : status.run.totals.pending;
export const next: readonly string[] = status.tasks.map((each) => each.next_action + each.required_fixes);
const added: ToolReply<'task-add'> = await client.tools.taskAdd({ session: 's', content: 'x' });
export const task: TaskView | null = added.task;
export const events: AsyncIterable<WatchedEvent> = session.watch({ after: added.sequence });
export const again: TaskView = (await session.tools.taskAdd({ content: 'x' })).task;
export const tasks: readonly string[] = (await session.tools.taskList()).tasks.flatMap((each) => each.depends_on);
const overview: SessionOverview = (await client.runs.status({ session: 's' })).session;
const board: BoardCounts = overview.board;
export const counts: number = board.ready + (overview.plan?.total ?? 0) + overview.facts + overview.dispatches.rejected;
export const status2: 'open' | 'completed' = (await client.tools.sessionComplete({ session: 's' })).session.status;
export const deleted: string | undefined = (await client.tools.taskDelete({ session: 's', id: '1' })).deleted;
export const appended: number = (await client.traces.append({ session: 's', entries: [{ intent_id: 'I', action_type: 'ERROR' }] })).appended;
export const summary: string | null = (await client.traces.compact({ session: 's', intentId: 'I' })).summary;

const proposal: RequestInput<'learning.propose'> = { content: 'Run the linter', type: 'pattern', confidence: 0.8 };
const proposed: ReplyTo<'learning.propose'> = await client.learnings.propose(proposal);
const view: ReplyTo<'proposal.show'> = await client.proposals.accept({ id: proposed.proposal.id, by: 'anna', person: true, merge: true });
export const learned: Learning | null = view.learning;
export const pending: readonly Proposal[] = (await client.proposals.list()).proposals;
export const transport = (each: ClientTransport, options: ClientOptions) => new ThroughlineClient(each, options);
export const codeOf = (error: unknown): ErrorCode | undefined =>
  error instanceof ThroughlineError ? error.code : undefined;
export const meaning: string = ERROR_CODES.not_caught_up;

const store: ISessionFactStore = new InMemorySessionFactStore();
const extractor: IFactExtractor = new RuleBasedFactExtractor();
const retriever: IFactRetriever = new KeywordFactRetriever(store);
const tag: SessionFactTag = 'decision';
const query: FactQuery = { taskDescription: 'x', taskId: '1', tags: [tag], maxFacts: 1, maxTokens: 1 };
const facts: SessionFact[] = retriever.retrieve(query);
export const text: string = formatSessionFacts(facts) + createFactId('a', 'b', 'c');
export const extracted: SessionFact[] = extractor.extractFromReviewer(
  { task_id: '1', assessment: 'approved' }, { sequence: 1, at: '', role: 'reviewer', taskId: '1' },
);

export const parsed: string = RESULTS.implementer.parse({}).task_id + compileRequest.parse(request).session;
export const event: string = sessionEvent.parse({}).type;
const options: PreLlmOptions = { hookEngine: new HookEngine(), logger: { error() {} } };
export const prepared: string = (await preparePrompt('x', options)).effective;
export const ask: (system: string, question: number) => Promise<boolean> =
  withPreLlmCompaction((system: string, question: number) => system.length > question, options);

const embedded: ServerOptions = { server: { store: 'x' }, services: ['extractor'], settings: { THROUGHLINE_TUNING: 'cacheMb=8' } };
const running: RunningThroughline = await startThroughline(embedded);
export const url: string = running.url;
await running.close();

// @ts-expect-error a status that does not exist
await session.publish('implementer', { taskId: '1', status: 'done', summary: 'x' });
// @ts-expect-error a field in the spelling of the wire
await session.publish('implementer', { taskId: '1', status: 'completed', files_modified: [] });
// @ts-expect-error the session is known
await session.tools.taskAdd({ session: 's', content: 'x' });
// @ts-expect-error a request without a task
await client.compile({ session: 's' });
// @ts-expect-error an iteration has no messages
iteration.messages;
// @ts-expect-error a part that was not asked for may be missing
asMessages.files.length;
// @ts-expect-error a decision without an id
await client.proposals.accept({ by: 'anna' });
// @ts-expect-error a status that no proposal has
await client.proposals.list({ status: 'open' });
// @ts-expect-error a role that does not exist
await client.publishText('s', 'boss', 'text');
// @ts-expect-error a setting that does not exist
await startThroughline({ settings: { THROUGHLINE_CASH_MB: '8' } });
`;
