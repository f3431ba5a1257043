/**
 * English words too common to tell one memory from another.
 *
 * Source: the English stop list of NLTK (`nltk_data/corpora/stopwords/english`, 179 words), itself Martin
 * Porter's list of 127 words with contractions added. Left out are the 29 fragments that NLTK lists because
 * its tokenizer cuts contractions in two ("don", "won", "ma", "s", "t" …): the analyzer keeps contractions
 * whole, so here a fragment is a word or a name of its own ("who won?", "Don"). Added are the two
 * contractions of Porter's list that NLTK knows only by their fragments ("ain't", "can't").
 */
export const englishStopWords: ReadonlySet<string> = new Set(
  `i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself yourselves
  he him his himself she she's her hers herself it it's its itself they them their theirs themselves
  what which who whom this that that'll these those
  am is are was were be been being have has had having do does did doing
  a an the and but if or because as until while of at by for with about against between into through during
  before after above below to from up down in out on off over under again further then once
  here there when where why how all any both each few more most other some such
  no nor not only own same so than too very can will just don't should should've now
  ain't aren't can't couldn't didn't doesn't hadn't hasn't haven't isn't mightn't mustn't needn't
  shan't shouldn't wasn't weren't won't wouldn't`.split(/\s+/),
);
