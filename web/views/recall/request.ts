import type { RecallOptions, StrategyDescription, StrategyParameter } from '../../../src/index.ts';
import { flagOf } from '../../parts/flag.ts';

type Value = number | string | boolean;

/** A recall request, as read from the address. */
export interface Asking {
  readonly query: string | undefined;
  readonly options: RecallOptions;
}

/** The prefix in the address for parameters of the strategy. */
export const OWN = 'p.';
/** The prefix for parameters of the strategy it is compared with. */
export const BESIDE = 'b.';

/** Reads the recall request from the address. Recalls of the inspector are neither tracked nor recorded. */
export function askingOf(params: URLSearchParams, strategy: StrategyDescription | undefined): Asking {
  const query = questionOf(params);
  const floor = params.get('floor');
  const limit = limitOf(params);
  const types = (params.get('types') ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
  const parameters = strategy ? chosenParameters(params, strategy.parameters, OWN) : {};
  return {
    query: strategy?.takesQuery === false ? undefined : query,
    options: {
      track: false,
      ...(strategy ? { strategy: strategy.name } : {}),
      ...(typeof limit === 'number' ? { limit } : {}),
      ...(floor && strategy?.takesFloor ? { minRelevance: floor === 'auto' ? 'auto' : Number(floor) } : {}),
      ...(params.get('scope') ? { scope: params.get('scope') as string } : {}),
      ...(types.length > 0 ? { types } : {}),
      ...(params.get('deep') === 'true' ? { deep: true } : {}),
      ...(Object.keys(parameters).length > 0 ? { parameters } : {}),
    },
  };
}

/** The settings in the address that are part of a recall request, besides the parameters of the strategy. */
const SETTINGS: ReadonlySet<string> = new Set(['q', 'strategy', 'limit', 'scope', 'types', 'floor', 'deep']);

/** Returns the part of the address that is the recall request, so that another view asks the same. */
export function recallSettings(params: URLSearchParams): Readonly<Record<string, string>> {
  return Object.fromEntries([...params].filter(([name]) => SETTINGS.has(name) || name.startsWith(OWN)));
}

/** Returns the limit in the address: `undefined` for the default, `unread` if it is not a whole number. */
export function limitOf(params: URLSearchParams): number | 'unread' | undefined {
  const text = params.get('limit')?.trim();
  if (!text) return undefined;
  return /^\d+$/.test(text) && Number(text) >= 1 ? Number(text) : 'unread';
}

export function questionOf(params: URLSearchParams): string | undefined {
  return params.get('q')?.trim() || undefined;
}

/** Returns the value of a parameter from the address, or else its default. */
export function presentValue(params: URLSearchParams, parameter: StrategyParameter, prefix: string): Value {
  const text = params.get(prefix + parameter.name);
  if (text === null) return parameter.default;
  if (parameter.kind === 'number') return Number.isFinite(Number(text)) ? Number(text) : parameter.default;
  if (parameter.kind === 'flag') return flagOf(text) ?? parameter.default;
  return text;
}

/** Returns the settings in the address that are no parameters of the strategy, or whose values cannot be parsed. */
export function unreadParameters(
  params: URLSearchParams,
  all: readonly StrategyParameter[],
  prefix: string,
): readonly string[] {
  return [...params].flatMap(([key, text]) => {
    if (!key.startsWith(prefix)) return [];
    const parameter = all.find(({ name }) => prefix + name === key);
    const isRead =
      parameter?.kind === 'number'
        ? Number.isFinite(Number(text))
        : parameter?.kind === 'flag'
          ? flagOf(text) !== undefined
          : parameter !== undefined;
    return isRead ? [] : [`${key.slice(prefix.length)}=${text}`];
  });
}

/** Returns the change of the address that sets a parameter. The default value is left out. */
export function setting(
  parameter: StrategyParameter,
  value: Value,
  prefix: string,
): Record<string, string | undefined> {
  return { [prefix + parameter.name]: value === parameter.default ? undefined : String(value) };
}

/** Returns the change of the address that resets all parameters to their defaults. */
export function unset(params: URLSearchParams, prefix: string): Record<string, string | undefined> {
  const names = [...params.keys()].filter((name) => name.startsWith(prefix));
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

/** What the address sets. */
export function chosenParameters(
  params: URLSearchParams,
  all: readonly StrategyParameter[],
  prefix: string,
): Record<string, Value> {
  const changed = all.filter(({ name }) => params.has(prefix + name));
  return Object.fromEntries(changed.map((each) => [each.name, presentValue(params, each, prefix)]));
}
