import { Chrono, casual } from 'chrono-node/en';
import fc from 'fast-check';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { datesOf, readEnglishDates } from './dates.ts';
import { mayNeedParser, onlyWithItsEnding } from './parser.ts';

/** A Wednesday. */
const now = Date.UTC(2026, 5, 10, 12);
const day = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T00:00', '');
const read = async (text: string, timeZone = 'UTC') =>
  (await readEnglishDates(text, { now, timeZone })).map(
    (range) => `${range.text}: ${day(range.start)} – ${day(range.end)}`,
  );

const ZONES = ['UTC', 'Pacific/Auckland', 'America/St_Johns'];

const expressions: readonly (readonly [text: string, ...ranges: string[]])[] = [
  ['in May', 'May: 2026-05-01 – 2026-06-01'],
  ['in July', 'July: 2025-07-01 – 2025-08-01'],
  ['in June', 'June: 2026-06-01 – 2026-07-01'],
  ['last June', 'June: 2025-06-01 – 2025-07-01'],
  ['last April', 'April: 2026-04-01 – 2026-05-01'],
  ['What happened during May?', 'May: 2026-05-01 – 2026-06-01'],
  ['since May', 'since May: 2026-05-01 – 2026-06-11'],
  ['What did we do last May?', 'May: 2026-05-01 – 2026-06-01'],
  ['what came before may?', 'before may: 0001-01-01 – 2026-05-01'],
  ['What of this may still change?'],
  ['the last may be broken'],
  ['What may happen in March?', 'March: 2026-03-01 – 2026-04-01'],
  ['next March'],
  ['in May of last year', 'May of last year: 2025-05-01 – 2025-06-01'],
  ['in May, last year', 'May, last year: 2025-05-01 – 2025-06-01'],
  ['last year in May', 'last year in May: 2025-05-01 – 2025-06-01'],
  ['on 5 March last year', 'on 5 March last year: 2025-03-05 – 2025-03-06'],
  ['in the summer of last year', 'in the summer of last year: 2025-06-01 – 2025-09-01'],
  ['in December two years ago', 'December two years ago: 2024-12-01 – 2025-01-01'],
  ['between May and July last year', 'May and July last year: 2025-05-01 – 2025-08-01'],
  [
    'in May or June of last year',
    'May: 2025-05-01 – 2025-06-01',
    'June of last year: 2025-06-01 – 2025-07-01',
  ],
  [
    'in May of last year or in 2020',
    'May of last year: 2025-05-01 – 2025-06-01',
    'in 2020: 2020-01-01 – 2021-01-01',
  ],
  ['in December of this year'],
  ['in May of next year'],
  ['in July and yesterday', 'July: 2025-07-01 – 2025-08-01', 'yesterday: 2026-06-09 – 2026-06-10'],
  ['in winter or last week', 'in winter: 2025-12-01 – 2026-03-01', 'last week: 2026-06-01 – 2026-06-08'],
  ['last summer and this year', 'last summer: 2025-06-01 – 2025-09-01', 'this year: 2026-01-01 – 2027-01-01'],
  ['in May or next year', 'May: 2026-05-01 – 2026-06-01'],
  ['in May of 2023', 'May of 2023: 2023-05-01 – 2023-06-01'],
  ['What did he do on 7 May', 'on 7 May: 2026-05-07 – 2026-05-08'],
  ['on 11 June', 'on 11 June: 2025-06-11 – 2025-06-12'],
  ['on 29 February', 'on 29 February: 2024-02-29 – 2024-03-01'],
  ['What did we do on the 29th of February?', '29th of February: 2024-02-29 – 2024-03-01'],
  ['on Feb 29 and yesterday', 'Feb 29: 2024-02-29 – 2024-03-01', 'yesterday: 2026-06-09 – 2026-06-10'],
  ['February 29, 2025'],
  ['on 30 February'],
  ['May 7th, 2023', 'May 7th, 2023: 2023-05-07 – 2023-05-08'],
  ['2023-05-07', '2023-05-07: 2023-05-07 – 2023-05-08'],
  ['from 3 May to 7 May 2023', '3 May to 7 May 2023: 2023-05-03 – 2023-05-08'],
  ['between June and August 2023', 'June and August 2023: 2023-06-01 – 2023-09-01'],
  ['between May and July 2023', 'May and July 2023: 2023-05-01 – 2023-08-01'],
  ['between March and May', 'March and May: 2026-03-01 – 2026-06-01'],
  ['between November and February 2023', 'November and February 2023: 2022-11-01 – 2023-03-01'],
  ['on ports 2000-2010, yesterday', 'yesterday: 2026-06-09 – 2026-06-10'],
  ['in May and July 2023', 'May: 2023-05-01 – 2023-06-01', 'July 2023: 2023-07-01 – 2023-08-01'],
  ['in May or July 2023', 'May: 2023-05-01 – 2023-06-01', 'July 2023: 2023-07-01 – 2023-08-01'],
  ['between 2021 and 2023', '2021 and 2023: 2021-01-01 – 2024-01-01'],
  ['from 2021 to 2023', 'from 2021 to 2023: 2021-01-01 – 2024-01-01'],
  ['since 2021 until 2023', 'since 2021 until 2023: 2021-01-01 – 2024-01-01'],
  ['in 2021-2023', 'in 2021-2023: 2021-01-01 – 2024-01-01'],
  ['during 2021 – 2023', 'during 2021 – 2023: 2021-01-01 – 2024-01-01'],
  ['in 2021 and 2023', 'in 2021: 2021-01-01 – 2022-01-01', '2023: 2023-01-01 – 2024-01-01'],
  ['between 2023 and 2021', '2023 and 2021: 2021-01-01 – 2024-01-01'],
  ['between 2021 and 2021', '2021 and 2021: 2021-01-01 – 2022-01-01'],
  ['between 2021 and May 2023', '2021 and May 2023: 2021-01-01 – 2023-06-01'],
  ['from May 2021 to 2023', 'May 2021 to 2023: 2021-05-01 – 2024-01-01'],
  ['from Feb to Apr 2024', 'Feb to Apr 2024: 2024-02-01 – 2024-05-01'],
  ['Jan-Feb 2024', 'Jan-Feb 2024: 2024-01-01 – 2024-03-01'],
  ['from Dec to Feb 2023', 'Dec to Feb 2023: 2022-12-01 – 2023-03-01'],
  ['from Feb 2024 to Apr', 'Feb 2024 to Apr: 2024-02-01 – 2024-05-01'],
  ['from Nov 2023 to Feb', 'Nov 2023 to Feb: 2023-11-01 – 2024-03-01'],
  ['from Apr 2024 to Feb 2024', 'Apr 2024 to Feb 2024: 2024-02-01 – 2024-05-01'],
  ['between Feb and Apr', 'Feb and Apr: 2026-02-01 – 2026-05-01'],
  ['between Nov and Feb', 'Nov and Feb: 2025-11-01 – 2026-03-01'],
  ['from March to March', 'March to March: 2026-03-01 – 2026-04-01'],
  ['between May 30, 2023 and June 2, 2023', 'May 30, 2023 and June 2, 2023: 2023-05-30 – 2023-06-03'],
  ['between 27 and 29 Feb 2024', '27 and 29 Feb 2024: 2024-02-27 – 2024-03-01'],
  ['between 27 and 29 Feb 2023', '27 and 29 Feb 2023: 2023-02-27 – 2023-03-01'],
  ['between 1 Feb and 29 Feb 2024', '1 Feb and 29 Feb 2024: 2024-02-01 – 2024-03-01'],
  ['between last week and yesterday', 'last week and yesterday: 2026-06-01 – 2026-06-10'],
  [
    'who moved from 1999 to 2001, and who between March and April or in May 2024',
    'from 1999 to 2001: 1999-01-01 – 2002-01-01',
    'March and April: 2026-03-01 – 2026-05-01',
    'May 2024: 2024-05-01 – 2024-06-01',
  ],
  ['from 2024 to 2030', 'from 2024 to 2030: 2024-01-01 – 2031-01-01'],
  ['from May to July 2023', 'May to July 2023: 2023-05-01 – 2023-08-01'],
  ['from December to February 2023', 'December to February 2023: 2022-12-01 – 2023-03-01'],
  ['from June until August', 'June until August: 2026-06-01 – 2026-09-01'],
  ['from May until now', 'May until now: 2026-05-01 – 2026-06-11'],
  ['from 2020 until now', 'from 2020 until now: 2020-01-01 – 2026-06-11'],
  ['between last week and now', 'last week and now: 2026-06-01 – 2026-06-11'],
  ['since 5 May 2024 until now', '5 May 2024 until now: 2024-05-05 – 2026-06-11'],
  ['in May and now', 'May: 2026-05-01 – 2026-06-01'],
  ['from now until July'],
  ['from last summer until now', 'last summer until now: 2025-06-01 – 2026-06-11'],
  ['in May or July', 'May: 2026-05-01 – 2026-06-01', 'July: 2025-07-01 – 2025-08-01'],
  ['what did she do right now and yesterday', 'yesterday: 2026-06-09 – 2026-06-10'],
  ['3 hours before 5 May 2024', '3 hours before 5 May 2024: 2024-05-05 – 2024-05-06'],
  ['from 5 June to 15 June', '5 June to 15 June: 2026-06-05 – 2026-06-16'],
  ['from 28 December to 2 January 2023', '28 December to 2 January 2023: 2022-12-28 – 2023-01-03'],
  ['from 3 to 5 May 2023', '3 to 5 May 2023: 2023-05-03 – 2023-05-06'],
  ['What was said from 3 to 5 May?', '3 to 5 May: 2026-05-03 – 2026-05-06'],
  ['from 3 until 5 July', '3 until 5 July: 2025-07-03 – 2025-07-06'],
  ['from 10-20 May', '10-20 May: 2026-05-10 – 2026-05-21'],
  ['from 22 to 24 May', '22 to 24 May: 2026-05-22 – 2026-05-25'],
  ['from the 3rd to the 5th of May', 'the 3rd to the 5th of May: 2026-05-03 – 2026-05-06'],
  ['from 3 to 5 May last year', '3 to 5 May last year: 2025-05-03 – 2025-05-06'],
  // The 10th is a Wednesday.
  ['from Monday to Tuesday', 'Monday to Tuesday: 2026-06-08 – 2026-06-10'],
  ['What did he do from Monday to Friday?', 'Monday to Friday: 2026-06-08 – 2026-06-13'],
  ['from Friday to Monday', 'Friday to Monday: 2026-06-05 – 2026-06-09'],
  ['working from 9 to 5 May', 'from 9 to 5 May: 2026-05-01 – 2026-06-01'],
  ['between 3 and 5 May 2023', '3 and 5 May 2023: 2023-05-03 – 2023-05-06'],
  [
    'between the 3rd and the 5th of May of 2023',
    'the 3rd and the 5th of May of 2023: 2023-05-03 – 2023-05-06',
  ],
  ['Who came between 1 and 3 Sept.?', '1 and 3 Sept.: 2025-09-01 – 2025-09-04'],
  ['between 9 and 12 June', '9 and 12 June: 2026-06-09 – 2026-06-13'],
  ['between May 3 and 5, 2023', 'May 3 and 5, 2023: 2023-05-03 – 2023-05-06'],
  ['between May 3 and 5', 'May 3 and 5: 2026-05-03 – 2026-05-06'],
  ['between May 3 and 5 people', 'May 3: 2026-05-03 – 2026-05-04'],
  ['between 30 and 5 May 2023', '5 May 2023: 2023-05-05 – 2023-05-06'],
  ['between 0 and 5 May 2023', '5 May 2023: 2023-05-05 – 2023-05-06'],
  ['in 2023', 'in 2023: 2023-01-01 – 2024-01-01'],
  ['Who got married in 2023', 'in 2023: 2023-01-01 – 2024-01-01'],
  ['What was decided in 2023', 'in 2023: 2023-01-01 – 2024-01-01'],
  ['summer of 2022', 'summer of 2022: 2022-06-01 – 2022-09-01'],
  ['in spring', 'in spring: 2026-03-01 – 2026-06-01'],
  ['in winter', 'in winter: 2025-12-01 – 2026-03-01'],
  ['winter of 2022', 'winter of 2022: 2021-12-01 – 2022-03-01'],
  ['in the winter of 2024/25', 'in the winter of 2024/25: 2024-12-01 – 2025-03-01'],
  ['winter 1999-2000', 'winter 1999-2000: 1999-12-01 – 2000-03-01'],
  ['winter 2022/24', 'winter 2022: 2021-12-01 – 2022-03-01'],
  ['summer 2024/25', 'summer 2024/25: 2024-06-01 – 2024-09-01'],
  ['in the fall of 2022', 'in the fall of 2022: 2022-09-01 – 2022-12-01'],
  ['in summer', 'in summer: 2026-06-01 – 2026-09-01'],
  ['last spring', 'last spring: 2026-03-01 – 2026-06-01'],
  ['what happened from yesterday until tomorrow', 'yesterday until tomorrow: 2026-06-09 – 2026-06-12'],
  ['what was said yesterday - today', 'yesterday - today: 2026-06-09 – 2026-06-11'],
  ['what happened from last night to today', 'last night to today: 2026-06-09 – 2026-06-11'],
  ['last summer', 'last summer: 2025-06-01 – 2025-09-01'],
  ['what happened yesterday', 'yesterday: 2026-06-09 – 2026-06-10'],
  ['what did Ann eat today', 'today: 2026-06-10 – 2026-06-11'],
  ['last night', 'last night: 2026-06-09 – 2026-06-10'],
  ['3 days ago', '3 days ago: 2026-06-07 – 2026-06-08'],
  ['two weeks ago', 'two weeks ago: 2026-05-25 – 2026-06-01'],
  ['last month', 'last month: 2026-05-01 – 2026-06-01'],
  ['a year ago', 'a year ago: 2025-01-01 – 2026-01-01'],
  ['last quarter', 'last quarter: 2026-01-01 – 2026-04-01'],
  ['two quarters ago', 'two quarters ago: 2025-10-01 – 2026-01-01'],
  ['2w ago', '2w ago: 2026-05-25 – 2026-06-01'],
  ['3mo ago', '3mo ago: 2026-03-01 – 2026-04-01'],
  ['2 yr ago', '2 yr ago: 2024-01-01 – 2025-01-01'],
  ['5d ago', '5d ago: 2026-06-05 – 2026-06-06'],
  ['a month before yesterday', 'a month before yesterday: 2026-05-01 – 2026-06-01'],
  ['in the last 3 months', 'last 3 months: 2026-03-01 – 2026-06-11'],
  ['this week', 'this week: 2026-06-08 – 2026-06-15'],
  ['on Monday', 'on Monday: 2026-06-08 – 2026-06-09'],
  ['on Wednesday', 'on Wednesday: 2026-06-10 – 2026-06-11'],
  ['last Friday', 'last Friday: 2026-06-05 – 2026-06-06'],
  ['over the weekend', 'weekend: 2026-06-06 – 2026-06-08'],
  ['last weekend', 'last weekend: 2026-06-06 – 2026-06-08'],
];

