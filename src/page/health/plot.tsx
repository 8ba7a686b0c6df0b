import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { HealthHistoryReply, HealthPoint } from '../../contracts/inspector-api.js';
import { theme } from '../theme.js';

const HEIGHT = 150;
const dark = matchMedia('(prefers-color-scheme: dark)');

/** One figure over the last hour. What draws it is loaded with the first one. */
export function Plot(props: {
  readonly title: string;
  readonly unit: string;
  readonly data: PlotData;
  readonly tone: 'accent' | 'good' | 'bad' | 'warn';
  /** Moments are marked and joined over gaps: for a figure that is known now and then only. */
  readonly dots?: boolean;
}) {
  const { title, unit, data, tone, dots = false } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const newest = newestOf(data);
  const known = data.values.filter((value) => value !== null);
  const chosen = theme.value;
  // Drawn again with other colours; new data only goes into the plot that is there.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let gone = false;
    let own: uPlot | undefined;
    const resize = new ResizeObserver(() => own?.setSize({ width: element.clientWidth, height: HEIGHT }));
    const draw = async () => {
      const { default: Chart } = await import('uplot');
      if (gone) return;
      own?.destroy();
      own = new Chart(options(element, tone, dots), asColumns(data), element);
      plot.current = own;
    };
    const again = () => void draw();
    void draw();
    resize.observe(element);
    dark.addEventListener('change', again);
    return () => {
      gone = true;
      resize.disconnect();
      dark.removeEventListener('change', again);
      own?.destroy();
      plot.current = undefined;
    };
  }, [tone, chosen, dots]);
  useEffect(() => plot.current?.setData(asColumns(data)), [data]);
  const most = known.length === 0 ? 0 : Math.max(...known);
  return (
    <figure class="card plot">
      <figcaption class="plot-head">
        <span class="quiet">{title}</span>
        <strong class="figure">{newest === undefined ? 'not known yet' : figureText(newest, unit)}</strong>
      </figcaption>
      <div
        ref={place}
        class="plot-place"
        role="img"
        aria-label={
          newest === undefined
            ? `${title}: not known yet`
            : `${title} over the last hour: now ${figureText(newest, unit)}, at most ${figureText(most, unit)}`
        }
      />
    </figure>
  );
}

function asColumns({ times, values }: PlotData): uPlot.AlignedData {
  return [[...times], [...values]];
}

function options(element: HTMLElement, tone: string, dots: boolean): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: colour('quiet'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    padding: [8, 8, 0, 0],
    scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.15 : 1] } },
    axes: [
      {
        ...axis,
        space: 70,
        size: 26,
        values: [
          [60, '{HH}:{mm}', null, null, null, null, null, null, 1],
          [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1],
        ],
      },
      { ...axis, size: 46, space: 34 },
    ],
    series: [
      {},
      {
        stroke: colour(tone),
        fill: colour(`${tone}-soft`),
        width: 1.6,
        // Where they are few, uPlot shows them of its own accord: one moment alone is no line.
        points: { ...(dots && { show: true }), size: 5, fill: colour(tone) },
        spanGaps: dots,
      },
    ],
  };
}

type HealthSeries = Exclude<keyof HealthPoint, 'at'>;

/** Times in seconds, and one value for each; null where nothing is known. */
interface PlotData {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

/** One series over time. Where moments are missing, the line has a gap. */
export function plotData({ points, everyMs }: HealthHistoryReply, name: HealthSeries): PlotData {
  const times: number[] = [];
  const values: (number | null)[] = [];
  let before: number | undefined;
  for (const point of points) {
    const time = Date.parse(point.at) / 1000;
    if (before !== undefined && time - before > (everyMs / 1000) * 3) {
      times.push(before + everyMs / 1000);
      values.push(null);
    }
    times.push(time);
    values.push(point[name] ?? null);
    before = time;
  }
  return { times, values };
}

/** The last value that is known. */
export function newestOf({ values }: PlotData): number | undefined {
  return values.findLast((value) => value !== null) ?? undefined;
}

/** Such as `0`, `3.4`, `128`, `1.2 GB` with `bytes`. */
export function figureText(value: number, unit = ''): string {
  if (unit === 'bytes') return bytesText(value);
  const digits = value === 0 || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const text = value.toLocaleString('en', { maximumFractionDigits: digits });
  return unit === '' ? text : `${text} ${unit}`;
}

export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toLocaleString('en', { maximumFractionDigits: unit === 0 || value >= 100 ? 0 : 1 })} ${units[unit]}`;
}

/** Such as `3 d 4 h`, `12 min`. */
export function durationText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${Math.floor(seconds)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The figures of a service as lines: fields within fields are joined by a dot. */
export function numberLines(
  numbers: Readonly<Record<string, unknown>>,
  before = '',
): [name: string, value: string][] {
  return Object.entries(numbers).flatMap(([name, value]): [string, string][] => {
    const whole = `${before}${words(name)}`;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return numberLines(value as Record<string, unknown>, `${whole}: `);
    }
    return [[whole, typeof value === 'number' ? value.toLocaleString('en') : String(value)]];
  });
}

/** `sessionsInMemory` in words. */
function words(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, (_, one: string, other: string) => `${one} ${other.toLowerCase()}`);
}
