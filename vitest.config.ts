import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Some tests run forty commands, each a process: on a busy machine one of these takes two seconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Longest wait for something that happens in milliseconds on an idle machine; as `soon` of test/support.
    expect: { poll: { timeout: 45_000 } },
    // A process for each file: a handle that one leaks shows there and nowhere else.
    pool: 'forks',
    // By default one core is left free, which on two of them is half of all.
    maxWorkers: '100%',
  },
});
