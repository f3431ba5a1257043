/**
 * What makes a memory important, for models and for rules alike: signal, band and examples.
 *
 * Origin: the table of a composite scoring that gives critical facts 0.8–1, useful preferences 0.5–0.7, casual mentions
 * 0.1–0.4, and by signal: said to be important 0.8–1, professional 0.6–0.8, preferences and recurring patterns 0.4–0.6,
 * casual 0.1–0.3.
 */
export const IMPORTANCE_BANDS: readonly {
  readonly signal: string;
  readonly from: number;
  readonly to: number;
}[] = [
  {
    signal: 'critical: medical conditions and medication, security credentials, business-critical decisions',
    from: 0.8,
    to: 1,
  },
  { signal: 'the speaker says that it is important, or must not be forgotten', from: 0.8, to: 1 },
  { signal: 'work: projects, deadlines, customers, decisions, how things are built', from: 0.6, to: 0.8 },
  { signal: 'useful to help well: timezone, language, style of communication', from: 0.5, to: 0.7 },
  { signal: 'other preferences, habits and recurring patterns', from: 0.4, to: 0.6 },
  { signal: 'mentioned in passing, once: small talk, the weather, a meal', from: 0.1, to: 0.3 },
];

/** A signal that a rule found, and the importance that it indicates. */
export interface ImportanceSignal {
  readonly name: string;
  readonly importance: number;
}

/** The importance of a statement by rules, the highest of its signals. */
export interface JudgedImportance {
  /** 0–1. */
  readonly importance: number;
  readonly signals: readonly ImportanceSignal[];
}

interface Rule extends ImportanceSignal {
  readonly pattern: RegExp;
}

/** The importance without any signal: the upper end of casual mentions. */
const UNREMARKABLE = 0.3;

const words = (list: string) => new RegExp(`\\b(?:${list})\\b`, 'i');

const weighty = '(?:important|crucial|critical|essential|vital)';
const very = '(?:(?:very|really|so|extremely|super|absolutely|also|quite) ){0,2}';
const denial =
  "(?<!(?:\\b(?:not|never|hardly|less|how|as)|n['’]t) (?:(?:that|very|so|too|really|all that|particularly) )?)";
const opening = '(?:^|[.!?:;,]\\s+|\\b(?:please|always|must|and)\\s)';

/** Matches what the speaker calls important, not everything that contains the word. */
const SAID_TO_BE_IMPORTANT = new RegExp(
  [
    `\\b(?:it|this)(?:['’]s| is) ${very}${weighty}(?: that\\b| for (?:me|us|him|her|them)\\b|\\s*(?:[.!:,;]|$))`,
    `${denial}\\b${weighty} to (?:me|us|him|her|them|know|remember|note)\\b`,
    `\\b(?:important(?: note)?|urgent) ?:|\\bmost important (?:thing|rule|point)\\b`,
    `${denial}\\burgent(?:ly)?\\b`,
    `${opening}remember(?: (?:this|that|to)\\b|:|,)`,
    `${opening}(?:don['’]?t|do not|never) (?:ever )?forget\\b`,
    '\\b(?:must not forget|keep in mind|make (?:a )?note|note that|under no circumstances|must (?:always|never))\\b',
  ].join('|'),
  'i',
);

/**
 * English words. Each indicates its signal unambiguously in most sentences. A rule that guesses would be worse than
 * none: a statement that no rule recognises stays where it can still be found.
 */
