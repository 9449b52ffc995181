package render

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// letters is what a reader sees of a text: its letters and digits, in order.
func letters(markdown string) string {
	plain := formatted(clean(markdown), asPlain, Options{})
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(plain))
}

// small are limits with which short texts are cut often.
var small = size{markdown: 300, blocks: 400}

func checkPieces(t rapid.TB, markdown string, pieces []string, limit size) {
	t.Helper()
	s := splitter{limit: limit}
	var seen strings.Builder
	for i, piece := range pieces {
		if strings.TrimSpace(piece) == "" {
			t.Fatalf("piece %d is blank", i)
		}
		if !utf8.ValidString(piece) {
			t.Fatalf("piece %d is no UTF-8", i)
		}
		if got := s.sizeOf(piece); !got.within(limit) {
			t.Fatalf("piece %d has %+v: %q", i, got, piece)
		}
		seen.WriteString(letters(piece))
	}
	if want := letters(markdown); seen.String() != want {
		i := 0
		for got := seen.String(); i < min(len(got), len(want)) && got[i] == want[i]; i++ {
		}
		t.Fatalf("the pieces show something else than the whole, from %d on:\n%.80q\n%.80q", i, seen.String()[min(i, seen.Len()):], want[min(i, len(want)):])
	}
}

// TestSplitKeepsAll cuts documents of all kinds of blocks.
func TestSplitKeepsAll(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"word", "Größe", "日本語。", "👩‍👩‍👧", "**bold**", "*it*", "`code`", "[a link](https://example.com/x)", "a_b", "1.", "&amp;", "<b>", "~~x~~", "\\*", "https://example.com/?q=1", "e.g.", "🇩🇪🇫🇷", "\"q\"", "x[0]",
	})
	sentence := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 20).Draw(t, "words"), " ")
	})
	long := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(sentence.Draw(t, "sentence")+" ", rapid.IntRange(1, 12).Draw(t, "times"))
	})
	paragraph := rapid.OneOf(sentence, sentence, sentence, long)
	block := rapid.Custom(func(t *rapid.T) string {
		p := paragraph.Draw(t, "paragraph")
		n := rapid.IntRange(1, 12).Draw(t, "n")
		s := sentence.Draw(t, "line")
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return "# " + s
		case 1:
			return "```go\n" + strings.Repeat("code "+strings.ReplaceAll(s, "`", "")+"\n", n) + "```"
		case 2:
			return strings.Repeat("- item "+s+"\n", n)
		case 3:
			return strings.Repeat("1. item\n\n   "+s+"\n   - inner\n", n)
		case 4:
			return "> " + strings.Repeat(s+"\n> ", n)
		default:
			return p
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		doc := strings.Join(rapid.SliceOfN(block, 1, 8).Draw(t, "blocks"), "\n\n")
		checkPieces(t, doc, split(doc, small), small)
	})
}

func TestSplitAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SampledFrom(seeds).Draw(t, "seed") + rapid.String().Draw(t, "text")
		gap := rapid.SampledFrom([]string{"", " ", "\n", "\n\n"}).Draw(t, "gap")
		doc := strings.Repeat(some+gap, rapid.IntRange(1, 40).Draw(t, "times"))
		for i, piece := range split(doc, small) {
			s := splitter{limit: small}
			if got := s.sizeOf(piece); strings.TrimSpace(piece) == "" || !got.within(small) {
				t.Fatalf("piece %d does not fit: %+v %q", i, got, piece)
			}
		}
	})
}

// TestSplitFitsABlock: what the real limits let through is shown as a block.
func TestSplitFitsABlock(t *testing.T) {
	for _, unit := range []string{"word ", "> https://example.com/?q=1\n", "\"q\"\n\n", "日本語。", "- a\n", "<@U0BOB> ", "`<!here>` ", "1. \\*x\n\n   y\n"} {
		for i, piece := range Split(strings.Repeat(unit, 18_000/len(unit))) {
			if post := Render(piece, Markdown, options); post.Markdown == "" || post.Text == "" {
				t.Errorf("%q: piece %d is shown without a block", unit, i)
			}
		}
	}
}

