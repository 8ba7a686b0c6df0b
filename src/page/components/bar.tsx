import { figure } from '../words.js';
/** How much of something is done, in figures and as a bar. */
export function Progress(props: { readonly label: string; readonly done: number; readonly total: number }) {
  return (
    <span class="progress">
      <span class="progress-label">
        {props.label}{' '}
        <span class="figure">
          {props.done}/{props.total}
        </span>
      </span>
      <Share part={props.done} whole={props.total} />
    </span>
  );
}

/** A bar that is filled by a share. Figures stand beside it: alone it says nothing to those who hear the page. */
export function Share({
  part,
  whole,
  tone,
}: {
  readonly part: number;
  readonly whole: number;
  readonly tone?: string;
}) {
  const share = whole <= 0 ? 0 : Math.min(1, part / whole);
  return (
    <span class="share" aria-hidden="true">
      <span class={`share-part ${tone ?? ''}`} style={{ width: `${(share * 100).toFixed(2)}%` }} />
    </span>
  );
}

export interface BarPart {
  readonly name: string;
  readonly value: number;
}

/** What something is made of, as one bar with a legend: `room` is what there is place for. */
export function StackedBar(props: {
  readonly label: string;
  readonly parts: readonly BarPart[];
  readonly room: number;
  readonly unit: string;
}) {
  const used = props.parts.reduce((sum, { value }) => sum + value, 0);
  const whole = Math.max(props.room, used, 1);
  return (
    <figure class="stacked">
      <div class="stacked-bar" aria-hidden="true">
        {props.parts.map(({ name, value }, index) => (
          <span
            key={name}
            class={`stacked-part hue-${index % 8}`}
            title={`${name}: ${figure(value)} ${props.unit}`}
            style={{ width: `${((value / whole) * 100).toFixed(3)}%` }}
          />
        ))}
      </div>
      <figcaption>
        <span class="visually-hidden">{props.label}: </span>
        <ul class="legend">
          {props.parts.map(({ name, value }, index) => (
            <li key={name}>
              <span class={`legend-dot hue-${index % 8}`} aria-hidden="true" />
              {name} <span class="figure">{figure(value)}</span>
            </li>
          ))}
          <li class="quiet">
            <span class="figure">
              {figure(used)} of {figure(props.room)} {props.unit}
            </span>
          </li>
        </ul>
      </figcaption>
    </figure>
  );
}
