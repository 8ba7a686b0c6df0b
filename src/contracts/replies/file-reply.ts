import { z } from 'zod';
import { count, place, sequence, time } from './reply-fields.js';
import type { Told } from './told.js';

/** The reply of `file-list`. */

export const filesListed = z.object({
  files: z
    .array(
      z
        .object({
          path: z.string().describe('Path of the file.'),
          uses: count('How many results touched it.'),
          tasks: z.array(z.string()).describe('Up to ten tasks that touched it, the newest first.'),
          last: time('When a result last touched it, where that is known').exactOptional(),
        })
        .meta({ id: 'TouchedFile', description: 'A file that results touched.' }),
    )
    .describe('Files that results touched, the most used first.'),
  links: z
    .array(
      z
        .object({
          from: place('Place of one file in files, 0 for the first.'),
          to: place('Place of the other file in files.'),
          together: count('How many results touched both.'),
        })
        .meta({ id: 'FileLink', description: 'Two files that change together.' }),
    )
    .describe('Files of this list that results touched together, the most often first: at most 200.'),
  total: count('All files that fit.'),
  sequence,
});

export type FilesListed = Told<typeof filesListed>;
