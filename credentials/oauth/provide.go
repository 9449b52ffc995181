package oauth

import (
	"errors"
	"fmt"
)

// Provide makes a provider known while the service runs, in the place of an
// earlier one of its name. Those of Options stay as they are.
func (s *Service) Provide(c Configured) error {
	c.Provider = c.withDefaults()
	if err := c.check(len(s.o.Outbound.Allow) > 0); err != nil {
		return fmt.Errorf("provider %s: %w", c.Name, err)
	}
	if c.ClientID == "" {
		return fmt.Errorf("provider %s: it has no client id", c.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fixed[c.Name] {
		return fmt.Errorf("provider %s: %w", c.Name, errFixed)
	}
	s.providers[c.Name] = c
	s.nudge()
	return nil
}

var errFixed = errors.New("it is one of OAUTH_PROVIDERS")

// Withdraw takes out what Provide has made known. People's accounts there stay,
// and are used again when it is known again.
func (s *Service) Withdraw(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fixed[name] {
		delete(s.providers, name)
	}
}

// provider finds one by its name.
func (s *Service) provider(name string) (Configured, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.providers[name]
	return c, ok
}

// none reports whether there is no provider.
func (s *Service) none() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.providers) == 0
}

// Callback is the address of ours that is registered at a provider; empty: there
// is none, since there is no PUBLIC_URL.
func (s *Service) Callback(provider string) string {
	if s.o.PublicURL == "" {
		return ""
	}
	return callbackURL(s.o.PublicURL, provider)
}
