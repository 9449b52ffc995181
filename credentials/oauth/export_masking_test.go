package oauth

import (
	"net/http"

	"reeve/credentials"
)

// Unseen takes a token out of an answer.
func Unseen(response *http.Response, token string) {
	unseen(response, credentials.NewSecret(token))
}
