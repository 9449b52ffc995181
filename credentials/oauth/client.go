package oauth

import (
	"encoding/json"
	"net/http"
)

// clientURL is where the bot says what it is as a client, which is its client id
// where issuers read that there (OAuth Client ID Metadata Document). Empty: issuers
// would not take the address, since it is not https.
func (s *Service) clientURL(provider string) string {
	if s.o.PublicURL == "" || !safeURL(s.o.PublicURL, len(s.o.Outbound.Allow) > 0) {
		return ""
	}
	return publicPath(s.o.PublicURL, "/client/"+provider)
}

// showClient says it, for a provider at which it is the client id.
func (s *Service) showClient(w http.ResponseWriter, r *http.Request) {
	c, ok := s.provider(r.PathValue("provider"))
	if !ok || c.ClientID != s.clientURL(c.Name) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"client_id": c.ClientID, "client_name": "Reeve", "redirect_uris": []string{callbackURL(s.o.PublicURL, c.Name)},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": "none",
	})
}
