import { z } from 'zod';
import { TOKEN_PATTERN } from './names.js';

/** Not validated here: making a subject of it does that, with its own error code. */
export const sessionName = z.string().meta({
  description: 'Name of the session: 1 to 64 characters of A-Z a-z 0-9 _ and -.',
  pattern: TOKEN_PATTERN.source,
});
