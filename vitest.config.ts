import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // A handful of files start their own server: a fork each keeps a leaked handle visible in its own process.
    pool: 'forks',
    reporters: ['default'],
  },
});
