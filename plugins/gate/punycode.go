package gate

import (
	"strings"
	"unicode/utf8"
)

// punycode writes a label in the letters of the DNS, as RFC 3492 has it; the
// names are those of its section 6.3.
func punycode(label string) string {
	const base, tMin, tMax, skew, damp, initialBias, initialN = 36, 1, 26, 38, 700, 72, 128
	var out strings.Builder
	for _, r := range label {
		if r < utf8.RuneSelf {
			out.WriteRune(r)
		}
	}
	basic := out.Len()
	if basic > 0 {
		out.WriteByte('-')
	}
	runes := []rune(label)
	n, delta, bias := rune(initialN), 0, initialBias
	for handled := basic; handled < len(runes); n++ {
		next := rune(utf8.MaxRune)
		for _, r := range runes {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (handled + 1)
		n = next
		for _, r := range runes {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, tMin), tMax)
				if q < t {
					break
				}
				out.WriteByte(digit(t + (q-t)%(base-t)))
				q = (q - t) / (base - t)
			}
			out.WriteByte(digit(q))
			// Adapt the bias.
			if handled == basic {
				delta /= damp
			} else {
				delta /= 2
			}
			delta += delta / (handled + 1)
			k := 0
			for ; delta > (base-tMin)*tMax/2; k += base {
				delta /= base - tMin
			}
			bias = k + (base-tMin+1)*delta/(delta+skew)
			delta = 0
			handled++
		}
		delta++
	}
	return out.String()
}

func digit(d int) byte {
	if d < 26 {
		return byte('a' + d)
	}
	return byte('0' + d - 26)
}
