package oauth

import "context"

// Sweep does what is due, as Run does it again and again.
func (s *Service) Sweep(ctx context.Context) error { return s.sweep(ctx) }
