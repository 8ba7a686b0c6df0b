import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { messageOf } from '../../src/contracts/errors.js';
import { credentialsFolder } from '../support/credentials.js';
import { startGuardedSystem } from '../support/guarded-system.js';
import { startPrivateNats } from '../support/nats-server.js';
import { afterTest, folderOfFile } from '../support/of-file.js';
import { must, python3, ROOT, sampleIn } from '../support/samples.js';
import { eventsOf, newSession, systemOfFile } from '../support/system.js';

/** The Python client as its users get it: built as a wheel, and installed into a fresh environment. */

const PACKAGE = join(ROOT, 'clients/python');

const system = await systemOfFile();
const folder = await folderOfFile();
/** The Python of the environment, or why there is none. */
const python = await installed().catch((fault: unknown) => ({
  missing: `the wheel cannot be installed: ${messageOf(fault)}`,
}));

async function installed(): Promise<string | { readonly missing: string }> {
  const found = await python3();
  if (found === undefined) return { missing: 'no python3 on PATH' };
  await must(found, ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', folder, PACKAGE]);
  const [wheel = ''] = (await readdir(folder)).filter((name) => name.endsWith('.whl'));
  await must(found, ['-m', 'venv', join(folder, 'env')]);
  const fresh = join(folder, 'env', 'bin', 'python3');
  await must(fresh, ['-m', 'pip', 'install', '--quiet', join(folder, wheel)]);
  return fresh;
}

it('the sample does what it says with the package that the wheel brings', async ({ skip }) => {
  if (typeof python !== 'string') return skip(python.missing);
  const session = newSession('python');
  const sample = (await readFile(join(PACKAGE, 'sample.py'), 'utf8')).replace('"demo"', `"${session}"`);
  const lines = (await must(python, ['-c', sample], { NATS_URL: system.url })).trim().split('\n');
  expect(lines.sort()).toEqual([
    'answered',
    'command question.answered TAS-1',
    'command task.added TAS-1',
    'command task.claimed TAS-1',
    expect.stringMatching(/^not_found - ./),
    'result fact.recorded TAS-1',
  ]);
  expect((await eventsOf(system, session)).at(-1)?.event.type).toBe('question.answered');
});

it('the package, its sample and the program of the tutorial pass mypy under strict rules', async ({
  skip,
}) => {
  if (typeof python !== 'string') return skip(python.missing);
  const mypy = await must(python, ['-m', 'pip', 'install', '--quiet', 'mypy']).catch(messageOf);
  if (mypy !== '') return skip(`mypy cannot be installed: ${mypy}`);
  const program = join(folder, 'orchestrator.py');
  await writeFile(program, await sampleIn('docs/reference/python.md', 'python'));
  const checked = [join(PACKAGE, 'src'), join(PACKAGE, 'sample.py'), program];
  await must(python, ['-m', 'mypy', '--strict', '--cache-dir', join(folder, 'mypy'), ...checked]);
  const printed = await must(python, [program], { NATS_URL: system.url });
  expect(printed).toMatch(/^TAS-1 round 1: .* -> needs_changes\nTAS-1 round 2: .* -> approved\n$/);
});

it('a certificate that does not fit ends the Python client at once, with the reason', async ({ skip }) => {
  if (typeof python !== 'string') return skip(python.missing);
  await using files = await credentialsFolder();
  const ca = await files.authority('ca');
  const { cert, key } = await files.certificate('misnamed', 'ca', 'DNS:nats.example.com');
  const nats = await startPrivateNats({ extraConfig: `tls { cert_file: "${cert}", key_file: "${key}" }` });
  afterTest(() => nats.stop());
  const program = `import asyncio, ssl, throughline_memory
async def main():
    tls = ssl.create_default_context(cafile="${ca}")
    try:
        await throughline_memory.connect("${nats.url}", tls=tls, timeout=60)
    except throughline_memory.ThroughlineError as error:
        print(error.code)
asyncio.run(main())`;
  expect(await must(python, ['-c', program])).toBe('tls_failed\n');
});

it('the Python client does what its own tests and the cases of all languages say', async ({ skip }) => {
  if (typeof python !== 'string') return skip(python.missing);
  await using guarded = await startGuardedSystem([
    { name: 'guest', role: 'publisher', args: ['--session', 'mine'] },
  ]);
  const { password = '' } = guarded.access('guest');
  const env = { NATS_URL: system.url, GUARDED_URL: guarded.url, GUARDED_PASSWORD: password };
  for (const file of ['test_client.py', 'test_conformance.py'])
    await must(python, ['-W', 'error', join(PACKAGE, 'tests', file)], env);
});
