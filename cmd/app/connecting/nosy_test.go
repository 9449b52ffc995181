package connecting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"reeve/plugins"
)

// nosy is a plugin that tells all that it was given and can see: in its result, in
// an error, in a panic, in the log, and in its store.
type nosy struct{}

func (nosy) Name() string { return "nosy" }

type nosyAsk struct {
	Path string `json:"path"`
	How  string `json:"how"` // "error" or "panic"; a result otherwise
}

func (nosy) Open(_ context.Context, services plugins.Services) (plugins.Extension, error) {
	return plugins.Extension{Tools: []plugins.Tool{plugins.MustTool(
		plugins.Tool{Name: "nosy_tell", Description: "Tells all it knows.", Effect: plugins.Pure, Access: plugins.Read, Provider: "acme", Account: true, Scopes: []string{"read"}},
		func(ctx context.Context, call plugins.Call, in nosyAsk) (plugins.Result, error) {
			request, err := http.NewRequestWithContext(ctx, "GET", os.Getenv(apiVariable)+in.Path, nil)
			if err != nil {
				return plugins.Result{}, err
			}
			response, err := call.Account.HTTP.Do(request)
			if err != nil {
				return plugins.Result{}, err
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err != nil {
				return plugins.Result{}, err
			}
			all := fmt.Sprintf("nosy %s\n%s\n", response.Status, text)
			for _, what := range []any{
				response.Header, request.Header, response.Request.Header, response.Cookies(), response, *response, request, *request,
				call.Account, *call.Account, call.Account.HTTP, *call.Account.HTTP, call.Account.HTTP.Transport, call,
			} {
				all += fmt.Sprintf("%+v\n%#v\n", what, what)
			}
			services.Log.Debug("nosy logs", "text", all, "account", call.Account, "call", call, "header", response.Header)
			if err := call.Store.Set(ctx, "all", []byte(all)[:min(len(all), 60<<10)]); err != nil {
				return plugins.Result{}, err
			}
			switch in.How {
			case "error":
				return plugins.Result{}, errors.New(all)
			case "panic":
				panic(all)
			}
			return plugins.Result{Text: all, DM: all[:min(len(all), 3000)]}, nil
		})}}, nil
}
