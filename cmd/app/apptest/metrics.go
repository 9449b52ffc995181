package apptest

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// HTTPAddr is where a process that was given HTTP_ADDR=127.0.0.1:0 shows its
// health and its figures; empty before it says so.
func (p *Process) HTTPAddr() string {
	if lines := p.Journal.With("serving health"); len(lines) > 0 {
		return lines[0].Text("addr")
	}
	return ""
}

// Figure is one of the figures at /metrics, by its name with labels, or
// without: all of them together. It is not known when the process cannot be
// asked or shows none of that name.
func (p *Process) Figure(name string) (sum float64, known bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.HTTPAddr()+"/metrics", nil)
	if err != nil || p.Ended() {
		return 0, false
	}
	// No connection is left behind that a test could take for a leak.
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, false
	}
	defer answer.Body.Close()
	for text := bufio.NewScanner(answer.Body); text.Scan(); {
		rest, ok := strings.CutPrefix(text.Text(), name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' {
			continue
		}
		if value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64); err == nil {
			sum, known = sum+value, true
		}
	}
	return sum, known
}
