// Package oauth connects people's accounts at providers, keeps their tokens fresh,
// and spends them: each for its own person alone, for one call at a time. What a
// provider is, is data (Provider); where its accounts are kept is the vault of
// package credentials.
//
// # A connection
//
//	Begin ──> a link ── GET, POST /connect/... ──> the provider ──> GET /callback/NAME
//	            │                                                        │
//	            │                                  a token, pending: the page shows a code
//	            │                                                        │
//	            │                                            Enter, in Slack, by its person
//	            │                                                        │
//	            └─> a code, or a newer one (device flow) ──> Run polls ──> the address is his
//	                                                                     │
//	                              proven ──> stored ──> waits ended ──> told ──> over
//
// O1: an account is connected only for the person who has proved that the browser,
// or the address, is his. The state of a browser's attempt counts once, for ten
// minutes, for the provider's own callback and in that browser alone; opening the
// link again ends it. A token that is not proven is used by nobody and is revoked.
//
// O2: each step replaces the state that it has read, so that of several processes
// one does it. From "proven" on every step can be done again, and Run goes on with
// what a process has left until the person was told. The right to put the account is
// a permit (Vault.Permit), got with the proof, or with a device code; Disconnect
// takes it back. So an account is put once, and not after its person has
// disconnected, and every connection and its end stands in the audit log.
//
// # A token
//
// O3: a refresh token is spent once. The right to it is written down first
// (Vault.Intend). What became of it:
//
//	the provider was not reached            nothing: tried again with the next call
//	it answered with an error of the moment nothing: tried again with the next call
//	it answered with new tokens             they are stored, whoever has stopped meanwhile
//	it refused for good                     the account has to be connected again
//	its answer was lost, or cannot be read  the same, for nobody knows whether it is spent
//	the process died                        the same, when the intent's time is over
//	disconnected or replaced meanwhile      the new tokens are revoked
//
// O4: every request reads the vault. What is disconnected, in whichever process, is
// not used by the next request. A 401 deletes nothing: another token is got once, and
// then the provider is asked; only when it refuses too the account has to be
// connected again.
//
// # A call
//
// O5: the client of an account (Open) sends the token to the provider's own hosts
// over https and to no other, drops what a plugin says of itself in its place,
// holds a call that reads to what reads, and is dead when its call is over. No
// plugin can see the token: not in the request that comes back, not by a trace.
//
// Errors hold no word of a provider but error codes that are known.
package oauth
