import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { theme } from '../theme.js';
import { figureText, newestOf, type PlotData } from './health-points.js';

const HEIGHT = 150;
const dark = matchMedia('(prefers-color-scheme: dark)');

/** One figure over the last hour. uPlot is loaded with the first plot. */
export function Plot(props: {
  readonly title: string;
  readonly unit: string;
  readonly data: PlotData;
  readonly tone: 'accent' | 'good' | 'bad' | 'warn';
  /** Marks points and joins them over gaps, for a sparse series. */
  readonly dots?: boolean;
}) {
  const { title, unit, data, tone, dots = false } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const newest = newestOf(data);
  const known = data.values.filter((value) => value !== null);
  const chosen = theme.value;
  // A change of colours draws a new plot; new data only updates the current one.
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
      <figcaption>
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
  // A canvas needs a computed colour: a custom property would return its `light-dark()` text.
  const colour = (name: string) => {
    element.style.color = `var(--${name})`;
    return getComputedStyle(element).color;
  };
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
        // By default uPlot marks points only if they are few.
        points: { ...(dots && { show: true }), size: 5, fill: colour(tone) },
        spanGaps: dots,
      },
    ],
  };
}
