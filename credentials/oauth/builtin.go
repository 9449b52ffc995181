package oauth

// Builtin are the providers that are known without a file. Their facts are from
// the providers' own documentation; a file of the same name takes their place.
func Builtin() map[string]Provider {
	all := map[string]Provider{}
	for _, p := range []Provider{github(), google(), linear(), notion(), sentry(), atlassian()} {
		all[p.Name] = p.withDefaults()
	}
	return all
}

// docs.github.com: Authorizing OAuth apps; Scopes for OAuth apps; REST API
// endpoints for OAuth authorizations and for emails. Tokens of a GitHub App have
// no scopes: what it may do is in its own settings.
func github() Provider {
	return Provider{
		Name: "github", Title: "GitHub",
		AuthURL:   "https://github.com/login/oauth/authorize",
		TokenURL:  "https://github.com/login/oauth/access_token",
		DeviceURL: "https://github.com/login/device/code",
		Revoke:    Revoke{URL: "https://api.github.com/applications/{client_id}/token", How: "github"},
		UserInfo: UserInfo{
			URL: "https://api.github.com/user", Header: map[string]string{"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
			ID: "id", Name: "login", Emails: "https://api.github.com/user/emails",
		},
		Scopes: Scopes{
			Default: []string{"read:user", "user:email"},
			Implies: map[string][]string{
				"repo": {"public_repo", "repo:status", "repo_deployment", "repo:invite", "security_events"},
				"user": {"read:user", "user:email", "user:follow"}, "admin:org": {"write:org"}, "write:org": {"read:org"},
				"project": {"read:project"},
			},
		},
		Hosts:     []string{"api.github.com", "uploads.github.com"},
		ReadPOST:  []ReadPOST{{Host: "api.github.com", Path: "/graphql", GraphQL: true}},
		AuthStyle: "params", PKCE: true,
	}
}

// developers.google.com/identity: OAuth 2.0 for web server applications, for TV
// and limited-input devices; OpenID Connect. A refresh token is given only with
// access_type=offline, and again only with prompt=consent. The device flow takes
// a client of its own kind, and a short list of scopes.
func google() Provider {
	return Provider{
		Name: "google", Title: "Google",
		AuthURL:   "https://accounts.google.com/o/oauth2/v2/auth",
		TokenURL:  "https://oauth2.googleapis.com/token",
		DeviceURL: "https://oauth2.googleapis.com/device/code",
		Revoke:    Revoke{URL: "https://oauth2.googleapis.com/revoke", How: "rfc7009", Whole: true},
		UserInfo: UserInfo{
			URL: "https://openidconnect.googleapis.com/v1/userinfo",
			ID:  "sub", Name: "email", Email: "email", Verified: "email_verified",
		},
		Scopes: Scopes{Default: []string{"openid", "email"}, Implies: map[string][]string{
			"https://www.googleapis.com/auth/userinfo.email":   {"email"},
			"https://www.googleapis.com/auth/userinfo.profile": {"profile"},
		}},
		Hosts:       []string{"*.googleapis.com"},
		ReadPOST:    []ReadPOST{{Host: "www.googleapis.com", Path: "/calendar/v3/freeBusy"}},
		AuthStyle:   "params",
		PKCE:        true,
		ExtraParams: map[string]string{"access_type": "offline", "prompt": "consent"},
		Issuer:      "https://accounts.google.com",
	}
}

// linear.app/developers/oauth-2-0-authentication: scopes by comma, refresh tokens
// that rotate, access tokens of a day.
func linear() Provider {
	return Provider{
		Name: "linear", Title: "Linear",
		AuthURL:  "https://linear.app/oauth/authorize",
		TokenURL: "https://api.linear.app/oauth/token",
		Revoke:   Revoke{URL: "https://api.linear.app/oauth/revoke", How: "rfc7009", Whole: true},
		UserInfo: UserInfo{
			URL: "https://api.linear.app/graphql", Method: "POST", Body: `{"query":"query { viewer { id name email } }"}`,
			ID: "data.viewer.id", Name: "data.viewer.name", Email: "data.viewer.email",
		},
		Scopes:    Scopes{Default: []string{"read"}, Separator: ",", Implies: map[string][]string{"write": {"issues:create", "comments:create", "timeSchedule:write"}}},
		Hosts:     []string{"api.linear.app"},
		ReadPOST:  []ReadPOST{{Path: "/graphql", GraphQL: true}},
		AuthStyle: "params", PKCE: true,
		ExtraParams: map[string]string{"prompt": "consent"},
	}
}

// developers.notion.com: Authorization; Create, refresh and revoke a token. A
// connection has capabilities in place of scopes, the token request is JSON, and
// its body is refused when there is more in it than Notion knows: so no PKCE.
func notion() Provider {
	return Provider{
		Name: "notion", Title: "Notion",
		AuthURL:  "https://api.notion.com/v1/oauth/authorize",
		TokenURL: "https://api.notion.com/v1/oauth/token",
		Revoke:   Revoke{URL: "https://api.notion.com/v1/oauth/revoke", How: "json", Whole: true},
		UserInfo: UserInfo{
			URL: "https://api.notion.com/v1/users/me", Header: map[string]string{"Notion-Version": "2022-06-28"},
			ID: "bot.owner.user.id", Name: "bot.owner.user.name", Email: "bot.owner.user.person.email",
		},
		Hosts: []string{"api.notion.com"},
		ReadPOST: []ReadPOST{
			{Path: "/v1/search"}, {Path: "/v1/databases/*/query"}, {Path: "/v1/data_sources/*/query"},
		},
		AuthStyle: "header", TokenBody: "json",
		ExtraParams: map[string]string{"owner": "user"},
	}
}

// docs.sentry.io: OAuth applications, which know PKCE and the device flow. An
// organisation's data is at the host of its region.
func sentry() Provider {
	return Provider{
		Name: "sentry", Title: "Sentry",
		AuthURL:   "https://sentry.io/oauth/authorize/",
		TokenURL:  "https://sentry.io/oauth/token/",
		DeviceURL: "https://sentry.io/oauth/device/code/",
		UserInfo: UserInfo{
			URL: "https://sentry.io/oauth/userinfo/",
			ID:  "sub", Name: "email", Email: "email", Verified: "email_verified",
		},
		Scopes: Scopes{Default: []string{"openid", "email"}, Implies: map[string][]string{
			"event:admin": {"event:write"}, "event:write": {"event:read"},
			"project:admin": {"project:write"}, "project:write": {"project:read"},
			"org:admin": {"org:write"}, "org:write": {"org:read"},
			"team:admin": {"team:write"}, "team:write": {"team:read"},
			"member:admin": {"member:write"}, "member:write": {"member:read"},
		}},
		Hosts:     []string{"sentry.io", "us.sentry.io", "de.sentry.io"},
		AuthStyle: "params", PKCE: true,
	}
}

// developer.atlassian.com: OAuth 2.0 (3LO) apps. A refresh token needs
// offline_access, and rotates. Every API is behind api.atlassian.com. No way to
// revoke a token is documented for apps of this kind: people take it back in
// their Atlassian account.
func atlassian() Provider {
	return Provider{
		Name: "atlassian", Title: "Atlassian",
		AuthURL:  "https://auth.atlassian.com/authorize",
		TokenURL: "https://auth.atlassian.com/oauth/token",
		UserInfo: UserInfo{
			URL: "https://api.atlassian.com/me",
			ID:  "account_id", Name: "name", Email: "email",
		},
		Scopes: Scopes{Default: []string{"offline_access", "read:me"}},
		Hosts:  []string{"api.atlassian.com"},
		ReadPOST: []ReadPOST{
			{Path: "/ex/jira/*/rest/api/3/search/jql"}, {Path: "/ex/jira/*/rest/api/2/search/jql"},
			{Path: "/ex/jira/*/rest/api/3/search"}, {Path: "/ex/jira/*/rest/api/2/search"},
		},
		AuthStyle: "params", TokenBody: "json", PKCE: true,
		ExtraParams: map[string]string{"audience": "api.atlassian.com", "prompt": "consent"},
	}
}
