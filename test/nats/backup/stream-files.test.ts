import { describe, expect, it } from 'vitest';
import { newDirectory } from '../../../src/nats/backup/stream-files.js';

describe('the directory of a new backup', () => {
  // Node's own recursive mkdir never returns there.
  it.each(['/proc/backup', '/proc/backup/of/today'])(
    'is refused where none can be made: %s',
    async (path) => {
      await expect(newDirectory(path)).rejects.toThrow(path);
    },
  );
});
