import { z } from 'zod';

/** Fields of a reply that is one page of a list. */

export const next = z
  .string()
  .exactOptional()
  .describe('Cursor of the next page, to send as cursor; absent on the last page.');