/** With the word before them, dates are one end of a period. */
const openEnds: readonly (readonly [text: string, ...ranges: string[]])[] = [
  ['What has changed since 2023?', 'since 2023: 2023-01-01 – 2026-06-11'],
  ['who has called ever since last Tuesday', 'ever since last Tuesday: 2026-06-09 – 2026-06-11'],
  ['since the summer of 2024', 'since the summer of 2024: 2024-06-01 – 2026-06-11'],
  ['since June', 'since June: 2026-06-01 – 2026-06-11'],
  ['since today we had', 'since today: 2026-06-10 – 2026-06-11'],
  ['since May of last year', 'since May of last year: 2025-05-01 – 2026-06-11'],
  ['since July 2030'],
  ['from May onwards', 'from May onwards: 2026-05-01 – 2026-06-11'],
  ['what was said from 2023 on?', 'from 2023 on: 2023-01-01 – 2026-06-11'],
  ['a song from May on the radio', 'May: 2026-05-01 – 2026-06-01'],
  ['in May onwards', 'May: 2026-05-01 – 2026-06-01'],
  ['photos from May', 'May: 2026-05-01 – 2026-06-01'],
  ['after 2023', 'after 2023: 2024-01-01 – 2026-06-11'],
  ['after the 5th of May', 'after the 5th of May: 2026-05-06 – 2026-06-11'],
  ['after yesterday', 'after yesterday: 2026-06-10 – 2026-06-11'],
  // What follows the latest June is still to come.
  ['after June', 'June: 2026-06-01 – 2026-07-01'],
  ['after 2026', 'after 2026: 2026-01-01 – 2027-01-01'],
  ['what was planned after today', 'today: 2026-06-10 – 2026-06-11'],
  ['before 2024', 'before 2024: 0001-01-01 – 2024-01-01'],
  ['prior to 2024', 'prior to 2024: 0001-01-01 – 2024-01-01'],
  ['before last Friday', 'before last Friday: 0001-01-01 – 2026-06-05'],
  ['What had we sold by 5 May?', '5 May: 2026-05-05 – 2026-05-06'],
  ['until 2023', 'until 2023: 0001-01-01 – 2024-01-01'],
  ['up to March 2024', 'up to March 2024: 0001-01-01 – 2024-04-01'],
  ['before 2030'],
  ['until tomorrow'],
  ['shortly after 5 May 2024', '5 May 2024: 2024-05-05 – 2024-05-06'],
  ['just before May', 'May: 2026-05-01 – 2026-06-01'],
  ['before and after May', 'May: 2026-05-01 – 2026-06-01'],
  ['three years before 2020', 'before 2020: 2020-01-01 – 2021-01-01'],
  ['the summer after 2020', 'after 2020: 2020-01-01 – 2021-01-01'],
  ['weeks since 5 May 2024', 'since 5 May 2024: 2024-05-05 – 2026-06-11'],
  [
    'before May and since yesterday',
    'before May: 0001-01-01 – 2026-05-01',
    'since yesterday: 2026-06-09 – 2026-06-11',
  ],
  [
    'since March or before 2024',
    'since March: 2026-03-01 – 2026-06-11',
    'before 2024: 0001-01-01 – 2024-01-01',
  ],
  ['the Sunday before 25 May 2023', 'the Sunday before 25 May 2023: 2023-05-21 – 2023-05-22'],
  ['on the Thursday before 25 May 2023', 'the Thursday before 25 May 2023: 2023-05-18 – 2023-05-19'],
  ['on the Friday after 25 May 2023', 'the Friday after 25 May 2023: 2023-05-26 – 2023-05-27'],
  ['the first Thursday after 25 May 2023', 'the first Thursday after 25 May 2023: 2023-06-01 – 2023-06-02'],
  ['last weekend before 10 April 2023', 'last weekend before 10 April 2023: 2023-04-08 – 2023-04-10'],
  ['the weekend before 9 April 2023', 'the weekend before 9 April 2023: 2023-04-01 – 2023-04-03'],
  ['the weekend after 7 April 2023', 'the weekend after 7 April 2023: 2023-04-08 – 2023-04-10'],
  ['the weekend after 8 April 2023', 'the weekend after 8 April 2023: 2023-04-15 – 2023-04-17'],
  ['the Sunday before last Tuesday', 'the Sunday before last Tuesday: 2026-06-07 – 2026-06-08'],
];

