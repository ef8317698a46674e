package credential

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoSecretIsTold walks every path on which something is told (log, error, identity, event) with tokens that are looked
// for in all of it. The token endpoint gives some of them back in its refusals, as endpoints do.
func TestNoSecretIsTold(t *testing.T) {
	canary := func(n int) string { return fmt.Sprintf("Vireo%02dplumage", n) }
	var canaries []string
	for n := range 10 {
		canaries = append(canaries, canary(n))
	}
	access := webToken(map[string]any{"exp": start.Unix() - 1, "jti": canary(1)})
	codex := fmt.Sprintf(`{"tokens":{"access_token":%q,"refresh_token":%q,"id_token":%q},"last_refresh":"x"}`, access, canary(2), canary(3))
	google := fmt.Sprintf(`{"access_token":%q,"refresh_token":%q,"expiry_date":1,"client_id":"c","client_secret":%q}`, canary(4), canary(5), canary(6))
	answers := []string{
		`{"access_token":"` + canary(7) + `","refresh_token":"` + canary(8) + `","id_token":"` + canary(9) + `"}`,
		`{"error":"invalid_grant","error_description":"` + canary(2) + `"}`,
		`{"error":{"code":"` + canary(2) + `","message":"` + canary(5) + `"}}`,
		`<html>` + canary(2),
		`{"error":"` + canary(6) + `"}`,
	}
	var told strings.Builder
	tell := func(b *bench) {
		t.Helper()
		for _, s := range b.files() {
			tells := append([]any{}, s.known.problem, s.shown.Load().problem, s.shown.Load().identity, s.shown.Load().credential)
			fmt.Fprintf(&told, "%v %+v\n", tells, s.shown.Load().credential)
		}
		c, err := b.Current(t.Context(), "one")
		_, _ = b.Refused(t.Context(), "one", c.Token)
		_, again := b.Current(t.Context(), "one")
		fmt.Fprintf(&told, "%+v %v %v %+v %s\n%s\n", c, err, again, b.Identity("one"), b.events(), b.log)
	}
	for _, status := range []int{200, 400, 401, 403, 500} {
		for _, answer := range answers {
			e := newEndpoint(t, replies(status, answer))
			for provider, content := range map[string]string{"openai-codex": codex, "antigravity": google, "claude": codex} {
				src := Source{Provider: provider, Refresh: true, TokenURL: strings.Replace(e.URL, "http://", "http://user:"+canary(0)+"@", 1), ClientSecret: secret(canary(6))}
				tell(newBench(t, src, content))
				src.Refresh = false
				tell(newBench(t, src, content))
			}
		}
	}
	gone := newEndpoint(t, nil)
	gone.Close()
	for _, address := range []string{"http://user:" + canary(0) + "@" + strings.TrimPrefix(gone.URL, "http://"), "http://" + canary(0) + ".invalid", "http://[" + canary(0)} {
		tell(newBench(t, Source{Provider: "openai-codex", Refresh: true, TokenURL: address}, codex))
	}
	for _, content := range []string{canary(1), codex[:len(codex)-20], `{"tokens":"` + canary(1) + `"}`, `["` + canary(1) + `"]`, `{"claudeAiOauth":{"accessToken":"` + canary(1) + `"}}`} {
		tell(newBench(t, Source{Provider: "openai-codex", Refresh: true}, content))
	}
	e := newEndpoint(t, replies(200, answers[0]))
	unwritable := newBench(t, Source{Provider: "openai-codex", Refresh: true, TokenURL: e.URL}, codex)
	if err := os.MkdirAll(filepath.Join(tempName(unwritable.file), "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	tell(unwritable)
	for _, static := range []string{canary(1), access} {
		tell(newBench(t, Source{Static: secret(static)}, ""))
	}
	text := told.String()
	for _, want := range []string{"tokens refreshed", "refresh token was refused", "could not be refreshed", "cannot be used", "not in their file yet", "[redacted]"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing told says %q: a path was not walked", want)
		}
	}
	for _, c := range append(canaries, access, strings.Split(access, ".")[1]) {
		for _, form := range []string{c, strings.ToLower(c), base64.StdEncoding.EncodeToString([]byte(c))} {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%q is told: …%s…", form, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
}
