import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TIER } from './test/support/tier.js';
import { isSystem, isTimed, TESTS, tierOf } from './test/tiers.js';

// No test starts a server by accident: those of that start set it to 1.
process.env.THROUGHLINE_AUTOSTART = '0';

const SOURCE = fileURLToPath(new URL('src', import.meta.url));
const BUILD = fileURLToPath(new URL('dist', import.meta.url));

/**
 * A process for as many files as there are: one after another, each with a check after its last test that nothing is left
 * open. It loads the modules that the global set-up has built, by itself: a thousand sources through the test runner take
 * each process seconds.
 */
const PROCESSES = {
  globalSetup: ['test/support/global-setup.ts'],
  setupFiles: ['test/support/file-report.ts', 'test/support/nothing-left.ts'],
  pool: 'forks' as const,
  isolate: false,
  server: { deps: { external: [/\/dist\/.*\.js$/] } },
};
const BUILT = { plugins: [{ name: 'built', enforce: 'pre' as const, resolveId: builtModule }] };

/** The built module for one of `src`, as a test or its support imports it; the page is bundled and has none. */
function builtModule(path: string, importer: string | undefined) {
  if (importer === undefined || !path.startsWith('.') || !path.endsWith('.js')) return null;
  const inSource = relative(SOURCE, resolve(dirname(importer), path));
  return /^(\.\.|page)\//.test(inSource) ? null : { id: join(BUILD, inSource), external: true };
}

const inTier = (path: string) => TIER === 'all' || tierOf(path) === TIER;

export default defineConfig({
  test: {
    // Some tests run forty commands, each a process: on a busy machine one of these takes two seconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Longest wait for something that happens in milliseconds on an idle machine; as `soon` of test/support.
    expect: { poll: { timeout: 45_000 } },
    // One more than there are cores: many tests wait for a process, a server or a time, and a core must not wait with them.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        extends: true,
        // Values in, values out: these share a process, and what they import is loaded once.
        test: {
          name: 'unit',
          include: TESTS.filter((path) => !isSystem(path) && inTier(path)),
          setupFiles: ['test/support/file-report.ts'],
          // Processes and not threads: the time of a thread is not told apart from that of the others.
          pool: 'forks',
          isolate: false,
        },
      },
      {
        extends: true,
        ...BUILT,
        test: {
          name: 'system',
          include: TESTS.filter((path) => isSystem(path) && !isTimed(path) && inTier(path)),
          ...PROCESSES,
        },
      },
      {
        extends: true,
        ...BUILT,
        test: {
          name: 'timed',
          include: TESTS.filter((path) => isTimed(path) && inTier(path)),
          ...PROCESSES,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