const partsOfYears: readonly (readonly [text: string, ...ranges: string[]])[] = [
  ['What did we sell in Q1 2025?', 'Q1 2025: 2025-01-01 – 2025-04-01'],
  ['q4 of 2025', 'q4 of 2025: 2025-10-01 – 2026-01-01'],
  ["Q2'25", "Q2'25: 2025-04-01 – 2025-07-01"],
  ['Q2/2025', 'Q2/2025: 2025-04-01 – 2025-07-01'],
  ['Q2, 2025', 'Q2, 2025: 2025-04-01 – 2025-07-01'],
  ['2025-Q3', '2025-Q3: 2025-07-01 – 2025-10-01'],
  ['2025Q3', '2025Q3: 2025-07-01 – 2025-10-01'],
  ['H1 2025', 'H1 2025: 2025-01-01 – 2025-07-01'],
  ['2025 H2', '2025 H2: 2025-07-01 – 2026-01-01'],
  ['in Q2', 'Q2: 2026-04-01 – 2026-07-01'],
  ['during Q3', 'Q3: 2025-07-01 – 2025-10-01'],
  ['since Q1', 'since Q1: 2026-01-01 – 2026-06-11'],
  ['Q4 last year', 'Q4 last year: 2025-10-01 – 2026-01-01'],
  ['Q4 of the previous year', 'Q4 of the previous year: 2025-10-01 – 2026-01-01'],
  ['Q1 two years ago', 'Q1 two years ago: 2024-01-01 – 2024-04-01'],
  ['Q1 or Q2 2025', 'Q1: 2025-01-01 – 2025-04-01', 'Q2 2025: 2025-04-01 – 2025-07-01'],
  ['Q1 to Q3 2025', 'Q1 to Q3 2025: 2025-01-01 – 2025-10-01'],
  ['between Q4 and Q1 2025', 'Q4 and Q1 2025: 2024-10-01 – 2025-04-01'],
  ['Q4 2024 to Q1 2025', 'Q4 2024 to Q1 2025: 2024-10-01 – 2025-04-01'],
  ['the first quarter of 2025', 'the first quarter of 2025: 2025-01-01 – 2025-04-01'],
  ['in the 3rd quarter 2025', 'the 3rd quarter 2025: 2025-07-01 – 2025-10-01'],
  ['the last quarter of 2024', 'the last quarter of 2024: 2024-10-01 – 2025-01-01'],
  ['the second half of last year', 'the second half of last year: 2025-07-01 – 2026-01-01'],
  ['the last half of 2024', 'the last half of 2024: 2024-07-01 – 2025-01-01'],
  ['this quarter', 'this quarter: 2026-04-01 – 2026-07-01'],
  ['What is Q3?'],
  ['in the second quarter of the game'],
  ['in the first half'],
  ['Q5 2025'],
  ['H3 2025'],
  ['Q10 2025'],
  ['a third half of 2025', 'of 2025: 2025-01-01 – 2026-01-01'],
  ['what was decided in 2025-03', '2025-03: 2025-03-01 – 2025-04-01'],
  ['the 2025/12 report', '2025/12: 2025-12-01 – 2026-01-01'],
  ['from 2025-03 to 2025-05', '2025-03 to 2025-05: 2025-03-01 – 2025-06-01'],
  ['since 2025-03', 'since 2025-03: 2025-03-01 – 2026-06-11'],
  ['2025-13 and 2025-00'],
  ['CVE-2025-03'],
  ['part 12025-03, 2025-031 and v.2025-03'],
  ['2025-03-05', '2025-03-05: 2025-03-05 – 2025-03-06'],
  ['mid-2024 and mid 2025', 'mid-2024: 2024-05-01 – 2024-09-01', 'mid 2025: 2025-05-01 – 2025-09-01'],
];

