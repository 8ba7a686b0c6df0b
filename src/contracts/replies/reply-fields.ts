import { z } from 'zod';

/** Fields that several replies have. */

/** How many there are. */
export const count = (about: string) => z.int().describe(about);

/** Where in a stream something stands. */
export const place = (about: string) => z.int().describe(about);

export const time = (about: string) => z.string().describe(`${about}, ISO 8601 in UTC.`);

/** The session sequence that a reply reflects. */
export const sequence = place('Session sequence that the answer reflects.');
