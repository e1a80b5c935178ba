// The arithmetic of the comparison. It has no guess in it: what a few videos cannot say is not said.

/** Fewer values than this say nothing. */
export const enough = 5;
/** The least probability of an interval. */
const sure = 0.9;

export type Middle = {
  n: number;
  median: number;
  /** The k-th lowest and the k-th highest value. */
  low: number;
  high: number;
  k: number;
  /** The exact probability that the interval has the true median, at least `sure`. */
  coverage: number;
};

/** The median: of an even number of values, the mean of the two in the middle. Not a number for none. */
export function medianOf(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? NaN) + (sorted[Math.floor(half)] ?? NaN)) / 2;
}

/**
 * The median of n values, and an interval for the true median that holds for any distribution: from the k-th lowest to the
 * k-th highest value. Each value is below the true median with probability ½, so the interval misses it on one side if fewer
 * than k of n values are there: coverage = 1 − 2 · Σ C(n, i) ÷ 2ⁿ for i from 0 to k − 1. k is the greatest for which that is at
 * least 0.9. Undefined for fewer than 5 values. Values are taken as independent and without ties at the median; ties make the
 * coverage higher. n is at most 1,000, below which 2⁻ⁿ is a number.
 */
export function middleOf(values: number[]): Middle | undefined {
  const n = values.length;
  if (n < enough) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  let [k, below, next] = [0, 0, 0.5 ** n];
  while (1 - 2 * (below + next) >= sure) {
    below += next;
    k++;
    next *= (n - k + 1) / k;
  }
  return { n, median: medianOf(sorted), low: sorted[k - 1] ?? NaN, high: sorted[n - k] ?? NaN, k, coverage: 1 - 2 * below };
}

/** A reading: its age in days, and its views. */
export type Point = { x: number; y: number };

/** The views of a video at an age, in a straight line between two of its readings in order of age; undefined before the first and after the last. */
export function viewsAt(curve: Point[], age: number): number | undefined {
  const after = curve.findIndex(({ x }) => x >= age);
  const [next, last] = [curve[after], curve[after - 1]];
  if (!next) return undefined;
  if (next.x === age) return next.y;
  return last && last.y + ((next.y - last.y) * (age - last.x)) / (next.x - last.x);
}