const counted: readonly (readonly [text: string, ...ranges: string[]])[] = [
  ['the previous week', 'the previous week: 2026-06-01 – 2026-06-08'],
  ['in the previous month', 'the previous month: 2026-05-01 – 2026-06-01'],
  ['the previous quarter', 'the previous quarter: 2026-01-01 – 2026-04-01'],
  ['the previous year', 'the previous year: 2025-01-01 – 2026-01-01'],
  ['the current week', 'the current week: 2026-06-08 – 2026-06-15'],
  ['the current month', 'the current month: 2026-06-01 – 2026-07-01'],
  ['May of the previous year', 'May of the previous year: 2025-05-01 – 2025-06-01'],
  ['the night before last', 'the night before last: 2026-06-08 – 2026-06-09'],
  ['What did we do two weekends ago?', 'two weekends ago: 2026-05-30 – 2026-06-01'],
  ['a weekend ago', 'a weekend ago: 2026-06-06 – 2026-06-08'],
  ['a fortnight ago', 'a fortnight ago: 2026-05-25 – 2026-06-01'],
  ['more than two fortnights ago'],
  ['in the past fortnight', 'the past fortnight: 2026-05-25 – 2026-06-11'],
  ['2–3 weeks ago', '2–3 weeks ago: 2026-05-18 – 2026-06-01'],
  ['two or three weeks ago', 'two or three weeks ago: 2026-05-18 – 2026-06-01'],
  ['between one and two years ago', 'one and two years ago: 2024-01-01 – 2026-01-01'],
  ['since 2 to 3 days ago', 'since 2 to 3 days ago: 2026-06-07 – 2026-06-11'],
  ['version 2.2-3 weeks ago', '3 weeks ago: 2026-05-18 – 2026-05-25'],
  ['about a week or two ago', 'a week or two ago: 2026-05-25 – 2026-06-08'],
  ['a week or so ago', 'a week or so ago: 2026-06-01 – 2026-06-08'],
  ['two days or two ago', 'two days or two ago: 2026-06-08 – 2026-06-09'],
  ['two weeks or one ago'],
  ['0 weeks or two ago'],
  ['half a year ago', 'half a year ago: 2025-11-01 – 2026-02-01'],
  ['half a month ago', 'half a month ago: 2026-05-25 – 2026-06-01'],
  ['half an hour ago', 'half an hour ago: 2026-06-10 – 2026-06-11'],
  ['a year and a half ago', 'a year and a half ago: 2024-09-01 – 2025-04-01'],
  ['two and a half years ago', 'two and a half years ago: 2023-09-01 – 2024-04-01'],
  ['0.5 years ago', '0.5 years ago: 2025-11-01 – 2026-02-01'],
  ['1.5 months ago', '1.5 months ago: 2026-04-01 – 2026-06-01'],
  ['1,5 months ago', '1,5 months ago: 2026-04-01 – 2026-06-01'],
  ['a week and a half ago', 'a week and a half ago: 2026-05-25 – 2026-06-08'],
  ['2½ days ago', '2½ days ago: 2026-06-07 – 2026-06-09'],
  ['late 2025', 'late 2025: 2025-09-01 – 2026-01-01'],
  ['in mid-2025', 'mid-2025: 2025-05-01 – 2025-09-01'],
  ['since early 2025', 'since early 2025: 2025-01-01 – 2026-06-11'],
  ['between mid 2024 and early 2025', 'mid 2024 and early 2025: 2024-05-01 – 2025-05-01'],
  ['late last year', 'late last year: 2025-09-01 – 2026-01-01'],
  ['what did we do 3 weeks before the launch'],
  ['the launch, and what we did 3 weeks before'],
  ['3 weeks before yesterday', '3 weeks before yesterday: 2026-05-18 – 2026-05-25'],
  ['submitted by 25 April, 5 days before the deadline', '25 April: 2026-04-25 – 2026-04-26'],
  ['6.5.2026', '6.5.2026: 2026-05-06 – 2026-05-07'],
  ['on 12.05.2026 at 10:30', '12.05.2026 at 10:30: 2026-05-12 – 2026-05-13'],
  ['13.05.2026', '13.05.2026: 2026-05-13 – 2026-05-14'],
  ['05.13.2026', '05.13.2026: 2026-05-13 – 2026-05-14'],
  ['06.05.2026 - 08.05.2026', '06.05.2026 - 08.05.2026: 2026-05-06 – 2026-05-09'],
  ['5/6/2026', '5/6/2026: 2026-05-06 – 2026-05-07'],
  ['what was planned March last year', 'March last year: 2025-03-01 – 2025-04-01'],
  ['March/April 2025', 'March: 2025-03-01 – 2025-04-01', 'April 2025: 2025-04-01 – 2025-05-01'],
  ['May/June', 'May: 2026-05-01 – 2026-06-01', 'June: 2026-06-01 – 2026-07-01'],
  ['December or January 2026', 'December: 2025-12-01 – 2026-01-01', 'January 2026: 2026-01-01 – 2026-02-01'],
  ['Q4 or Q1 2026', 'Q4: 2025-10-01 – 2026-01-01', 'Q1 2026: 2026-01-01 – 2026-04-01'],
  ['in winter or spring 2025', 'in winter: 2024-12-01 – 2025-03-01', 'spring 2025: 2025-03-01 – 2025-06-01'],
  ['October and April 2025', 'October: 2025-10-01 – 2025-11-01', 'April 2025: 2025-04-01 – 2025-05-01'],
  ['November and April 2025', 'November: 2024-11-01 – 2024-12-01', 'April 2025: 2025-04-01 – 2025-05-01'],
  ['in week 19 of 2026', 'week 19 of 2026: 2026-05-04 – 2026-05-11'],
  ['week 1, 2026', 'week 1, 2026: 2025-12-29 – 2026-01-05'],
  ['since 2026-W19', 'since 2026-W19: 2026-05-04 – 2026-06-11'],
  ['2020-W53', '2020-W53: 2020-12-28 – 2021-01-04'],
  ['2025-W53'],
  ['Which film is set in the 1990s?'],
  ['in 2019 and 2020', 'in 2019: 2019-01-01 – 2020-01-01', '2020: 2020-01-01 – 2021-01-01'],
  [
    'in 2018, 2019 or 2020?',
    'in 2018: 2018-01-01 – 2019-01-01',
    '2019: 2019-01-01 – 2020-01-01',
    '2020: 2020-01-01 – 2021-01-01',
  ],
  ['in 2019 and 2020 people came', 'in 2019: 2019-01-01 – 2020-01-01'],
  ...['2020€', "2020's best film", '2020-21', '2020.5'].map((second): readonly [string, string] => [
    `in 2019 and ${second}`,
    'in 2019: 2019-01-01 – 2020-01-01',
  ]),
  ['in 2019 and in 2020', 'in 2019: 2019-01-01 – 2020-01-01', 'in 2020: 2020-01-01 – 2021-01-01'],
  ['since 2019 and 2020', 'since 2019: 2019-01-01 – 2026-06-11'],
  ['3–2 weeks ago', '2 weeks ago: 2026-05-25 – 2026-06-01'],
  ['0–2 weeks ago', '2 weeks ago: 2026-05-25 – 2026-06-01'],
  ['one and two weeks ago', 'two weeks ago: 2026-05-25 – 2026-06-01'],
  ['0 fortnights ago'],
  ['version 1.2 weekends ago'],
  ['2026-W00'],
  ['2020-W01-3'],
  ['2004-W53', '2004-W53: 2004-12-27 – 2005-01-03'],
  ['2021-W01', '2021-W01: 2021-01-04 – 2021-01-11'],
  ['the week before last', 'the week before last: 2026-05-25 – 2026-06-01'],
  ['the weekend before last', 'the weekend before last: 2026-05-30 – 2026-06-01'],
  ['the month before last', 'the month before last: 2026-04-01 – 2026-05-01'],
  ['the quarter before last', 'the quarter before last: 2025-10-01 – 2026-01-01'],
  ['the year before last', 'the year before last: 2024-01-01 – 2025-01-01'],
  ['the week before last Monday', 'the week before last Monday: 2026-06-01 – 2026-06-08'],
  ['the year before last year', 'the year before last year: 2024-01-01 – 2025-01-01'],
  ['29 February of last year'],
  ['on 29 February two years ago', 'on 29 February two years ago: 2024-02-29 – 2024-03-01'],
  ['in summer or winter 2023', 'in summer: 2023-06-01 – 2023-09-01', 'winter 2023: 2022-12-01 – 2023-03-01'],
];