const RULES: readonly Rule[] = [
  {
    name: 'medical',
    importance: 0.9,
    pattern: words(
      'allerg(?:y|ies|ic)|anaphyla\\w+|epipens?|diabet(?:es|ic)|insulin|asthma(?:tic)?|epilep(?:sy|tic)|seizures?|cancer|chemo(?:therapy)?|tumou?rs?|hiv|pregnan(?:t|cy)|miscarriage|diagnos(?:ed|is|es)|prescri(?:bed|ptions?)|medications?|antibiotics?|penicillin|dosages?|blood (?:type|pressure|thinners?)|heart (?:attack|disease|condition)|pacemaker|stroke|surger(?:y|ies)|chronic|depression|suicidal|celiac|coeliac|intoleran(?:t|ce)|disabilit(?:y|ies)',
    ),
  },
  {
    name: 'credentials',
    importance: 0.9,
    pattern: words(
      'passwords?|passphrases?|passcodes?|api[ -]?keys?|access tokens?|secret keys?|private keys?|ssh keys?|credentials?|recovery codes?|seed phrase|2fa|mfa|two[ -]factor|pin (?:code|number|is)',
    ),
  },
  {
    name: 'business-critical',
    importance: 0.9,
    pattern: words(
      'business[ -]critical|mission[ -]critical|production (?:outage|database|is down|credentials|incident)|data (?:loss|breach)|security (?:incident|breach|hole)|vulnerabilit(?:y|ies)|lawsuits?|gdpr|hipaa|compliance|layoffs?|laid off|bankrupt(?:cy)?|acqui(?:red by|sition)|merger|ipo|go(?:es|ing)? live|launch date|signed (?:the|a) contract',
    ),
  },
  {
    name: 'said to be important',
    importance: 0.9,
    pattern: SAID_TO_BE_IMPORTANT,
  },
  {
    name: 'decision',
    importance: 0.7,
    pattern: words(
      "(?:we|i|they|team|board|management) (?:have |has |had |'ve |'s )?(?:decided|agreed|settled|approved|rejected)|decided (?:to|on|against|that)|decision (?:is|was|to)",
    ),
  },
  {
    name: 'professional',
    importance: 0.65,
    pattern: words(
      'deadlines?|projects?|clients?|customers?|stakeholders?|meetings?|colleagues?|coworkers?|manager|my boss|my team|our team|employer|(?<!(?:nice|good|great|amazing|awesome|fantastic|incredible) )job|promotion|salary|interview|budget|contracts?|invoices?|quarter(?:ly)?|roadmap|sprint|deploy(?:s|ed|ment|ments)?|repositor(?:y|ies)|codebase|databases?|pull requests?|backend|frontend|startup|company|works? (?:as|at|for)|working (?:as|at|for|on)|ceo|cto',
    ),
  },
  {
    name: 'way to be helped',
    importance: 0.6,
    pattern: words(
      'time ?zone|utc[+-]\\d+|gmt[+-]\\d+|pronouns|native language|mother tongue|speaks? (?:english|german|french|spanish|italian|portuguese|dutch|russian|polish|turkish|arabic|hindi|chinese|mandarin|cantonese|japanese|korean)|(?:short|concise|brief|detailed|formal|informal|direct) (?:answers?|repl(?:y|ies)|explanations?|tone|style|feedback|communication)|communication style|call me|(?:answer|reply|respond|write|explain|communicate)(?:s|ing)? (?:to me |everything )?(?:in|with|by|via|briefly|formally)',
    ),
  },
  {
    name: 'recurring',
    importance: 0.5,
    pattern: words(
      'always|usually|normally|generally|typically|regularly|often|habit|routine|every (?:day|morning|evening|night|week|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|time)|(?:mon|tues|wednes|thurs|fri|satur|sun)days|daily|weekly|monthly|once a (?:day|week|month|year)|twice a (?:day|week|month|year)|tends? to',
    ),
  },
  {
    name: 'preference',
    importance: 0.5,
    pattern: words(
      "prefers?|preferred|preferences?|(?:i|he|she|they|we|really) (?:love|like|enjoy|hate|dislike|adore|detest)s?|loves|likes|hates|dislikes|enjoys|rather than|instead of|(?:don['’]t|doesn['’]t|can['’]t) (?:like|stand|eat|drink)|vegetarian|vegan|kosher|halal",
    ),
  },
  { name: 'taste', importance: 0.4, pattern: words('favou?rites?|fan of') },
  {
    name: 'life',
    importance: 0.5,
    pattern: words(
      "(?:my|his|her|their) (?:wife|husband|spouse|partner|fianc(?:e|é)e?|girlfriend|boyfriend|son|daughter|child|children|kids?|baby|mother|mom|mum|father|dad|parents?|brother|sister|siblings?|dog|cat|birthday|anniversary|address)|married|divorced|engaged|born (?:in|on)|(?:lives?|living|moved|moving|relocat\\w+) (?:in|to|from)|passed away|died|graduat\\w+|(?:i am|i['’]m|is) \\d{1,3} years old|my name is",
    ),
  },
];