func TestSplitShort(t *testing.T) {
	for _, in := range []string{"hello", "a\n\nb", "```\ncode\n```", "- a\n- b"} {
		if got := Split(in); len(got) != 1 || got[0] != in {
			t.Errorf("Split(%q) = %q, want it as it is", in, got)
		}
	}
	for _, in := range []string{"", " \n\t", "\u00a0\n"} {
		if got := Split(in); len(got) != 0 {
			t.Errorf("Split(%q) = %q, want nothing", in, got)
		}
	}
}

func TestSplitFence(t *testing.T) {
	line := "fmt.Println(\"```\") // keep me whole"
	doc := "Before.\n\n~~~~go title\n" + strings.Repeat(line+"\n", 900) + "~~~~\n\nAfter."
	pieces := Split(doc)
	if len(pieces) < 3 {
		t.Fatalf("%d pieces", len(pieces))
	}
	lines := 0
	for i, piece := range pieces {
		if strings.Count(piece, "````")%2 != 0 {
			t.Errorf("piece %d leaves its fence open", i)
		}
		if strings.Contains(piece, line) && !strings.Contains(piece, "````go title\n") {
			t.Errorf("piece %d opens its fence without the info string", i)
		}
		lines += strings.Count(piece, line)
	}
	if lines != 900 {
		t.Errorf("%d lines came out, want 900", lines)
	}
	checkPieces(t, doc, pieces, size{maxMarkdown, maxBlocks})
}

func TestSplitShortFenceWhole(t *testing.T) {
	fence := "```sh\n" + strings.Repeat("make all\n", 300) + "```"
	doc := strings.Repeat("Many words stand here. ", 400) + "\n\n" + fence + "\n\nEnd."
	pieces := Split(doc)
	found := 0
	for _, piece := range pieces {
		found += strings.Count(piece, fence)
	}
	if found != 1 {
		t.Errorf("the fence stands whole in %d pieces of %d, want 1", found, len(pieces))
	}
}

func TestSplitTable(t *testing.T) {
	doc := "| name | what |\n|:--|--:|\n" + strings.Repeat("| n | some words in a cell |\n", 900)
	pieces := Split(doc)
	if len(pieces) < 2 {
		t.Fatalf("%d pieces", len(pieces))
	}
	rows := 0
	for i, piece := range pieces {
		if !strings.HasPrefix(piece, "| name | what |\n| :-- | --: |\n") {
			t.Errorf("piece %d has no head: %.60q", i, piece)
		}
		rows += strings.Count(piece, "some words")
	}
	if rows != 900 {
		t.Errorf("%d rows, want 900", rows)
	}
}

func TestSplitListGoesOn(t *testing.T) {
	doc := strings.Repeat("1. "+strings.Repeat("word ", 60)+"\n", 100)
	pieces := Split(doc)
	if len(pieces) < 2 {
		t.Fatalf("%d pieces", len(pieces))
	}
	if !strings.Contains(pieces[len(pieces)-1], "\n100. word") {
		t.Error("the last item has lost its number")
	}
	checkPieces(t, doc, pieces, size{maxMarkdown, maxBlocks})
}

func TestSplitGraphemes(t *testing.T) {
	for _, unit := range []string{"👩‍👩‍👧‍👦", "e\u0301\u0323", "🇩🇪", "👍🏽", "한", "각"} {
		doc := strings.Repeat(unit, 900)
		pieces := split(doc, small)
		if strings.Join(pieces, "") != doc {
			t.Errorf("%q: the pieces are not the whole", unit)
		}
		for _, piece := range pieces {
			if strings.Count(piece, unit)*len(unit) != len(piece) {
				t.Errorf("%q is torn: %.40q … %q", unit, piece, piece[len(piece)-len(unit):])
			}
		}
	}
}

// TestSplitPieces: no text, however it nests, falls into many small pieces or
// costs its size squared.
func TestSplitPieces(t *testing.T) {
	for _, unit := range []string{
		"> ", "1. ", "[", "![", "*a ", "**a", "_a*", "`a", "<", "&", "|a", "a\n|-", "[a](b", "<a:", "\\", "- > ", "[a]: b\n",
		"[a][", "#", "@here", "https://a.b/", "<@U0BOB>", "|a|\n|-|\n", "\"",
	} {
		doc := strings.Repeat(unit, 3_000/len(unit))
		if n := len(split(doc, small)); n == 0 || n > 100 {
			t.Errorf("%d pieces of 3,000 characters of %q", n, unit)
		}
	}
}