/** With the words before them, dates are a part of a period. */
const parts: readonly (readonly [text: string, ...ranges: string[]])[] = [
  ['in the first week of May', 'the first week of May: 2026-05-01 – 2026-05-08'],
  ['in the last week of March', 'the last week of March: 2026-03-25 – 2026-04-01'],
  ['on the last Friday of May', 'the last Friday of May: 2026-05-29 – 2026-05-30'],
  ['the last weekend of May', 'the last weekend of May: 2026-05-30 – 2026-06-01'],
  ['the fifth Monday of February', 'February: 2026-02-01 – 2026-03-01'],
  ['the last three months of 2025', 'the last three months of 2025: 2025-10-01 – 2026-01-01'],
  ['the last days of May', 'the last days of May: 2026-05-29 – 2026-06-01'],
  ['the first couple of weeks of May', 'the first couple of weeks of May: 2026-05-01 – 2026-05-15'],
  ['the second half of May', 'the second half of May: 2026-05-16 – 2026-06-01'],
  ['the last half of May', 'the last half of May: 2026-05-16 – 2026-06-01'],
  ['the first three months of the year', 'the first three months of the year: 2026-01-01 – 2026-04-01'],
  ['at the beginning of the year', 'the beginning of the year: 2026-01-01 – 2026-05-01'],
  ['at the end of last month', 'the end of last month: 2026-05-21 – 2026-06-01'],
  ['since the beginning of May', 'since the beginning of May: 2026-05-01 – 2026-06-11'],
  ['until the end of 2025', 'until the end of 2025: 0001-01-01 – 2026-01-01'],
  ['in late June', 'late June: 2025-06-21 – 2025-07-01'],
  ['from mid-May to early June', 'mid-May to early June: 2026-05-11 – 2026-06-11'],
  ['the first week of May last year', 'the first week of May last year: 2025-05-01 – 2025-05-08'],
  ['in the week of 6 May', 'the week of 6 May: 2026-05-04 – 2026-05-11'],
  ['the weekend of 6 May', 'the weekend of 6 May: 2026-05-09 – 2026-05-11'],
  ['in the last week of school'],
];

