import type { StrategyDescription, StrategyParameter } from '../../../src/index.ts';
import { IdleButton } from '../../parts/idle-button.tsx';
import { TypedInput } from '../../parts/typed-input.tsx';
import { setParams, useRoute } from '../../router.ts';
import { presentValue, setting, unreadParameters, unset } from './request.ts';

/** Sliders for the parameters of a strategy. Moving one repeats the recall at once. */
export function Parameters({
  strategy,
  prefix,
}: {
  readonly strategy: StrategyDescription;
  /** The prefix of their names in the address. */
  readonly prefix: string;
}) {
  const { params } = useRoute();
  const { parameters } = strategy;
  const changed = Object.keys(unset(params, prefix)).length;
  if (parameters.length === 0) return <p class="quiet">This strategy has no parameters.</p>;
  return (
    <div class="stack">
      {parameters.map((parameter) => (
        <Parameter key={`${strategy.name} ${parameter.name}`} parameter={parameter} prefix={prefix} />
      ))}
      <IdleButton idle={changed === 0} onClick={() => setParams(unset(params, prefix))}>
        Reset to defaults
      </IdleButton>
    </div>
  );
}

/** Says which settings in the address are ignored. */
export function UnreadParameters({
  strategy: { name, parameters },
  prefix,
}: {
  readonly strategy: StrategyDescription;
  readonly prefix: string;
}) {
  const unread = unreadParameters(useRoute().params, parameters, prefix);
  if (unread.length === 0) return null;
  return (
    <p class="failure-text stored" role="alert">
      Not settings of {name}, and ignored: {unread.join(', ')}.
    </p>
  );
}

function Parameter({
  parameter,
  prefix,
}: {
  readonly parameter: StrategyParameter;
  readonly prefix: string;
}) {
  const { params } = useRoute();
  const { name, kind, min, max, choices = [], description } = parameter;
  const value = presentValue(params, parameter, prefix);
  const set = (next: number | string | boolean) => setParams(setting(parameter, next, prefix));
  if (kind === 'flag') {
    return (
      <label class="row" title={description}>
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => set(event.currentTarget.checked)}
        />
        {name}
      </label>
    );
  }
  if (kind === 'choice') {
    return (
      <label class="field" title={description}>
        <span>{name}</span>
        <select value={String(value)} onChange={(event) => set(event.currentTarget.value)}>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      </label>
    );
  }
  const [low, high] = rangeOf(parameter, Number(value));
  const step = stepOf(high - low);
  return (
    <div class={`slider ${value === parameter.default ? '' : 'changed'}`} title={description}>
      <label for={`parameter-${prefix}${name}`}>{name}</label>
      <TypedInput
        label={`${name}, exactly`}
        number={{ min, max }}
        value={String(Number(Number(value).toPrecision(6)))}
        take={(text) => set(within(text === '' ? Number.NaN : Number(text), parameter))}
      />
      <input
        id={`parameter-${prefix}${name}`}
        type="range"
        min={low}
        max={high}
        step={step}
        value={Number(value)}
        onInput={(event) => set(event.currentTarget.valueAsNumber)}
      />
    </div>
  );
}

/** Returns the range of a slider: that of the parameter, limited to where good values are likely. */
function rangeOf({ min, max, default: usual }: StrategyParameter, value: number): readonly [number, number] {
  const middle = Math.max(Math.abs(Number(usual)), Math.abs(value), 0.01);
  const low = Math.max(min ?? -Infinity, Math.min(0, -middle * (Number(usual) < 0 ? 3 : 0)));
  const high = Math.min(max ?? Infinity, middle <= 1 && (max ?? 2) <= 2 ? (max ?? 1) : middle * 3);
  return [Math.min(low, value), Math.max(high, value, low + 0.01)];
}

function stepOf(span: number): number {
  return 10 ** Math.floor(Math.log10(span / 100));
}

function within(value: number, { min, max, default: usual }: StrategyParameter): number {
  if (!Number.isFinite(value)) return Number(usual);
  return Math.max(min ?? -Infinity, Math.min(max ?? Infinity, value));
}
