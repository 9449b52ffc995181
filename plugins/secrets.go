package plugins

import (
	"math"
	"regexp"
	"strings"
	"unicode"
)

// secrets are tokens that are known by their form. This catches accidents, such
// as a tool that prints its settings; it is no wall.
var secrets = regexp.MustCompile(strings.Join([]string{
	`\b(?:xox[a-z](?:\.xox[a-z])?-|xapp-|sk_live_|rk_live_|whsec_|gh[oprsu]_|github_pat_|glpat-|dop_v1_|shpat_|sntrys_|sntryu_|AIza|ya29\.|GOCSPX-|EAACEdEose0cBA)[A-Za-z0-9_\-.%/+=]{12,}`,
	// Names of variables, classes and packages begin like these too, so that they
	// are known by their length, or by their digits.
	`\bnpm_[A-Za-z0-9]{36,}|\bhf_[A-Za-z0-9]{30,}|\b(?:ntn_|secret_)[A-Za-z0-9]{40,}|\blin_api_[A-Za-z0-9]{32,}|\bpypi-AgE[A-Za-z0-9_\-]{40,}`,
	`\bSG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
	`\bsk-(?:(?:proj|ant|svcacct|admin|or)-[A-Za-z0-9_\-]{12,}|[A-Za-z0-9]{20,}|(?:[A-Za-z_\-]*[0-9]){2}[A-Za-z0-9_\-]{8,})`,
	`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`,                     // a JSON Web Token
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`, // PEM
	`\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b`,                    // a Telegram bot's token
	`\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{20,}`, // Azure
	`\b[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@]+@`,            // a password in a URL
}, "|"))

// keptOfSecret is how much of a secret stays, to tell which kind it was.
const keptOfSecret = 4

// Redact masks secrets that are known by their form.
func Redact(text string) string {
	return secrets.ReplaceAllStringFunc(text, func(secret string) string {
		return secret[:keptOfSecret] + "…[masked]"
	})
}

// spoken finds a secret by the words around it.
var spoken = regexp.MustCompile(`(?i)(?:(?:\b|_)(?:pass(?:word|wort|phrase|code)?|pwd|pin|secret|api[ _-]?key|access[ _-]?key|token|kennwort|mot de passe|contraseña)\b[^\n]{0,20}?(?::|=|\bis\b|\bist\b|\best\b|\bes\b)\s*["'` + "`" + `]?)(\S{4,})`)

// HasSecret reports whether a text seems to hold a password, a key or a token:
// by its form, by the words around it, or since nobody speaks like that. It
// errs on the side of a secret.
func HasSecret(text string) bool {
	if secrets.MatchString(text) {
		return true
	}
	for _, m := range spoken.FindAllStringSubmatch(text, -1) {
		if strings.ContainsFunc(m[1], unicode.IsDigit) || strings.ContainsAny(m[1], `!#$%&*+=@^~`) {
			return true
		}
	}
	for word := range strings.FieldsSeq(text) {
		if random(strings.Trim(word, "`\"'.,;:()[]<>")) || cardNumber(word) {
			return true
		}
	}
	return cardNumber(text)
}

// random reports whether a word is long and mixed as only machines write them.
func random(word string) bool {
	if len(word) < 20 || strings.Contains(word, "://") || strings.Contains(word, "/") && strings.Contains(word, ".") {
		return false
	}
	var lower, upper, digit bool
	count := map[rune]int{}
	n := 0
	for _, r := range word {
		if r > unicode.MaxASCII {
			return false
		}
		lower, upper, digit = lower || unicode.IsLower(r), upper || unicode.IsUpper(r), digit || unicode.IsDigit(r)
		count[r]++
		n++
	}
	entropy := 0.0
	for _, c := range count {
		p := float64(c) / float64(n)
		entropy -= p * math.Log2(p)
	}
	return digit && (lower && upper && entropy > 3.5 || (lower || upper) && entropy > 3.2 && !strings.ContainsAny(word, "-_."))
}

// digits are the groups in which card numbers are written.
var digits = regexp.MustCompile(`\b(?:[0-9][ -]?){12,18}[0-9]\b`)

// cardNumber reports whether a text holds a payment card's number: 13 to 19
// digits with the check digit of ISO/IEC 7812.
func cardNumber(text string) bool {
	for _, found := range digits.FindAllString(text, -1) {
		sum, double := 0, false
		for i := len(found) - 1; i >= 0; i-- {
			if found[i] < '0' || found[i] > '9' {
				continue
			}
			d := int(found[i] - '0')
			if double {
				if d *= 2; d > 9 {
					d -= 9
				}
			}
			sum, double = sum+d, !double
		}
		if sum%10 == 0 {
			return true
		}
	}
	return false
}
