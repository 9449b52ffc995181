package plugins

// Providers are places where people connect accounts. A plugin has those alone
// whose names begin with its own and "_".
type Providers interface {
	// Callback is the address of ours that is registered at a provider.
	Callback(name string) string
	// Client is the address of ours that says what the bot is as a client, which is
	// its client id where an issuer reads that (OAuth Client ID Metadata Document).
	// Empty: there is none.
	Client(name string) string
	// Provide makes a provider known, in the place of an earlier one of its name.
	Provide(p Provider) error
	// Withdraw takes it out; people's accounts stay.
	Withdraw(name string)
}

// Provider is one server with people's accounts. A token is asked for under the
// name of Resource, refused when it is for another one, and sent nowhere but to
// the host of URL.
type Provider struct {
	Name  string // lower-case letters, digits and "_", at most 32
	Title string
	// URL is the server's address; Resource is what it calls itself (RFC 8707).
	URL, Resource string
	// Issuer is who gives tokens (RFC 8414), at its addresses. The last two may be
	// empty.
	Issuer, AuthURL, TokenURL, RevokeURL, IntrospectURL string
	// RequireIssuer: its callbacks name it (RFC 9207).
	RequireIssuer bool
	// ClientID is what the bot is to the issuer; without a secret it is public.
	ClientID, ClientSecret string
	// ClientInHeader: the secret goes into a header (client_secret_basic).
	ClientInHeader bool
	// Scopes are always asked for.
	Scopes []string
}
