import type { ThroughlineClient } from '../src/sdk/throughline-client.js';

/**
 * Fills an installation with what the inspector has to show: a recorded session with its prompts, a board, a plan,
 * learnings that wait for a person, and results that could not be used.
 *
 * @param session its name; default: `parser`
 */
export function fillInspector(client: ThroughlineClient, session?: string): Promise<void>;

/** Two sessions beside it: one that goes round in circles, and one that has just begun. */
export function fillStalled(client: ThroughlineClient): Promise<void>;
