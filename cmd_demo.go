package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"hermes-hub/configs"
	"hermes-hub/proxy/simulator"
)

// The demo's accounts. The first has no quota left when the demo begins.
const (
	demoSpent  = "subscription-1"
	demoSecond = "subscription-2"
	demoSpare  = "api-key-spare"
	demoModel  = "sim-large"
	demoReset  = 2 * time.Hour
)

// demoConfig is the demo's configuration file: the same file, and the same way in, as everybody's.
var demoConfig = template.Must(template.New("demo").Parse(`# The demo's accounts are simulated: they live inside this process.
roles:
  orchestrator:
    preferred_chain: [subscription-1, subscription-2]
    fallback_capabilities: [chat]
profiles:
  subscription-1: &simulated
    display_name: Simulated subscription 1
    provider: openai-compatible
    custom_base_url: {{.Provider}}
    preferred_models: [sim-large]
    max_concurrency: 4
    context_length: 128000
    auth_config: {api_key: simulated-key-1}
  subscription-2:
    <<: *simulated
    display_name: Simulated subscription 2
    auth_config: {api_key: simulated-key-2}
  api-key-spare:
    <<: *simulated
    display_name: Simulated spare
    capabilities: [chat]
    cold_spare: true
    auth_config: {api_key: simulated-key-3}
runs:
  runtimes:
    hermes: {kind: hermes, base_url: "{{.Agent}}"}
`))

// demoProvider is the provider behind those accounts, with the first one's quota spent.
func demoProvider() *simulator.Provider {
	account := func(name, key string) simulator.Account {
		return simulator.Account{
			Name: name, Key: key, Models: []string{demoModel}, Latency: 150 * time.Millisecond, ChunkPace: 40 * time.Millisecond,
			Quota: simulator.Quota{Calls: 1000, Window: demoReset, Style: simulator.QuotaCodex},
		}
	}
	p := simulator.New(account(demoSpent, "simulated-key-1"), account(demoSecond, "simulated-key-2"), account(demoSpare, "simulated-key-3"))
	p.SpendQuota(demoSpent)
	return p
}

func demoCommand(w world) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "Serve simulated accounts and show a failover: no account, key, network or Redis needed",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return demo(c.Context(), w, f) },
	}
	c.Flags().StringVar(&f.over.Listen, "listen", "", "address of the proxy plane (127.0.0.1:7400, else any free port)")
	c.Flags().StringVar(&f.over.AdminListen, "admin-listen", "", "address of the admin plane (127.0.0.1:7401, else any free port)")
	c.Flags().StringVar(&f.over.DataDir, "data-dir", "", "where the demo keeps its state (a temporary folder)")
	logFlags(c, &f)
	return c
}

// demo serves until its context ends. Everything it makes is gone afterwards, unless a data dir was named.
func demo(ctx context.Context, w world, f serveFlags) error {
	log, err := newLogger(w, f)
	if err != nil {
		return usageError{err}
	}
	upstream, stop, err := demoProvider().Listen()
	if err != nil {
		return fmt.Errorf("start the simulated provider: %w", err)
	}
	defer stop()
	agent := demoAgent()
	defer agent.Close()
	address, stopAgent, err := agent.Listen()
	if err != nil {
		return fmt.Errorf("start the simulated agent: %w", err)
	}
	defer stopAgent()
	var file bytes.Buffer
	if err := demoConfig.Execute(&file, struct{ Provider, Agent string }{upstream, address}); err != nil {
		return err
	}
	cfg, err := configs.Parse("demo.yaml", file.Bytes(), w.getenv)
	if err != nil {
		return err
	}
	if f.over.DataDir == "" {
		if f.over.DataDir, err = os.MkdirTemp("", "hermes-hub-demo-"); err != nil {
			return fmt.Errorf("make a data dir: %w", err)
		}
		defer os.RemoveAll(f.over.DataDir)
	}
	if err := cfg.Override(f.over); err != nil {
		return usageError{err}
	}
	if open := cfg.OpenListen(); len(open) > 0 {
		fmt.Fprintln(w.stderr, open.Error())
		return errFinding
	}
	a, err := newApp(ctx, cfg, log)
	if errors.Is(err, syscall.EADDRINUSE) && f.over.Listen == "" && f.over.AdminListen == "" {
		cfg.Proxy.Listen, cfg.Admin.Listen = "127.0.0.1:0", "127.0.0.1:0"
		a, err = newApp(ctx, cfg, log)
	}
	if err != nil {
		return err
	}
	var begun demoRun
	if err := a.show(ctx, func(ctx context.Context) error {
		if err := a.tell(ctx, w.stdout); err != nil {
			return err
		}
		begun, err = a.tellRun(ctx, w.stdout)
		return cmp.Or(err, errDemoRestart)
	}); !errors.Is(err, errDemoRestart) {
		return err
	}
	cfg.Proxy.Listen, cfg.Admin.Listen = a.addr(0), a.addr(1)
	if a, err = newApp(ctx, cfg, log); err != nil {
		return fmt.Errorf("start the hub again: %w", err)
	}
	return a.show(ctx, func(ctx context.Context) error {
		if err := a.tellRest(ctx, w.stdout, begun); err != nil {
			return err
		}
		a.tellHow(w.stdout)
		return nil
	})
}

