package credential

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/router"
)

// tokens are what a file holds.
type tokens struct {
	access       router.Secret // what calls are made with: a token, or a key
	kind         Kind
	refresh      router.Secret // empty = it cannot be refreshed
	id           router.Secret // a JSON Web Token about the user
	expires      time.Time     // of access; zero = unknown
	account      string        // ChatGPT's
	project      string        // Google's
	email, plan  string        // as the file has them, beside the tokens
	clientID     string        // of the OAuth client that they were given to
	clientSecret router.Secret
}

// format is one row of the table of files: how a program keeps its user's tokens, and how they are refreshed. One row
// adds a program.
type format struct {
	name      string   // in messages
	mend      string   // what its user does to sign in again
	providers []string // whose accounts have such files

	marks  func(doc gjson.Result) bool // what no other row's files have; nil = nothing
	roots  []string                    // where the tokens may stand, "" = at the top; the first place that has one counts
	names  names
	millis bool                                                   // the usual expiry is in milliseconds
	more   func(doc, at gjson.Result, provider string, t *tokens) // what else the file tells; nil = nothing
	stamp  string                                                 // path of the instant of the last refresh, RFC 3339; "" = none
	locked func(path string) []string                             // folders that the program makes while it refreshes; nil = none

	tokenURL   string
	clientID   string // the program's own, for files that name none
	form       bool   // the request is a form, else JSON
	needSecret bool   // the endpoint takes no refresh without the client's secret
}

// names are what the fields are called, the usual one first.
type names struct{ access, refresh, id, expires []string }

// formats is the table. A file is of the row whose mark it has, else of its account's provider's, else of the last.
func formats() []*format { return []*format{codexFile(), claudeFile(), googleFile(), plainFile()} }

// formatOf finds the row for a file's content. It fails when the file bears the mark of another provider's program.
func formatOf(doc gjson.Result, provider string) (f *format, foreign bool) {
	rows := formats()
	ofProvider := slices.IndexFunc(rows, func(f *format) bool { return slices.Contains(f.providers, provider) })
	if marked := slices.IndexFunc(rows, func(f *format) bool { return f.marks != nil && f.marks(doc) }); marked >= 0 {
		return rows[marked], ofProvider >= 0 && ofProvider != marked
	}
	if ofProvider >= 0 {
		return rows[ofProvider], false
	}
	return rows[len(rows)-1], false
}

// root is the path of the object that holds the tokens, "" for the top.
func (f *format) root(doc gjson.Result) string {
	for _, path := range f.roots {
		if at := within(doc, path); text(at, f.names.access) != "" || text(at, f.names.refresh) != "" {
			return path
		}
	}
	return ""
}

// read takes what the file holds; no access token in it is none found.
func (f *format) read(doc gjson.Result, provider string) tokens {
	at := within(doc, f.root(doc))
	t := tokens{
		access:       router.NewSecret(text(at, f.names.access)),
		kind:         OAuth,
		refresh:      router.NewSecret(text(at, f.names.refresh)),
		id:           router.NewSecret(cmp.Or(text(at, f.names.id), text(doc, f.names.id))),
		email:        presentable(cmp.Or(doc.Get("email").String(), at.Get("email").String())),
		clientID:     presentable(cmp.Or(text(at, clientIDs), text(doc, clientIDs))),
		clientSecret: router.NewSecret(cmp.Or(text(at, clientSecrets), text(doc, clientSecrets))),
	}
	for _, name := range f.names.expires {
		if when := instant(at.Get(name)); !when.IsZero() {
			t.expires = when
			break
		}
	}
	if f.more != nil {
		f.more(doc, at, provider, &t)
	}
	return t.withClaims()
}

var (
	clientIDs     = []string{"client_id", "clientId"}
	clientSecrets = []string{"client_secret", "clientSecret"}
)

// withClaims fills in what the tokens say of themselves and the file does not.
func (t tokens) withClaims() tokens {
	access, id := claimsOf(t.access), claimsOf(t.id)
	if t.expires.IsZero() {
		t.expires = access.expires()
	}
	t.account = cmp.Or(t.account, id.account(), access.account())
	t.clientID = cmp.Or(t.clientID, access.client(false), id.client(true))
	return t
}

// within is the object at a path, the document itself for "".
func within(doc gjson.Result, path string) gjson.Result {
	if path == "" {
		return doc
	}
	return doc.Get(path)
}

// text is the first of the fields that is a text and not blank.
func text(at gjson.Result, names []string) string {
	for _, name := range names {
		if v := at.Get(name); v.Type == gjson.String && strings.TrimSpace(v.Str) != "" {
			return strings.TrimSpace(v.Str)
		}
	}
	return ""
}

// instant reads a time: seconds or milliseconds since 1970, or RFC 3339. Zero when it is none.
func instant(v gjson.Result) time.Time {
	if v.Type == gjson.String {
		when, err := time.Parse(time.RFC3339Nano, v.Str)
		if err != nil || when.Unix() <= 0 || when.Unix() > lastInstant {
			return time.Time{}
		}
		return when.UTC()
	}
	if v.Type != gjson.Number {
		return time.Time{}
	}
	if inMillis(v) {
		return epoch(v.Num / 1000)
	}
	return epoch(v.Num)
}

// inMillis tells milliseconds from seconds: as seconds they would lie beyond the year 5000.
func inMillis(v gjson.Result) bool { return v.Num > 1e11 }
