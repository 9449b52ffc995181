package gate_test

import (
	"strings"
	"testing"

	"reeve/plugins/gate"
)

func TestS1_HostIsNamedWholeOrNotAtAll(t *testing.T) {
	for _, test := range []struct {
		text, host string
		named      bool
	}{
		{"put it on good.com", "good.com", true},
		{"put it on GOOD.com.", "good.com", true},
		{"good.com", "Good.Com.", true},
		{"(good.com), please", "good.com", true},
		{"'good.com': there!", "good.com", true},
		{"*good.com* _or_ good.org?", "good.org", true},
		{"see:good.com", "good.com", true},
		{"a.com,good.com;b.com", "good.com", true},
		{"good.com:8443", "good.com", true},
		{"good.com/path?x=1", "good.com", true},
		{"https://good.com", "good.com", true},
		{"HTTPS://GOOD.COM:443/x.", "good.com", true},
		{"<https://good.com|here>", "good.com", true},
		{"the page (https://good.com/x?a=1&b=2)", "good.com", true},
		{"see https://good.com.", "good.com", true},
		{"see https://good.com, then", "good.com", true},
		{"from https://a.com to https://good.com", "good.com", true},
		{"http://localhost:8080/x", "localhost", true},
		{"http://127.0.0.1:8080/x", "127.0.0.1", true},
		{"on 127.0.0.1, please", "127.0.0.1", true},
		{"http://[::1]:80/", "::1", true},
		{"http://[0:0:0:0:0:0:0:1]/", "[::1]:443", true},
		{"http://[::ffff:10.0.0.1]/", "10.0.0.1", true},
		{"bücher.example", "xn--bcher-kva.example", true},
		{"BÜCHER.example", "bücher.example", true},
		{"https://XN--BCHER-KVA.example/x", "bücher.example", true},
		{"my_host.example", "my_host.example", true},

		{"", "good.com", false},
		{"put it somewhere", "good.com", false},
		{"good.company", "good.com", false},
		{"notgood.com", "good.com", false},
		{"not-good.com", "good.com", false},
		{"x.good.com", "good.com", false},
		{"good.com.evil.com", "good.com", false},
		{"good.com", "x.good.com", false},
		{"good.com", "com", false},
		{"https://good.com@evil.com", "good.com", false},
		{"https://good.com:x@evil.com/", "good.com", false},
		{"https://good.com@evil.com", "evil.com", false},
		{"https://evil.com\\@good.com/", "good.com", false},
		{"https://evil.com\\.good.com/", "good.com", false},
		{"https://evil.com%2f.good.com/", "good.com", false},
		{"good.com@evil.com", "good.com", false},
		{"good.com@evil.com", "evil.com", false},
		{"mail bob@good.com", "good.com", false},
		{"mailto:bob@good.com", "good.com", false},
		{"https://evil.com/good.com", "good.com", false},
		{"https://evil.com/(good.com)", "good.com", false},
		{"https://evil.com?u=good.com", "good.com", false},
		{"https://evil.com#good.com", "good.com", false},
		{"https://evil.com/https://good.com", "good.com", false},
		{"https://evil.com,good.com", "good.com", false},
		{"evil.com/good.com", "good.com", false},
		{"evil.com/x,good.com", "good.com", false},
		{"evil.com?good.com", "good.com", false},
		{"u=good.com", "good.com", false},
		{"//good.com/x", "good.com", false},
		{"go\u200bod.com", "good.com", false},
		{"good\u00ad.com", "good.com", false},
		{"g\u043eod.com", "good.com", false}, // a Cyrillic o
		{"good\u3002com", "good.com", false},
		{"good com", "good.com", false},
		{"good.\ncom", "good.com", false},
		{"the localhost of the place", "localhost", false}, // any word would be one
		{"\xff\xfe.com", "good.com", false},
		{"good.com", "", false},
		{"good.com", "https://good.com", false},
		{"good.com", "good.com/x", false},
		{"good..com", "good..com", false},
		{strings.Repeat("ü", 5000) + ".com", "good.com", false},
	} {
		host, err := gate.NormalHost(test.host)
		if got := err == nil && gate.Named(test.text, host); got != test.named {
			t.Errorf("%.60q names %q (%q, %v): %v, want %v", test.text, test.host, host, err, got, test.named)
		}
	}
}

// Samples of RFC 3492, section 7.1, and of registered names.
func TestNamesInOtherLettersAreComparedAsTheDNSWritesThem(t *testing.T) {
	for name, want := range map[string]string{
		"bücher.example": "xn--bcher-kva.example",
		"münchen.de":     "xn--mnchen-3ya.de",
		"faß.de":         "xn--fa-hia.de",
		"例え.テスト":         "xn--r8jz45g.xn--zckzah",
		"他们为什么不说中文":      "xn--ihqwcrb4cv8a8dqg056pqjye",
		"почемужеонинеговорятпорусски": "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l",
		"3年b組金八先生":  "xn--3b-ww4c5e180e575a65lsy2b",
		"そのスピードで":   "xn--d9juau41awczczp",
		"ελλάδα.ευ": "xn--hxakic4aa.xn--qxa6a",
	} {
		got, err := gate.NormalHost(name)
		if err != nil || got != want {
			t.Errorf("%s: %q (%v), want %q", name, got, err, want)
		}
	}
}

func FuzzHostIsNamed(f *testing.F) {
	for _, text := range []string{"put it on good.com", "https://good.com@evil.com/x", "<http://[::1]:80|x>", "bücher.example", "a.com/good.com"} {
		for _, host := range []string{"good.com", "::1", "xn--bcher-kva.example", "x"} {
			f.Add(text, host)
		}
	}
	f.Fuzz(func(t *testing.T, text, written string) {
		host, err := gate.NormalHost(written)
		if err != nil {
			return
		}
		if again, err := gate.NormalHost(host); err != nil || again != host {
			t.Fatalf("%q in normal form is %q, and of that %q (%v)", written, host, again, err)
		}
		if gate.Named("https://"+host+"@evil.example/", host) || gate.Named("https://x.evil.example/"+host, host) && host != "x.evil.example" {
			t.Fatalf("a trick names %q", host)
		}
		if !strings.Contains(host, ":") && !gate.Named("see https://"+host+"/x", host) {
			t.Fatalf("https://%s does not name it", host)
		}
		found := gate.Named(text, host)
		if found && !strings.Contains(host, ":") && !strings.Contains(host, "xn--") && !strings.Contains(strings.ToLower(text), host) && isASCII(text) {
			t.Fatalf("%q does not hold %q", text, host)
		}
		if found != gate.Named(text+" and more", host) {
			t.Fatalf("words behind %q change whether it names %q", text, host)
		}
		if !strings.ContainsAny(text, "<>\"`|“”„«»") && len(strings.Fields(text)) == 1 {
			glued := "https://evil.example/" + strings.TrimSpace(text)
			if host != "evil.example" && gate.Named(glued, host) {
				t.Fatalf("%q names %q", glued, host)
			}
		}
	})
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > 127 }) < 0
}
