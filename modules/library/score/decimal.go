package score

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
)

// Decimal is a number that is never negative, with 4 decimals, rounded half up. It
// is two whole numbers because a score can pass what 63 bits hold in ten-thousandths:
// 2^53 views over a baseline of 1.
type Decimal struct {
	// Whole is the integer part, at most 2^54.
	Whole int64
	// Frac is the rest in ten-thousandths, 0 to 9999.
	Frac int32
}

// Compare is negative where d is the smaller, positive where it is the larger number.
func (d Decimal) Compare(other Decimal) int {
	return cmp.Or(cmp.Compare(d.Whole, other.Whole), cmp.Compare(d.Frac, other.Frac))
}

// String is the shortest form: `5`, `0.5`, `1.1667`.
func (d Decimal) String() string {
	text := strconv.FormatInt(d.Whole, 10)
	if d.Frac == 0 {
		return text
	}
	frac := strconv.Itoa(10000 + int(d.Frac))[1:]
	end := len(frac)
	for frac[end-1] == '0' {
		end--
	}
	return text + "." + frac[:end]
}

// Float64 is the nearest double: what a reader of String has. The text and the
// double's own shortest form are the same up to 15 digits, so JSON shows the double.
func (d Decimal) Float64() float64 {
	if d.Whole < 1<<39 { // below 2^53 ten-thousandths, so that one division rounds to the nearest
		return float64(d.Whole*10000+int64(d.Frac)) / 10000
	}
	f, _ := strconv.ParseFloat(d.String(), 64) // digits and one point always parse
	return f
}

// ratio is num ÷ den. den must be above 0 and below 2^63.
func ratio(num, den uint64) Decimal { return ratioWide(0, num, den) }

// ratioWide is (hi × 2^64 + lo) ÷ den for a quotient below 2^63.
func ratioWide(hi, lo, den uint64) Decimal {
	whole, rest := bits.Div64(hi, lo, den)
	// ⌊(20000 × rest + den) ÷ 2den⌋ is rest ÷ den in ten-thousandths, half up.
	hi, lo = bits.Mul64(rest, 20000)
	lo, carry := bits.Add64(lo, den, 0)
	frac, _ := bits.Div64(hi+carry, lo, 2*den)
	if frac == 10000 {
		return Decimal{Whole: int64(whole) + 1}
	}
	return Decimal{Whole: int64(whole), Frac: int32(frac)}
}

// twiceMedian is twice the median of numbers, which it reorders: whole even where the
// median is the mean of two. It is 0 for none. Many numbers are best sorted before.
func twiceMedian(numbers []int64) int64 {
	n := len(numbers)
	if n == 0 {
		return 0
	}
	upper := place(numbers, n/2)
	if n%2 == 1 {
		return 2 * upper
	}
	return slices.Max(numbers[:n/2]) + upper
}

// place reorders numbers as far as it takes for the one at i to be the one that sorting
// puts there: none before it is greater, none behind it less. It returns that number.
func place(numbers []int64, i int) int64 {
	for first, last := 0, len(numbers)-1; first < last; {
		pivot := numbers[(first+last)/2]
		up, down := first, last
		for up <= down {
			for numbers[up] < pivot {
				up++
			}
			for numbers[down] > pivot {
				down--
			}
			if up <= down {
				numbers[up], numbers[down] = numbers[down], numbers[up]
				up, down = up+1, down-1
			}
		}
		switch {
		case i <= down:
			last = down
		case i >= up:
			first = up
		default:
			return numbers[i]
		}
	}
	return numbers[i]
}

// half is twice ÷ 2.
func half(twice int64) Decimal { return Decimal{Whole: twice / 2, Frac: int32(twice%2) * 5000} }

// Ratio is num ÷ den of two whole numbers, 4 decimals, half up. den must be above 0, num
// not below 0.
func Ratio(num, den int64) Decimal { return ratio(uint64(num), uint64(den)) }
