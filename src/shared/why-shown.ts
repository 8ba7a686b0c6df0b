const SHOWN = {
  words: 'words of the task',
  file: 'a likely or open file',
  similar: 'a similar result',
  recent: 'the budget that was left',
};

const LEFT = {
  rank: 'others came first',
  'near-duplicate': 'another says nearly the same',
  'one task': 'its task has enough places',
  held: 'its places were reserved for findings and conventions',
  'likely file': 'a likely file says it already',
  budget: 'the budget was used up',
};

interface Considered {
  readonly because: keyof typeof SHOWN;
  readonly words: readonly string[];
  readonly left?: keyof typeof LEFT;
  readonly duplicateOf?: string;
}

/** Returns why a prompt shows a fact. */
export function whyShown({ because, words }: Pick<Considered, 'because' | 'words'>): string {
  return words.length === 0 ? SHOWN[because] : `${SHOWN[because]} (${words.join(', ')})`;
}

/** Returns why a prompt does not show a fact or file. */
export function whyLeft({ left = 'rank', duplicateOf }: Pick<Considered, 'left' | 'duplicateOf'>): string {
  return duplicateOf === undefined ? LEFT[left] : `${LEFT[left]} (${duplicateOf})`;
}
