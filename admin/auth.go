package admin

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
)

// access is what a route asks of its caller. The zero value is the strictest: a route that forgot to say is closed.
type access uint8

const (
	needAdmin   access = iota // a token with scope admin
	needViewer                // a token of either scope
	needMetrics               // nothing on loopback; else the metrics token, or a token of either scope
	needStream                // a token of either scope, or a ticket: streams that browsers open
	needNothing               // public
)

// authorize decides whether r may do what a route with this need does. The error is a problem.
func (a *Admin) authorize(w http.ResponseWriter, r *http.Request, need access) error {
	if need == needNothing || need == needMetrics && a.config.loopback() {
		return nil
	}
	if need == needStream && a.punch(r) {
		return nil
	}
	token, ok := bearer(r)
	if ok && need == needMetrics && matches(a.config.MetricsToken, token) {
		return nil
	}
	identity, err := a.verify(r, token, ok)
	if errors.Is(err, ErrScope) {
		return forbidden("The token needs scope admin or viewer.")
	}
	if err != nil {
		// The reason is for the operator's eyes: to the caller all bad tokens look alike.
		a.log.LogAttrs(r.Context(), slog.LevelInfo, "refused an admin call", slog.String("id", w.Header().Get(requestIDHeader)),
			slog.String("path", r.URL.Path), slog.Any("err", err))
		w.Header().Set("WWW-Authenticate", "Bearer")
		return newProblem(http.StatusUnauthorized, "unauthorized", "A valid bearer token is needed; `hermes-hub token` prints one.")
	}
	if need == needAdmin && identity.Scope != ScopeAdmin {
		return forbidden("The token needs scope admin.")
	}
	return nil
}

func (a *Admin) verify(r *http.Request, token string, ok bool) (Identity, error) {
	if !ok || a.verifier == nil {
		return Identity{}, ErrToken
	}
	return a.verifier.Verify(r.Context(), token)
}

func forbidden(detail string) error { return newProblem(http.StatusForbidden, "forbidden", detail) }

// bearer is the token of the one Authorization header; with two nobody can say which is meant.
func bearer(r *http.Request) (token string, ok bool) {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}
