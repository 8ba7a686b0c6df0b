import { counted } from './text.js';

const STALLS: Readonly<Record<string, string>> = {
  non_progress: 'blocked or failed',
  ping_pong: 'sent back by a review',
  same_fixes: 'the same fix required',
  same_test: 'the same test failing',
  same_files: 'the same files changed',
};

/**
 * `ping_pong 5: Bound the wait | same_files 4: a.ts` becomes `sent back by a review 5 times: … · the same files changed
 * …`.
 */
export function stallText(hint: string): string {
  return hint.replaceAll(
    /(^| \| )(non_progress|ping_pong|same_fixes|same_test|same_files) (\d+)(?=:|$| \| )/g,
    (_, before: string, signal: string, times: string) =>
      `${before === '' ? '' : ' · '}${STALLS[signal]} ${counted(Number(times), 'time')}`,
  );
}