/** What people also write. */
const variants: readonly (readonly [text: string, ...ranges: string[]])[] = [
  ['photos from 5 May', '5 May: 2026-05-05 – 2026-05-06'],
  ['photos from 24 May', '24 May: 2026-05-24 – 2026-05-25'],
  ['from the 24th of May to 2 June', '24th of May to 2 June: 2026-05-24 – 2026-06-03'],
  ['from 24 May until now', '24 May until now: 2026-05-24 – 2026-06-11'],
  ['from 5 May 2025 to 3 June 2025', '5 May 2025 to 3 June 2025: 2025-05-05 – 2025-06-04'],
  ['from 5 May on', 'from 5 May on: 2026-05-05 – 2026-06-11'],
  ['at the end of May', 'the end of May: 2026-05-21 – 2026-06-01'],
  ['the end of April 2025', 'the end of April 2025: 2025-04-21 – 2025-05-01'],
  ['by the end of May', 'May: 2026-05-01 – 2026-06-01'],
  ['by the end of 2025', 'of 2025: 2025-01-01 – 2026-01-01'],
  ['after the end of May', 'after the end of May: 2026-06-01 – 2026-06-11'],
  ['by late May', 'late May: 2026-05-21 – 2026-06-01'],
  ["in May '25", "May '25: 2025-05-01 – 2025-06-01"],
  ["on 5 May '25", "on 5 May '25: 2025-05-05 – 2025-05-06"],
  ["in summer '24", "in summer '24: 2024-06-01 – 2024-09-01"],
  ['in May/June 2025', 'May: 2025-05-01 – 2025-06-01', 'June 2025: 2025-06-01 – 2025-07-01'],
  ['from May 3 until 5', 'May 3 until 5: 2026-05-03 – 2026-05-06'],
  ['from May 3rd through 5th', 'May 3rd through 5th: 2026-05-03 – 2026-05-06'],
  ['from 3 to 5 may be enough'],
  ['what happened from 3 to 5 may in Rome', '3 to 5 may: 2026-05-03 – 2026-05-06'],
  ['C++17 may break'],
  ['may 5 people come?'],
  ['in the past week', 'past week: 2026-06-01 – 2026-06-11'],
  ['in the last couple of weeks', 'last couple of weeks: 2026-05-25 – 2026-06-11'],
  ['what happened a week ago today', 'a week ago: 2026-06-03 – 2026-06-04'],
  ['this Monday', 'this Monday: 2026-06-08 – 2026-06-09'],
  ['the previous Wednesday', 'Wednesday: 2026-06-03 – 2026-06-04'],
  ['Monday last week', 'Monday last week: 2026-06-01 – 2026-06-02'],
  ['on Monday and Tuesday', 'on Monday: 2026-06-08 – 2026-06-09', 'Tuesday: 2026-06-09 – 2026-06-10'],
  ['between Monday and Friday', 'Monday and Friday: 2026-06-08 – 2026-06-13'],
  ['between last Monday and last Friday', 'last Monday and last Friday: 2026-06-05 – 2026-06-09'],
  ['every Monday'],
  ['who works in Monday.com'],
  ['how are tests set up in Spring Boot'],
  ['from 2023 to date', 'from 2023 to date: 2023-01-01 – 2026-06-11'],
  ['between 2023 and the present', '2023 and the present: 2023-01-01 – 2026-06-11'],
  ['why not before May', 'May: 2026-05-01 – 2026-06-01'],
];

const nothing = [
  'may I come',
  'march on',
  'the march of progress',
  'sun and moon',
  'the second one',
  'where is she now',
  'what does Ann eat today',
  'at 10:30',
  '5 apples for 12 dogs',
  'version 3.4',
  'stress of 4/10',
  'a family weekend',
  'on Tuesday and Thursday mornings',
  'work-free Sundays',
  'next month',
  'over the next weekend',
  'ports 2000-2010',
  'a hike of 2021/2022',
  'from 2030 to 2032',
  'between 2021',
  'between jobs and 2021',
  'Jan to Mar',
  'we talked for 2 hours',
  'in 5 minutes',
  'what they do within 3 hours',
  '5 hours from now',
  'who fell',
  'spring cleaning',
  '',
];

