import { figure } from '../words.js';

/** Background of the section at an index; neighbours differ by the golden angle. */
export function hue(index: number) {
  return { background: `oklch(var(--section) ${(265 + index * 137.5) % 360})` };
}

/** A bar of the sections of a prompt by their tokens, with a legend. */
export function StackedBar(props: {
  readonly parts: readonly { readonly name: string; readonly value: number }[];
  /** Tokens of a full bar. */
  readonly room: number;
}) {
  const used = props.parts.reduce((sum, { value }) => sum + value, 0);
  const whole = Math.max(props.room, used, 1);
  return (
    <figure>
      <div class="stacked-bar" aria-hidden="true">
        {props.parts.map(({ name, value }, index) => (
          <span
            key={name}
            class="stacked-part"
            title={`${name}: ${figure(value)} tokens`}
            style={{ ...hue(index), width: `${((value / whole) * 100).toFixed(3)}%` }}
          />
        ))}
      </div>
      <figcaption>
        <span class="visually-hidden">Tokens by section: </span>
        <ul class="legend small">
          {props.parts.map(({ name, value }, index) => (
            <li key={name}>
              <span class="legend-dot" style={hue(index)} aria-hidden="true" />
              {name} <span class="figure">{figure(value)}</span>
            </li>
          ))}
          <li class="quiet">
            <span class="figure">
              {figure(used)} of {figure(props.room)} tokens
            </span>
          </li>
        </ul>
      </figcaption>
    </figure>
  );
}
