import { figureText, newestOf, type PlotData } from './health-points.js';

const [WIDTH, HEIGHT] = [300, 90];

/** One figure over the last hour; `dots` marks each point and joins them over gaps, for a sparse series. */
export function Plot(props: {
  readonly title: string;
  readonly unit: string;
  readonly data: PlotData;
  readonly tone: 'accent' | 'good' | 'bad' | 'warn';
  readonly dots?: boolean;
}) {
  const { title, unit, data, tone, dots = false } = props;
  const newest = newestOf(data);
  const most = data.values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0);
  const [first = 0] = data.times;
  const last = data.times.at(-1) ?? first;
  const points = data.times.flatMap((time, index) => {
    const value = data.values[index] ?? null;
    if (value === null) return dots ? [] : [null];
    const x = ((time - first) / Math.max(1, last - first)) * WIDTH;
    return [`${x.toFixed(1)} ${(HEIGHT - (value / (most || 1)) * (HEIGHT - 4) - 2).toFixed(1)}`];
  });
  const line = points.map((point, index) => {
    if (point === null) return '';
    // A point alone is a line to itself: its round ends make a dot.
    const starts = index === 0 || points[index - 1] === null;
    return `${starts ? `M${point}` : ''}L${point}`;
  });
  return (
    <figure class="card plot">
      <figcaption>
        <span class="quiet">{title}</span>
        <strong class="figure">{newest === undefined ? 'not known yet' : figureText(newest, unit)}</strong>
      </figcaption>
      <svg
        class={`plot-line ${tone}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={
          newest === undefined
            ? `${title}: not known yet`
            : `${title} over the last hour: now ${figureText(newest, unit)}, at most ${figureText(most, unit)}`
        }
      >
        <path d={line.join('')} />
      </svg>
      <p class="plot-axis quiet small figure">
        <span>{clock(first)}</span>
        <span>at most {figureText(most, unit)}</span>
        <span>{clock(last)}</span>
      </p>
    </figure>
  );
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });

function clock(seconds: number): string {
  return seconds === 0 ? '' : CLOCK.format(seconds * 1000);
}
