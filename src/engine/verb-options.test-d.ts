import { expectTypeOf, test } from 'vitest';
import type { VERBS } from '../domain/verbs.ts';
import type { EngineVerb, Verbs } from './verb-options.ts';

type Method = {
  [Name in keyof Verbs]: Verbs[Name] extends (...given: never[]) => Promise<unknown> ? Name : never;
}[keyof Verbs];

type Given<Verb extends EngineVerb> = Required<Parameters<Verbs[Verb]>>;
/** The last parameter of a verb: its options. */
type OptionsOf<Verb extends EngineVerb> =
  Given<Verb> extends readonly [...unknown[], infer Last] ? NonNullable<Last> : never;
type PlacesOf<Verb extends EngineVerb> =
  Given<Verb> extends readonly [...infer Before, unknown] ? Before['length'] : never;
type KeyOf<Options> = Options extends unknown ? keyof Options : never;

type Entry<Verb extends EngineVerb> = (typeof VERBS)[Verb];
type TakesOf<Verb extends EngineVerb> =
  Entry<Verb> extends { takes: infer Takes extends readonly string[] } ? Takes : readonly [];
type LocalOf<Verb extends EngineVerb> =
  Entry<Verb> extends { local: infer Local extends readonly string[] } ? Local[number] : 'now';
type ArgumentsOf<Verb extends EngineVerb> = Entry<Verb> extends { arguments: infer All } ? keyof All : never;

/** The options that the table says a verb has. */
type ListedOptions<Verb extends EngineVerb> =
  | 'signal'
  | LocalOf<Verb>
  | (Entry<Verb> extends { rest: string } ? never : Exclude<ArgumentsOf<Verb>, TakesOf<Verb>[number]>);

/** The places before the options. */
type ListedPlaces<Verb extends EngineVerb> =
  Entry<Verb> extends { rest: string } ? [...TakesOf<Verb>, 'rest']['length'] : TakesOf<Verb>['length'];

test('the table has the options of every method, and no others', () => {
  expectTypeOf<Method>().toEqualTypeOf<EngineVerb>();
  expectTypeOf<{ [Verb in EngineVerb]: ListedOptions<Verb> }>().toEqualTypeOf<{
    [Verb in EngineVerb]: KeyOf<OptionsOf<Verb>>;
  }>();
  expectTypeOf<{ [Verb in EngineVerb]: ListedPlaces<Verb> }>().toEqualTypeOf<{
    [Verb in EngineVerb]: PlacesOf<Verb>;
  }>();
});
