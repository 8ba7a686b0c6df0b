import { signal } from '@preact/signals';

const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 10_000);

/** How long ago something was, with the whole time as its title. `at` is ISO 8601. */
export function Ago({ at }: { readonly at: string }) {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return <span>{at}</span>;
  return (
    <time dateTime={at} title={wholeTime(at)}>
      {agoText(now.value - time)}
    </time>
  );
}

/** Time of day, with the date where it is not today. `at` is ISO 8601. */
export function Clock({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={wholeTime(at)}>
      {clockText(new Date(at), new Date(now.value))}
    </time>
  );
}

/** Made once: each one takes longer than all that it formats on a screen. */
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const DAY_OF_YEAR = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: '2-digit' });

/** Date and time, in the reader's own zone and in UTC. */
export function wholeTime(at: string): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? at : `${WHOLE.format(time)}, in UTC ${at.slice(0, 19).replace('T', ' ')}`;
}

/** Such as `now`, `40 s`, `5 min`, `3 h`, `12 d`. */
export function agoText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 5) return 'now';
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} d ago`;
}

/** Such as `14:03:27`, or `12 Mar 14:03` for another day. */
function clockText(time: Date, today: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (time.toDateString() === today.toDateString()) return `${minutes}:${two(time.getSeconds())}`;
  const day = (time.getFullYear() === today.getFullYear() ? DAY : DAY_OF_YEAR).format(time);
  return `${day} ${minutes}`;
}
