/** What a key does in a review. */
export const ACTIONS = {
  accept: { key: 'a', help: 'accept it: it becomes a learning' },
  reject: { key: 'r', help: 'reject it' },
  edit: { key: 'e', help: 'edit its text, then decide' },
  skip: { key: 's', help: 'skip it: it stays pending' },
  merge: { key: 'm', help: 'merge it: its evidence goes to the learning that says nearly the same' },
  separate: { key: 'b', help: 'keep both, beside the learning that says nearly the same' },
  evidence: { key: 'v', help: 'view all its evidence' },
  quit: { key: 'q', help: 'quit: what is decided stays decided, the rest stays pending' },
  help: { key: '?', help: 'this help' },
} as const;

export type Action = keyof typeof ACTIONS;

const NAMES = Object.keys(ACTIONS).filter((name): name is Action => Object.hasOwn(ACTIONS, name));

/** What a key does, in either case. */
export function actionOf(key: string): Action | undefined {
  // Ctrl-D ends the input of any other program.
  if (key === '\u0004') return 'quit';
  return NAMES.find((name) => ACTIONS[name].key === key.toLowerCase());
}
