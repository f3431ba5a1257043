import { expectTypeOf, test } from 'vitest';
import type { CLOCK_NAMES } from '../domain/fields.ts';
import type {
  AttributeName,
  CompleteSignals,
  QuerySignals,
  RelationSignals,
  SIGNALS,
  Signal,
  SignalName,
  Signals,
  StoredSignals,
  signalsOf,
} from './signals.ts';

type Clock = (typeof CLOCK_NAMES)[number];

test('a signal without a source does not compile', () => {
  const unsourced = { range: [0, 1], otherwise: 0, description: 'a signal that nothing fills' } as const;
  expectTypeOf(unsourced).not.toExtend<Signal>();
  expectTypeOf({ ...unsourced, source: 'query' } as const).toExtend<Signal>();
  expectTypeOf<(typeof SIGNALS)[SignalName]>().toExtend<Signal>();
});

test('a signal, an attribute or a clock is in exactly one of what a memory, its relations and a query give', () => {
  expectTypeOf<keyof Signals>().toEqualTypeOf<SignalName | AttributeName | Clock>();
  expectTypeOf<keyof CompleteSignals>().toEqualTypeOf<keyof Signals>();
  expectTypeOf<keyof StoredSignals & keyof QuerySignals>().toEqualTypeOf<never>();
  expectTypeOf<keyof RelationSignals & keyof (StoredSignals & QuerySignals)>().toEqualTypeOf<never>();
  expectTypeOf<CompleteSignals>().toExtend<Signals>();
});

test('whoever fills signals may leave none out', () => {
  expectTypeOf<{ similarity: number }>().not.toExtend<QuerySignals>();
  expectTypeOf<{ superseded: boolean }>().not.toExtend<RelationSignals>();
  expectTypeOf<Signals>().not.toExtend<StoredSignals>();
  expectTypeOf<StoredSignals>().not.toExtend<CompleteSignals>();
  expectTypeOf<ReturnType<typeof signalsOf>>().toEqualTypeOf<StoredSignals>();
  expectTypeOf<StoredSignals & QuerySignals>().not.toExtend<CompleteSignals>();
});