/** A whole message that is only politeness. */
const PHATIC =
  /^\W*(?:(?:hi|hey|hello|good (?:morning|afternoon|evening|night)|thanks?(?: you| a lot| so much)?|thx|cheers|bye|goodbye|see you|ok(?:ay)?|sure|yes|yeah|yep|no|nope|great|cool|nice|awesome|perfect|lol|haha|got it|sounds good|you['’]re welcome|no problem|welcome|there|again|all|everyone)\W*)+$/i;

const CASUAL = words(
  "weather|sunny|rainy|raining|by the way|btw|lol|haha|just (?:had|saw|ate|watched)|for (?:lunch|breakfast|dinner)|small talk|what['’]s up|how are you|how['’]s it going|random(?:ly)? thought|fun fact",
);

/** The importance of a question that no other rule recognises. */
export const QUESTION_IMPORTANCE = 0.2;

const SENTENCE_END = /\n|(?<=[.!?؟])(?=\s)|(?<=[。！？])/;

/** An English question of one clause. A mark between digits, as in "2.0" and "10:30", does not end it. */
const ASKS =
  /^\W*(?:(?:hi|hey|hello|ok(?:ay)?|so|well|and|but)\W+)?(?:who|whom|whose|what|when|where|why|which|how|do|does|did|is|are|was|were|am|can|could|will|would|should|shall|may|might|have|has|had)\b(?:[^,;:.!\n]|(?<=\d)[,:.](?=\d))*\?\W*$/i;

/** Matches "Can you remember that my sister is called Eva?", which states something or asks for more than an answer. */
const TELLS =
  /\b(?:(?:can|could|will|would) you|remember|remind|note|forget|that|please|from now on|because|since|if|when (?:i|my|we|our))\b/i;

/** The importance that a type indicates, in any language. */
const BY_TYPE: ReadonlyMap<string | undefined, number> = new Map([
  ['decision', 0.7],
  ['rule', 0.7],
  ['profile', 0.5],
  ['preference', 0.5],
  ['pattern', 0.5],
  ['procedure', 0.5],
  ['feedback', 0.5],
]);

/**
 * Judges the importance of a statement by rules. The rules know English; in other languages only the type counts. The
 * highest signal wins. For a statement that contradicts or updates others, pass the highest importance of those as
 * `atLeast`.
 */
export function judgeImportance(
  statement: string,
  about: { readonly type?: string | undefined; readonly atLeast?: number | undefined } = {},
): JudgedImportance {
  const signals: ImportanceSignal[] = RULES.filter(({ pattern }) => pattern.test(statement)).map(
    ({ name, importance }) => ({ name, importance }),
  );
  const ofType = BY_TYPE.get(about.type);
  if (ofType !== undefined) signals.push({ name: `type ${about.type}`, importance: ofType });
  if (about.atLeast !== undefined) {
    signals.push({ name: 'contradicts or updates an earlier memory', importance: about.atLeast });
  }
  if (signals.length === 0) signals.push(unremarkable(statement));
  return { importance: Math.max(...signals.map(({ importance }) => importance)), signals };
}

/** Whether a message is only politeness or assent, with nothing to remember. */
export function isPoliteness(message: string): boolean {
  return PHATIC.test(message);
}

/**
 * Whether a message only asks a question, whatever it names: each of its sentences is politeness, or an English
 * question of one clause that states nothing. If in doubt, it is not, because what it states would be lost.
 */
export function isMereQuestion(message: string): boolean {
  const sentences = message.split(SENTENCE_END).filter((sentence) => sentence.trim() !== '');
  const asks = (sentence: string) => ASKS.test(sentence) && !TELLS.test(sentence);
  return sentences.some(asks) && sentences.every((sentence) => asks(sentence) || isPoliteness(sentence));
}

function unremarkable(statement: string): ImportanceSignal {
  if (isPoliteness(statement)) return { name: 'politeness', importance: 0.1 };
  if (CASUAL.test(statement)) return { name: 'small talk', importance: 0.2 };
  if (isQuestion(statement)) return { name: 'question', importance: QUESTION_IMPORTANCE };
  return { name: 'no signal', importance: UNREMARKABLE };
}

/** Whether a statement consists only of questions, which state nothing. */
function isQuestion(statement: string): boolean {
  if (/[.!。！]/.test(statement)) return false;
  const lines = statement.split('\n').map((line) => line.trim());
  // In Greek, the question mark is a semicolon.
  return (
    statement.trim() !== '' &&
    lines.every((line) => /^$|[?？؟⁇]$|\p{Script=Greek}\p{M}*[;\u037e]$/u.test(line))
  );
}