// show runs the app while tell tells, and goes on serving when that has gone well.
func (a *app) show(ctx context.Context, tell func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var told error
	wg.Go(func() {
		if told = tell(ctx); told != nil {
			cancel()
		}
	})
	err := a.run(ctx)
	cancel()
	wg.Wait()
	return errors.Join(err, told)
}

const demoBody = `{"model":"role:orchestrator","stream":true,"messages":[{"role":"user","content":"Who are you?"}]}`

// tell sends the demo's request and prints what became of it.
func (a *app) tell(ctx context.Context, out io.Writer) error {
	base := "http://" + a.addr(0) + "/r/orchestrator/v1"
	fmt.Fprintf(out, "\nHermes Hub demo. Every account here is simulated; nothing leaves this machine.\n\n")
	fmt.Fprintf(out, "  asked      %s  (one streamed chat request, role orchestrator)\n", base)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewBufferString(demoBody))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return stopped(ctx, fmt.Errorf("send the demo request: %w", err))
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return stopped(ctx, fmt.Errorf("the demo request failed: status %d, %v: %s", res.StatusCode, err, body))
	}
	a.tellTrail(out, res.Header.Get("X-Hub-Request-Id"))
	fmt.Fprintf(out, "  answered   %s attempts, %s in all; the client saw one answer:\n             %s\n", res.Header.Get("X-Hub-Attempts"), time.Since(began).Round(time.Millisecond), strconv.Quote(streamText(body)))
	return nil
}

// tellHow says how to go on.
func (a *app) tellHow(out io.Writer) {
	root := "http://" + a.addr(0)
	base := root + "/r/orchestrator/v1"
	fmt.Fprintf(out, "\nTry it:\n  curl -N %s/chat/completions -H 'Content-Type: application/json' \\\n    -d '%s'\n", base, demoBody)
	fmt.Fprintf(out, "  curl %s/v1/runs -H 'Content-Type: application/json' -d '{\"input\":\"Who are you?\",\"model\":\"%s\"}'\n  curl -N %s/v1/runs/RUN_ID/events\n", root, demoModel, root)
	fmt.Fprintf(out, "  hermes-hub explain --role orchestrator --data-dir %s --admin http://%s\n", a.cfg.Load().Server.DataDir, a.addr(1))
	fmt.Fprintf(out, "\nServing until Ctrl-C: agents at %s, metrics at http://%s/metrics\n\n", base, a.addr(1))
}

// tellTrail tells what each account did.
func (a *app) tellTrail(out io.Writer, id string) {
	e, ok := a.trails.Find(id)
	if !ok {
		return
	}
	for _, c := range e.Candidates {
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("  %-10s %s (simulated)  %s", c.Verdict, c.ProfileID, candidateWhy(c, e.At)), " "))
	}
}

// stopped is err, or nothing when the demo was ended meanwhile.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
