package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes-hub/admin"
	"hermes-hub/configs"
)

// adminFlags are the flags of the commands that ask a running hub.
type adminFlags struct {
	config  string
	dataDir string
	url     string
}

func (f *adminFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.config, "config", "", "configuration file of the running hub")
	c.Flags().StringVar(&f.dataDir, "data-dir", "", "data dir of the running hub")
	c.Flags().StringVar(&f.url, "admin", "", "base URL of its admin plane, e.g. http://127.0.0.1:7401")
}

// settle finds the configuration that the flags point at. A hub that runs without a file (the demo) is reached by its
// data dir and address alone.
func (f *adminFlags) settle(w world) (*configs.Config, error) {
	cfg, err := load(w, f.config)
	if _, missing := errors.AsType[*configs.NotFoundError](err); missing && f.config == "" && f.dataDir != "" {
		cfg, err = &configs.Config{}, nil
		cfg.Admin.Audience, cfg.Admin.Listen = "hermes-hub", configs.DefaultAdminListen
	}
	if err != nil {
		return nil, err
	}
	if f.dataDir != "" {
		cfg.Server.DataDir = f.dataDir
	}
	return cfg, nil
}

// base is the admin plane's URL. A plane that listens everywhere is asked on loopback.
func (f *adminFlags) base(cfg *configs.Config) string {
	if f.url != "" {
		return strings.TrimSuffix(f.url, "/")
	}
	host, port, err := net.SplitHostPort(cfg.Admin.Listen)
	if err != nil {
		return "http://" + cfg.Admin.Listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// mint makes a token from the hub's own secret.
func mint(cfg *configs.Config, scope admin.Scope, ttl time.Duration, subject string) (string, error) {
	if c := cfg.Admin; c.JWTSecret.Empty() && (c.JWKSURL != "" || c.PublicKeyFile != "") {
		return "", errors.New("tokens are issued elsewhere: admin.jwks_url or admin.public_key_file is set, and the hub holds no signing key")
	}
	secret, err := adminSecret(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	return admin.Mint(secret, cfg.Admin.Audience, cfg.Admin.Issuer, subject, scope, ttl, time.Now())
}

func tokenCommand(w world) *cobra.Command {
	var f adminFlags
	var scope, subject string
	var ttl time.Duration
	c := &cobra.Command{
		Use:   "token",
		Short: "Print an admin token, alone on stdout",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := f.settle(w)
			if err != nil {
				return err
			}
			token, err := mint(cfg, admin.Scope(scope), ttl, subject)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(w.stdout, token)
			return err
		},
	}
	f.add(c)
	c.Flags().StringVar(&scope, "scope", "admin", "admin or viewer")
	c.Flags().StringVar(&subject, "subject", "cli", "who the token is for")
	c.Flags().DurationVar(&ttl, "ttl", time.Hour, "how long it is good for, at most 24h")
	return c
}

func explainCommand(w world) *cobra.Command {
	var f adminFlags
	var q struct {
		Role      string `json:"role,omitempty"`
		Model     string `json:"model,omitempty"`
		Session   string `json:"session,omitempty"`
		At        string `json:"at,omitempty"`
		RequestID string `json:"request_id,omitempty"`
	}
	var raw bool
	c := &cobra.Command{
		Use:   "explain",
		Short: "Ask the running hub which account would (or did) serve, and why each other not",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if q.Role == "" && q.RequestID == "" {
				return usageError{errors.New("name a role with --role, or a request with --request")}
			}
			body, err := json.Marshal(q)
			if err != nil {
				return err
			}
			answer, err := ask(c.Context(), w, &f, body)
			if err != nil {
				return err
			}
			return printExplanation(w.stdout, answer, raw)
		},
	}
	f.add(c)
	c.Flags().StringVar(&q.Role, "role", "", "role id or alias")
	c.Flags().StringVar(&q.Model, "model", "", "model a client would ask for")
	c.Flags().StringVar(&q.Session, "session", "", "session a client would name")
	c.Flags().StringVar(&q.At, "at", "", "moment to look at, RFC 3339; now in its absence")
	c.Flags().StringVar(&q.RequestID, "request", "", "explain what became of this request (X-Hub-Request-Id)")
	c.Flags().BoolVar(&raw, "json", false, "print the answer as it came")
	return c
}

// ask posts an explain query to the running hub.
func ask(ctx context.Context, w world, f *adminFlags, body []byte) ([]byte, error) {
	cfg, err := f.settle(w)
	if err != nil {
		return nil, err
	}
	token, err := mint(cfg, admin.ScopeViewer, time.Minute, "explain")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.base(cfg)+"/admin/v1/explain", bytes.NewReader(body))
	if err != nil {
		return nil, usageError{err}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the hub at %s: %w; is it running?", f.base(cfg), err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("ask the hub: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the hub answered %d: %s", res.StatusCode, problemDetail(answer))
	}
	return answer, nil
}

func problemDetail(body []byte) string {
	var p struct{ Title, Detail string }
	if json.Unmarshal(body, &p) != nil {
		return strings.TrimSpace(string(body[:min(len(body), 200)]))
	}
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}

func healthcheckCommand(w world) *cobra.Command {
	var f adminFlags
	c := &cobra.Command{
		Use:   "healthcheck",
		Short: "Exit 0 when the hub is ready: for an image without a shell",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := f.settle(w)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), 3*time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.base(cfg)+"/readyz", http.NoBody)
			if err != nil {
				return usageError{err}
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return fmt.Errorf("not ready: %w", err)
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK {
				return fmt.Errorf("not ready: %s answered %d", f.base(cfg)+"/readyz", res.StatusCode)
			}
			return nil
		},
	}
	f.add(c)
	return c
}
