/** Where the inspector is unless told otherwise. */
export const DEFAULT_PORT = 4280;
