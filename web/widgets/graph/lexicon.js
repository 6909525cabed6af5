// The words of this widget, and the form of its tokens. Python has them
// (lmcourse/widgets/graph_words.py) and sends them along, so that both say the same.

export const words = {};

/** One of the sentences, with these in place of {0}, {1}, … */
export const say = (key, ...given) => words.said[key].replace(/\{(\d)\}/g, (_, i) => given[i]);
