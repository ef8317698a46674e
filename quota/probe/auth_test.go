package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// wallet holds tokens, of which only "good…" are taken.
type wallet struct {
	mu      sync.Mutex
	now     map[string]string // by profile
	renewed map[string]string // what Refused finds
	err     error
	log     []string // "current a", "refused a bad"
	changed func(profile string)
}

func (w *wallet) Current(_ context.Context, profile string) (Credential, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, "current "+profile)
	if w.err != nil {
		return Credential{}, w.err
	}
	token := w.now[profile]
	if token == "" {
		return Credential{}, nil
	}
	return Credential{Authorization: "Bearer " + token, OAuth: true}, nil
}

func (w *wallet) Refused(_ context.Context, profile string, used Credential) (Credential, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, "refused "+profile+" "+strings.TrimPrefix(used.Authorization, "Bearer "))
	token := w.renewed[profile]
	if token == "" {
		return Credential{}, false
	}
	w.now[profile] = token
	if w.changed != nil {
		w.changed(profile)
	}
	return Credential{Authorization: "Bearer " + token, OAuth: true}, true
}

func (w *wallet) set(profile, token string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now[profile] = token
}

func (w *wallet) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	log := w.log
	w.log = nil
	return log
}

// transport answers as OpenCode Go does, and refuses what is not "good…".
func (w *wallet) transport(calls *counter) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer good") {
			return openCode(calls)(r)
		}
		calls.add(1)
		return answer(401, `{"type":"error","error":{"type":"AuthError","message":"Invalid API key."}}`), nil
	}
}

// TestQ22OneRefresh (Q22): after a 401 the credential is renewed once and the step asked once more; a second 401 is the end
// of it, with the contract's reason, and a credential that was refused is not sent again.
func TestQ22OneRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls counter
		w := &wallet{now: map[string]string{"a": "old"}, renewed: map[string]string{"a": "good"}}
		p := prober(t, w.transport(&calls), w, nil, opencode("a"))
		if r := refresh(t, p, "a", false); r.Outcome != Measured || calls.take() != 3 {
			t.Errorf("renewed: %s", tell(r))
		}
		if log := w.take(); !slices.Equal(log, []string{"current a", "refused a old"}) {
			t.Errorf("asked the wallet %q", log)
		}

		w.now["a"], w.renewed["a"] = "old", "bad"
		r := refresh(t, p, "a", true)
		if r.Outcome != Auth || r.UnavailableRU != "Авторизация истекла — обновите подключение" || r.UnavailableEN == "" || calls.take() != 2 {
			t.Errorf("refused twice: %s", tell(r))
		}
		if log := w.take(); !slices.Equal(log, []string{"current a", "refused a old"}) {
			t.Errorf("asked the wallet %q", log)
		}
		if len(r.Readings) != 1 {
			t.Errorf("what was measured before is gone: %s", tell(r))
		}
		for range 10 {
			time.Sleep(300 * time.Second)
			if r := refresh(t, p, "a", false); r.Outcome != Auth || calls.take() != 0 {
				t.Fatalf("the refused credential was sent again: %s", tell(r))
			}
		}
		time.Sleep(600 * time.Second) // an hour in all: it may have been the provider's mistake
		if refresh(t, p, "a", false); calls.take() != 2 {
			t.Error("it was not tried after an hour")
		}
		w.set("a", "good-2")
		time.Sleep(300 * time.Second)
		if r := refresh(t, p, "a", false); r.Outcome != Measured || calls.take() == 0 {
			t.Errorf("with a new credential: %s", tell(r))
		}
	})
}

// TestQ22OneRefreshInALook (Q22): a renewed credential that one endpoint takes and the next one refuses is not renewed again.
func TestQ22OneRefreshInALook(t *testing.T) {
	w := &wallet{now: map[string]string{"a": "old"}, renewed: map[string]string{"a": "good"}}
	p := prober(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/usage") {
			return answer(401, ""), nil
		}
		return w.transport(new(counter))(r)
	}), w, nil, opencode("a"))
	if r := refresh(t, p, "a", false); r.Outcome != Auth {
		t.Errorf("%s", tell(r))
	}
	if log := w.take(); !slices.Equal(log, []string{"current a", "refused a old"}) {
		t.Errorf("asked the wallet %q", log)
	}
}

// TestS19SavingATokenStartsNothing (S19): in the Python hub the token that a look saved told everybody that the account's
// credential had changed, which started the next look.
func TestS19SavingATokenStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls counter
		w := &wallet{now: map[string]string{"a": "old", "b": "bad"}, renewed: map[string]string{"a": "good", "b": "bad-too"}}
		p := prober(t, w.transport(&calls), w, nil, opencode("a"), opencode("b"))
		w.changed = func(profile string) {
			go func() { // as it comes from a watcher of files: during the look, and after it
				p.CredentialChanged(profile)
				time.Sleep(time.Second)
				p.CredentialChanged(profile)
			}()
		}
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { _ = p.Run(ctx) })
		time.Sleep(299 * time.Second)
		// a: models, refused, models, usage. b: models, refused, models; told of the change it looks, and sees the same token.
		if n := calls.take(); n != 3+2 {
			t.Errorf("%d calls, want 5", n)
		}
		cancel()
		run.Wait()
	})
}

// TestCredentialChanged: who signs in again need not wait for the schedule; nothing else starts a look.
func TestCredentialChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls counter
		w := &wallet{now: map[string]string{}}
		p := prober(t, w.transport(&calls), w, nil, opencode("a"))
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { _ = p.Run(ctx) })
		synctest.Wait()
		if r, _ := p.Last("a"); r.Outcome != Unconfigured || calls.take() != 0 {
			t.Errorf("without a credential: %s", tell(r))
		}
		w.set("a", "good")
		p.CredentialChanged("a")
		p.CredentialChanged("nobody")
		synctest.Wait()
		if r, _ := p.Last("a"); r.Outcome != Measured || calls.take() != 2 {
			t.Errorf("after signing in: %s", tell(r))
		}
		p.CredentialChanged("a")
		synctest.Wait()
		if n := calls.take(); n != 0 {
			t.Errorf("%d calls for a credential that was fine", n)
		}
		cancel()
		run.Wait()
	})
}

// TestCredentialTrouble: what the wallet says decides before anything is asked.
func TestCredentialTrouble(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Outcome
	}{
		{fmt.Errorf("refresh token reused: %w", ErrAuthRequired), Auth},
		{errors.New("read the file: permission denied"), Failed},
		{nil, Unconfigured},
	} {
		var calls counter
		w := &wallet{err: c.err}
		p := prober(t, answering(&calls, 200, "{}"), w, nil, opencode("a"))
		if r := refresh(t, p, "a", true); r.Outcome != c.want || calls.take() != 0 || r.UnavailableRU == "" {
			t.Errorf("%v: %s", c.err, tell(r))
		}
	}
}

// TestCredentialPrintsNothing: it stands in structures that somebody may print.
func TestCredentialPrintsNothing(t *testing.T) {
	c := Credential{Authorization: "Bearer canary", AccountID: "canary", Project: "canary"}
	for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %#v %s", c, c, c), c.LogValue().String()} {
		if strings.Contains(text, "canary") {
			t.Errorf("prints %q", text)
		}
	}
}
