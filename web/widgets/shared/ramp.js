// The course's sequential ramp: matplotlib's cividis at nine places, from low to high.

const STOPS = "00224e1a386f434e6c61656f7d7c789b9476bcae6cdec958fee838".match(/.{6}/g)
  .map((color) => color.match(/../g).map((part) => parseInt(part, 16)));

/** Red, green and blue of a place between 0 and 1. */
export function cividis(place) {
  const at = Math.min(Math.max(place, 0), 1) * (STOPS.length - 1);
  const [low, high] = [STOPS[Math.floor(at)], STOPS[Math.ceil(at)]];
  return low.map((c, i) => Math.round(c + (high[i] - c) * (at - Math.floor(at))));
}

/** The diverging one: blue at 0, nearly white at 0.5, orange at 1. */
export function diverging(place) {
  const off = Math.min(Math.abs(2 * place - 1), 1);
  return (place < 0.5 ? [0, 94, 160] : [202, 78, 0]).map((c) => Math.round(247 + (c - 247) * off));
}
