// Package credentials keeps the accounts that people have connected: sealed, each
// for its owner alone, and spent by one process at a time. It also keeps the audit
// log of what was done with them.
//
// # Seals
//
// Every record has a data key of its own, which is sealed with one of the
// operator's keys (CREDENTIAL_KEYS) and seals the record. Both layers are bound to
// what the record is, to the deployment, the person and the provider (see Binding),
// so that a record that is put in another's place opens for nobody. A new key needs
// only the data keys sealed anew; Rotate does that while the bot works.
//
// # The life of a record
//
//	           Put (connected)
//	                │
//	                ▼      Intend               until passes
//	Swap ┌──────► live ──────────► refreshing ──────────────► broken
//	     └──────── ▲ ▲                │   │                    │  │
//	               │ └─ Release ──────┘   │                    │  │
//	               └──── Settle ──────────┴── (late) Settle ───┘  │
//	               └──────────────────── Swap (Refused) ──────────┘
//
// Every state of a record has a revision that no other state ever has, and every
// change names the revision that it replaces: what was read before another's change
// is refused (ErrChanged). Put and Delete alone end any state.
//
// A provider may answer a refresh token once, and take a second try for a theft
// that ends the whole account. So the right to spend it is written down before
// the provider is asked, in the same step that finds the record unchanged: Intend,
// of which one succeeds for each revision. Its holder alone can Settle. If he dies
// between the provider and the store, nobody knows whether the token was spent,
// and nobody spends it again: the record is broken, and the person connects the
// account again. While the record refreshes, whoever needs it reads it again in a
// while.
//
// Put needs a permit, which it spends, and Delete takes back all that are out. So a
// connection that its process has left half-way is put once, however often it is
// tried, and none that was proved before its owner disconnected is put after it.
//
// Times of intents are judged by the store's clock alone.
//
// # Steps and failures
//
// Each step is one script on one key's slot, and answers a repeated call as it
// answered the first, so that an answer that was lost is asked for again. Nothing is
// kept in memory. What cannot be opened (ErrNoKeys, ErrUnknownKey, ErrWrongKey,
// ErrDamaged) is an error of its reader, and stays as it is.
package credentials