describe('readEnglishDates', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('on a weekend, distinguishes the current one from the last one', async () => {
    for (const today of [Date.UTC(2026, 5, 13, 12), Date.UTC(2026, 5, 14, 12)]) {
      const ranges = async (text: string) =>
        (await readEnglishDates(text, { now: today, timeZone: 'UTC' })).map(({ start }) => day(start));
      expect(await ranges('over the weekend')).toEqual(['2026-06-13']);
      expect(await ranges('last weekend')).toEqual(['2026-06-06']);
      expect(await ranges('the weekend before last')).toEqual(['2026-05-30']);
    }
    const monday = { now: Date.UTC(2026, 5, 15, 12), timeZone: 'UTC' };
    for (const [text, expected] of [
      ['last weekend', '2026-06-13'],
      ['the weekend before last', '2026-06-06'],
    ] as const)
      expect((await readEnglishDates(text, monday)).map(({ start }) => day(start))).toEqual([expected]);
  });

  it.each([...expressions, ...openEnds, ...partsOfYears, ...counted, ...parts, ...variants])(
    '%s',
    async (text, ...ranges) => {
      expect(await read(text)).toEqual(ranges);
    },
  );

  it.each(nothing)('names no date: %s', async (text) => {
    expect(await read(text)).toEqual([]);
  });

  it.each([
    ['2026-12-31', 'last month', '2026-11-01', '2026-12-01'],
    ['2026-03-29', 'last month', '2026-02-01', '2026-03-01'],
    ['2024-03-31', 'a month ago', '2024-02-01', '2024-03-01'],
    ['2026-05-31', '3 months ago', '2026-02-01', '2026-03-01'],
    ['2026-12-31', 'in the last 3 months', '2026-09-01', '2027-01-01'],
    ['2026-12-31', 'two quarters ago', '2026-04-01', '2026-07-01'],
    ['2024-02-29', 'a year ago', '2023-01-01', '2024-01-01'],
    ['2026-05-31', 'a month before 2 May 2024', '2024-04-01', '2024-05-01'],
  ])('at the end of a long month, means the shorter one before: %s, %s', async (today, text, ...range) => {
    const at = Date.parse(`${today}T12:00Z`);
    const found = await readEnglishDates(`what happened ${text}`, { now: at, timeZone: 'UTC' });
    expect(found.map(({ start, end }) => [day(start), day(end)])).toEqual([range]);
  });

  it.each([
    ['2 hours ago', '2026-06-10T00:30Z', 'UTC', '2026-06-09'],
    ['an hour ago', '2026-06-10T00:30Z', 'UTC', '2026-06-09'],
    ['20 hours ago', '2026-06-10T23:00Z', 'UTC', '2026-06-10'],
    ['90 minutes ago', '2026-06-10T05:00Z', 'America/New_York', '2026-06-09'],
    // The clocks went forward by an hour at 2 o'clock.
    ['24 hours ago', '2026-03-08T15:30Z', 'America/New_York', '2026-03-07'],
  ])('counts hours from the time of the day: %s at %s in %s', async (text, at, timeZone, expected) => {
    const found = await readEnglishDates(`what happened ${text}`, { now: Date.parse(at), timeZone });
    expect(found.map(({ start }) => new Date(start + 12 * 3_600_000).toISOString().slice(0, 10))).toEqual([
      expected,
    ]);
  });

  it.each(ZONES)('reads the same in a process of %s', async (zone) => {
    vi.stubEnv('TZ', zone);
    expect(new Date(2026, 0, 1).getTimezoneOffset() === 0).toBe(zone === 'UTC');
    for (const [text, ...ranges] of [
      ...expressions,
      ...openEnds,
      ...partsOfYears,
      ...counted,
      ...parts,
      ...variants,
    ])
      expect(await read(text), text).toEqual(ranges);
  });

  it('counts from the same day in a process of any zone', async () => {
    const texts = [
      'the day before yesterday',
      '3 days before last Monday',
      'a month before yesterday',
      'the day before 1 January',
      'two weeks ago',
      '2 hours ago',
      'last Tuesday',
    ];
    const at = ['2026-06-10T00:30Z', '2026-03-01T12:00Z', '2026-04-05T23:59Z', '2024-02-29T11:59Z'];
    const readAll = async () => {
      const found: unknown[] = [];
      for (const timeZone of ['UTC', 'Pacific/Kiritimati', 'America/St_Johns'])
        for (const each of at)
          for (const text of texts)
            found.push(await readEnglishDates(`what happened ${text}`, { now: Date.parse(each), timeZone }));
      return found;
    };
    vi.stubEnv('TZ', 'UTC');
    const expected = await readAll();
    expect(expected.flat().length).toBeGreaterThan(texts.length * at.length);
    for (const zone of ['Pacific/Auckland', 'Pacific/Kiritimati', 'Pacific/Chatham', 'Pacific/Pago_Pago']) {
      vi.stubEnv('TZ', zone);
      expect(await readAll(), zone).toEqual(expected);
    }
  });

  it.each([
    ['Who met Ann, May of last year?', ['2025-05-01', '2025-06-01']],
    ['What did she plan March of two years ago?', ['2024-03-01', '2024-04-01']],
    // May can be a name here.
    ['Who met May last year?', ['2025-01-01', '2026-01-01']],
  ])('reads the month of a relative year without a preposition: %s', async (text, range) => {
    const found = await readEnglishDates(text, { now: Date.UTC(2026, 5, 10), timeZone: 'UTC' });
    expect(found.map(({ start, end }) => [day(start), day(end)])).toEqual([range]);
  });

  it('means the days of the zone', async () => {
    expect(await read('in May', 'Pacific/Auckland')).toEqual(['May: 2026-04-30T12:00 – 2026-05-31T12:00']);
    expect(await read('yesterday', 'America/St_Johns')).toEqual([
      'yesterday: 2026-06-09T02:30 – 2026-06-10T02:30',
    ]);
    // Noon in London is the next day in Auckland.
    expect(await read('what happened today', 'Pacific/Auckland')).toEqual([
      'today: 2026-06-10T12:00 – 2026-06-11T12:00',
    ]);
  });

  it('begins a day correctly if the clocks skip midnight', async () => {
    expect(await read('2023-04-28', 'Africa/Cairo')).toEqual([
      '2023-04-28: 2023-04-27T22:00 – 2023-04-28T21:00',
    ]);
  });
});

