import { z } from 'zod';
import { TOKEN_PATTERN } from './names.js';

/**
 * The session of a request. What it may hold is only said, and checked where a subject is made of it: that refusal has a
 * code of its own.
 */
export const sessionName = z.string().meta({
  description: 'Name of the session: 1 to 64 characters of A-Z a-z 0-9 _ and -.',
  pattern: TOKEN_PATTERN.source,
});
