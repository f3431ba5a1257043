import { expect, it } from 'vitest';
import { RECORD_COLUMNS } from './rows.ts';

it('the columns of a record stand in the order on which the checksums of rows depend', () => {
  expect(RECORD_COLUMNS.length).toBeGreaterThan(30);
  expect(RECORD_COLUMNS).toEqual(RECORD_COLUMNS.toSorted());
});

it('a field that was renamed keeps its column', () => {
  expect(RECORD_COLUMNS).toContain('importance_judge');
  expect(RECORD_COLUMNS).not.toContain('importance_source');
});
