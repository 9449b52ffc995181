package memory

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	// sameTopic and sameText are how alike two topics, or two texts, are that
	// mean the same.
	sameTopic = 0.75
	sameText  = 0.9
)

// terms are what a text is compared by: its words, and of a longer word its
// beginning too, so that "reviews" and "reviewing" meet. In scripts without
// blanks each character and its neighbour are one.
func terms(text string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		runes := []rune(word)
		if unicode.In(runes[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			for i := 0; i+1 < len(runes); i++ {
				list = append(list, string(runes[i:i+2]))
			}
			if len(runes) == 1 {
				list = append(list, word)
			}
			continue
		}
		if common[word] {
			continue
		}
		list = append(list, word)
		if len(runes) > stem {
			list = append(list, string(runes[:stem])+"*")
		}
	}
	return list
}

// stem is how long a word's beginning is, in characters.
const stem = 5

// common words tell nothing apart.
var common = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`a an and are as at be by do does for from has have how i in is it its me my of on or our
		should that the their they this to was we what when where which who why will with you your`) {
		set[word] = true
	}
	return set
}()

// alike is how much two texts have in common: 1 when they have the same terms.
func alike(a, b string) float64 {
	x, y := set(terms(a)), set(terms(b))
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	both := 0
	for t := range x {
		if y[t] {
			both++
		}
	}
	return float64(2*both) / float64(len(x)+len(y))
}

func set(list []string) map[string]bool {
	s := make(map[string]bool, len(list))
	for _, t := range list {
		s[t] = true
	}
	return s
}

// rank orders memories by how well they answer a question, best first, and
// leaves out those that have nothing of it: Okapi BM25 (Robertson and Zaragoza,
// 2009) with its usual constants.
func rank(question string, memories []Memory) []Memory {
	const k1, b = 1.2, 0.75
	type document struct {
		memory Memory
		count  map[string]int
		length int
	}
	documents, holding, total := make([]document, len(memories)), map[string]int{}, 0
	for i, m := range memories {
		d := document{memory: m, count: map[string]int{}}
		for _, t := range terms(m.Topic + " " + m.Text) {
			d.count[t]++
			d.length++
		}
		for t := range d.count {
			holding[t]++
		}
		documents[i], total = d, total+d.length
	}
	if total == 0 {
		return nil
	}
	average := float64(total) / float64(len(documents))
	type scored struct {
		memory Memory
		score  float64
	}
	var found []scored
	asked := set(terms(question))
	for _, d := range documents {
		score := 0.0
		for t := range asked {
			f := float64(d.count[t])
			if f == 0 {
				continue
			}
			n := float64(holding[t])
			rarity := math.Log(1 + (float64(len(documents))-n+0.5)/(n+0.5))
			score += rarity * f * (k1 + 1) / (f + k1*(1-b+b*float64(d.length)/average))
		}
		if score > 0 {
			found = append(found, scored{d.memory, score})
		}
	}
	slices.SortFunc(found, func(x, y scored) int {
		return cmp.Or(cmp.Compare(y.score, x.score), y.memory.Created.Compare(x.memory.Created), cmp.Compare(x.memory.ID, y.memory.ID))
	})
	ranked := make([]Memory, len(found))
	for i, s := range found {
		ranked[i] = s.memory
	}
	return ranked
}