describe.each(ZONES)('at the ends of the calendar, in %s', (timeZone) => {
  const shown = async (text: string, at: string) =>
    (await readEnglishDates(text, { now: Date.parse(at), timeZone })).map(({ start, end }) =>
      [start, end].map((each) => Math.round((each - Date.parse(at)) / 86_400_000)),
    );
  const noon = '2026-06-10T12:00:00Z';
  const daysTo = (year: string) =>
    Math.round((Date.parse(`${year}-01-01T00:00:00Z`) - Date.parse(noon)) / 86_400_000);

  it.each([
    ['2000 years ago', '0026'],
    ['1950 years ago', '0076'],
    ['1926 years ago', '0100'],
    ['2025 years ago', '0001'],
  ])('takes a year as it is: %s', async (text, year) => {
    const [[start = 0, end = 0] = []] = await shown(text, noon);
    expect(Math.abs(start - daysTo(year))).toBeLessThanOrEqual(1);
    expect(end - start).toBeGreaterThanOrEqual(365);
    expect(end - start).toBeLessThanOrEqual(366);
  });

  it.each([
    '3000 years ago',
    '30000 months ago',
    '100000 years ago',
    '10000000000 years ago',
    'on 5 May 44 BC',
    'in winter 0000',
  ])('names nothing that no memory can be of: %s', async (text) => {
    expect(await shown(`what happened ${text}`, noon)).toEqual([]);
  });

  it('ends with the last moment that there is', async () => {
    const at = '9999-12-15T12:00:00Z';
    const ranges = await readEnglishDates('in December and this year', { now: Date.parse(at), timeZone });
    expect(ranges).toHaveLength(2);
    for (const { start, end } of ranges) {
      expect(end).toBeGreaterThan(start);
      expect(end).toBeLessThanOrEqual(Date.parse('9999-12-31T23:59:59.999Z'));
    }
  });

  it('knows what day it is in the first years', async () => {
    const [[start = 0, end = 0] = []] = await shown('what happened yesterday', '0005-03-01T13:00:00Z');
    expect(end - start).toBe(1);
    expect([-2, -1]).toContain(start);
  });
});

describe('the parser', () => {
  it.each([
    'the bus 30',
    'listen on port 8080',
    'version 3.4 of utf-8 for gpt-4',
    'what may I do on this project',
    'the last one, the next one, the past ones',
    'how long ago',
    'a cup of tea before 5',
    'in 2023',
    'in the spring of 2022',
    'sun and rain in winter',
    'they march on',
  ])('is not loaded for: %s', (text) => {
    expect(mayNeedParser(text)).toBe(false);
  });

  it('would find nothing more in texts for which it is not loaded', async () => {
    const word = fc.constantFrom(
      ...'in on for the of last past this next ago to and until from may May march mar sun sat'.split(' '),
      ...'summer fall winter June Monday today week weeks day days month hours tonight weekend year quarter'.split(
        ' ',
      ),
      'sat night',
      'between',
      'between 3 and 5',
      '2 weeks before',
      'before 2022',
      'since',
      'after',
      'before last',
      'the previous',
      'Q1',
      'Q3 2025',
      'the first half of',
      '2025-03',
      '3 days earlier',
      ...'2 14 30 2023 8080 1.2.3 5/7 2023-05-07 7.5.2023 05/2023 12-14 3d two a few 10:30 5pm 1st utf-8'.split(
        ' ',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 6 }), async (words) => {
        const text = words.join(' ');
        const context = { now, timeZone: 'UTC' };
        expect(await readEnglishDates(text, context)).toEqual(await datesOf(text, context, true));
      }),
      { numRuns: 5000 },
    );
  });
});

describe('29 February without a year', () => {
  it.each([
    [Date.UTC(2028, 1, 28, 12), '2024-02-29'],
    [Date.UTC(2028, 1, 29), '2028-02-29'],
    [Date.UTC(2031, 11, 31), '2028-02-29'],
    [Date.UTC(2103, 5, 1), '2096-02-29'],
  ])('is the latest that there was', async (now, expected) => {
    const [range] = await readEnglishDates('on 29 February', { now, timeZone: 'UTC' });
    expect(day(range!.start)).toBe(expected);
  });
});

describe('words that are usually not dates', () => {
  it.each(['may', 'march', 'sat', 'sun'])(
    '%s is read as the parser reads it beside units of time',
    async (word) => {
      const context = { now, timeZone: 'UTC' };
      for (const unit of 'second minute hours day weeks month quarter quarters qtr year weekend'.split(' ')) {
        for (const before of ['in a', 'in few', 'within two', 'for the', 'a couple of', 'to']) {
          for (const text of [`${word} ${before} ${unit}`, `${word} ${before} ${unit} after`]) {
            expect(await readEnglishDates(text, context), text).toEqual(await datesOf(text, context, true));
          }
        }
      }
    },
  );
});

test('of what precedes a date, only the last words are searched, however long the text is', async () => {
  const lengths: number[] = [];
  const { exec } = RegExp.prototype;
  const spy = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, given) {
    const looksBack = [
      'ever\\s',
      '|weekend)',
      '|shortly',
      '|between|to|this',
      'beginning|start|middle|end)\\s+of)',
    ].some((part) => this.source.includes(part));
    if (looksBack) lengths.push(given.length);
    return exec.call(this, given);
  });
  const found = await read(`${'the '.repeat(2000)} in Q1, the last Sunday before 2024, after 2023`);
  spy.mockRestore();
  expect(found).toEqual([
    'Q1: 2026-01-01 – 2026-04-01',
    'the last Sunday before 2024: 2023-12-31 – 2024-01-01',
    'after 2023: 2024-01-01 – 2026-06-11',
  ]);
  expect(lengths.length).toBeGreaterThan(3);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(60);
});

describe('patterns that are slow to compile', () => {
  const parsers = casual.parsers.map(onlyWithItsEnding);
  /** The texts, or rests of one, that they look at. */
  const looked = (text: string) => {
    const texts: string[] = [];
    const { exec } = RegExp.prototype;
    const spy = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, given) {
      if (this.source.includes('(?:ago|') || this.source.includes('(?:later|')) texts.push(given);
      return exec.call(this, given);
    });
    new Chrono({ parsers, refiners: casual.refiners }).parse(text);
    spy.mockRestore();
    return texts;
  };

  it('skip texts in which they cannot end', () => {
    expect(looked('what did they plant in spring')).toEqual([]);
    expect(looked('what did they plant two weeks ago')).toEqual(['what did they plant two weeks ago']);
    expect(looked('two weeks later they ate')).toEqual(['two weeks later they ate']);
    expect(looked('a week ago, not two weeks ago')).toEqual([
      'a week ago, not two weeks ago',
      ', not two weeks ago',
    ]);
    expect(looked('a week before, and a day after')).toHaveLength(2);
  });

  it('find what the library finds', () => {
    const reader = new Chrono({ parsers, refiners: casual.refiners });
    const words =
      'two 3 a week weeks days month year ago before earlier later after from now henceforth forward out in May 7 last next 2023 Monday AGO Out'.split(
        ' ',
      );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 8 }), (chosen) => {
        const text = chosen.join(' ');
        const found = (by: Chrono) =>
          by
            .parse(text, { instant: new Date(now), timezone: 0 })
            .map(({ index, text, start, end }) => [index, text, start.date(), end?.date()]);
        expect(found(reader)).toEqual(found(casual));
      }),
      { numRuns: 500 },
    );
  });
});
