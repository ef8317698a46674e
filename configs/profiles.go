package configs

import (
	"cmp"
	"fmt"
	"net/http"
	"net/textproto"
	"regexp"

	"hermes-hub/router"
)

// Account is what the file says about a profile beyond router.Profile.
type Account struct {
	Probe     Probe
	KeyFile   string // the file that auth_config names with file:, resolved; "" = the credential stands elsewhere
	Token     bool   // the credential is a token that somebody signed in for, and no key
	OAuthFile string // auth_config.oauth_file, resolved; "" = none
	Refresh   bool   // auth_config.refresh
	TokenURL  string // auth_config.token_url; "" = the provider's own

	ClientID     string        // auth_config.client_id; "" = what the file and its tokens say
	ClientSecret router.Secret // auth_config.client_secret; likewise
	Project      string        // auth_config.project: Google's; "" = asked for
}

// Probe is where an account's usage is asked for.
type Probe struct {
	Enabled bool
	BaseURL string // "" = the provider's own
}

// readProfiles reads the block profiles and notes the ids that chains may name.
func (r *reader) readProfiles(n node) (profiles []router.Profile, accounts []Account) {
	b := n.block()
	if len(b.order) == 0 && (n.absent() || n.value.Kind == mappingKind) {
		n.r.fail(n.at, "profiles: there are none; a file needs at least one account; %s", writeOne)
	}
	for id, n := range b.each() {
		n.checkID("profile", id)
		r.profiles[id] = true
		p, a := r.readProfile(id, n.block())
		profiles, accounts = append(profiles, p), append(accounts, a)
	}
	return profiles, accounts
}

func (r *reader) readProfile(id string, b *block) (router.Profile, Account) {
	defer b.done()
	p := router.Profile{ID: id, Provider: provider(b.get("provider"))}
	b.pythonKeys(id)
	p.DisplayName = b.get("display_name").text(id)
	p.AccountID = b.get("account_id").text(id)
	p.Enabled = b.get("enabled").yes(true)
	p.ColdSpare = b.get("cold_spare").yes(false)
	p.Main = b.get("main").yes(false)
	p.Capabilities = b.get("capabilities").texts()
	p.PreferredModels = b.get("preferred_models").texts()
	p.FallbackModels = b.get("fallback_models").texts()
	p.ModelMap = modelMap(b.get("model_map").block())
	p.MaxConcurrency = slots(b.get("max_concurrency"), p.Provider)
	p.LeaseMode = router.LeaseMode(b.get("lease_mode").oneOf(string(router.LeaseEventual), string(router.LeaseStrict)))
	p.BaseURL = baseURL(b.get("custom_base_url"), p.Provider)
	p.Protocol = protocol(b.get("protocol"), p.Provider)
	p.ContextLength = int(b.get("context_length").whole(0, 0))

	// A disabled account may lack its secrets: it is not used.
	severity := Error
	if !p.Enabled {
		severity = Warning
	}
	p.Headers = headers(b.get("headers").block(), severity)
	p.ProxyURL = proxyURL(b.get("proxy_url"), severity)
	var a Account
	p.Credential, a = r.readAuth(b.get("auth_config").block(), severity)
	a.Probe = readProbe(b.get("probe").block())
	return p, a
}

// pythonKeys takes note of what files of the Python hub have and the hub does not act on.
func (b *block) pythonKeys(id string) {
	if n := b.get("profile_id"); !n.absent() && n.text(id) != id {
		n.warn(" is ignored: the id is the name of the block, %s", id)
	}
	if n := b.get("request_options"); !n.absent() {
		n.warn(" is ignored: requests are passed on as the client made them")
	}
}

// provider reads a provider's id or alias. The Python hub takes a profile without one for Antigravity's.
func provider(n node) router.Provider {
	id := n.text("")
	if id == "" {
		if n.absent() {
			n.warn(" is absent: antigravity, as in the Python hub")
		}
		id = "antigravity"
	}
	p, ok := router.ProviderByID(id)
	if !ok {
		hint := cmp.Or(didYouMean(id, router.ProviderIDs()), "; openai-compatible is the one for a service that is not listed")
		n.fail(": there is no provider %s%s", shown(id), hint)
	}
	return p
}

func modelMap(b *block) map[string]string {
	models := map[string]string{}
	for asked, n := range b.each() {
		if n.blank() {
			n.fail(" is empty, want the name of a model")
		}
		models[asked] = n.text("")
	}
	return models
}

// slots reads max_concurrency; 0 is unlimited. Subscriptions default to one call at a time, as in the Python hub.
func slots(n node, p router.Provider) int {
	def := 0
	if p.Subscription {
		def = 1
	}
	if n.absent() {
		return def
	}
	switch v := n.value.Value; {
	case v == "unlimited":
		return 0
	case v == "0":
		n.fail(": 0 would never let a call through; want 1 or more, unlimited, or enabled: false")
		return def
	case v != "" && !wholeNumber.MatchString(v):
		n.fail(": %s is neither a whole number nor unlimited", shown(v))
		return def
	}
	return int(n.whole(int64(def), 1))
}

func baseURL(n node, p router.Provider) string {
	if url := n.url("http", "https"); url != "" {
		return url
	}
	if p.ID == "opencode-zen" {
		n.warn(" is absent: %s, OpenCode Zen's own; the Python hub took opencode-zen for opencode-go", p.BaseURL)
	}
	if p.BaseURL == "" && p.ID != "" && n.blank() {
		n.fail(" is missing: the provider %s has no address of its own", p.ID)
	}
	return p.BaseURL
}

func protocol(n node, p router.Provider) router.Protocol {
	if name := n.oneOf("",
		string(router.ProtocolChat), string(router.ProtocolMessages), string(router.ProtocolResponses),
		string(router.ProtocolGemini), string(router.ProtocolCloudCode),
	); name != "" {
		return router.Protocol(name)
	}
	return p.Protocol
}

// headers reads extra headers; their values are secrets.
func headers(b *block, s Severity) http.Header {
	b.hushed = true
	h := http.Header{}
	for name, n := range b.each() {
		key := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case checkHeaderName(name) != nil:
			n.fail(": that is not the name of an HTTP header")
		case ownHeaders[key]:
			n.fail(": the hub sets this header itself")
		case h[key] != nil:
			n.fail(": the header stands twice; case makes no difference")
		default:
			if value := n.secret(s); !value.Empty() {
				h[key] = []string{value.Reveal()}
			}
		}
	}
	return h
}

// ownHeaders belong to the connection, so that a configured value would break it.
var ownHeaders = map[string]bool{
	"Host": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true, "Keep-Alive": true,
	"Te": true, "Trailer": true, "Upgrade": true, "Accept-Encoding": true, "Content-Encoding": true,
}

// headerName is a token of RFC 9110.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func checkHeaderName(name string) error {
	if headerName.MatchString(name) {
		return nil
	}
	return fmt.Errorf("%s is not the name of an HTTP header", shown(name))
}

// proxyURL reads the proxy of one account; it may hold a password, so all of it is a secret.
func proxyURL(n node, s Severity) string {
	secret := n.secret(s)
	if secret.Empty() {
		return ""
	}
	if _, err := parseURL(secret.Reveal(), "http", "https", "socks5", "socks5h"); err != nil {
		n.fail(": %v", err)
	}
	return secret.Reveal()
}

func readProbe(b *block) Probe {
	defer b.done()
	return Probe{Enabled: b.get("enabled").yes(true), BaseURL: b.get("base_url").url("http", "https")}
}
