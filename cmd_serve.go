package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"hermes-hub/configs"
	"hermes-hub/telemetry"
)

// serveFlags are the flags of serve; empty ones leave the file's values.
type serveFlags struct {
	config    string
	over      configs.Flags
	logLevel  string
	logFormat string
	init      bool
}

func serveCommand(w world) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve [--init [FILE]]",
		Short: "Serve the accounts of the configuration file",
		Args:  atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			if f.init {
				return initFile(w, append(args, f.config, configs.DefaultPath(w.getenv)))
			}
			if len(args) > 0 {
				return usageError{fmt.Errorf("serve takes no argument %q; name the file with --config", args[0])}
			}
			return serve(c, w, f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.config, "config", "", "configuration file")
	flags.StringVar(&f.over.Listen, "listen", "", "address of the proxy plane, host:port")
	flags.StringVar(&f.over.AdminListen, "admin-listen", "", "address of the admin plane, host:port")
	flags.StringVar(&f.over.DataDir, "data-dir", "", "where the hub keeps its state")
	flags.StringVar(&f.over.RedisURL, "redis-url", "", "Redis for state shared by several hubs")
	flags.BoolVar(&f.init, "init", false, "write a commented configuration file, never over an existing one, and end")
	logFlags(c, &f)
	return c
}

func logFlags(c *cobra.Command, f *serveFlags) {
	c.Flags().StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	c.Flags().StringVar(&f.logFormat, "log-format", "", "text or json; text on a terminal, else json")
}

// initFile writes the example to the first name there is.
func initFile(w world, names []string) error {
	for _, name := range names {
		if name == "" {
			continue
		}
		if err := configs.Init(name); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w.stdout, "wrote %s: fill in your accounts, then run: hermes-hub check --config %s\n", name, name)
		return err
	}
	return errors.New("no place for a configuration file: neither HOME nor XDG_CONFIG_HOME is set; name one: serve --init FILE")
}

// serve runs the hub on the user's accounts until a signal ends it.
func serve(c *cobra.Command, w world, f serveFlags) error {
	log, err := newLogger(w, f)
	if err != nil {
		return usageError{err}
	}
	hangups, stop := w.collectHangups() // first: a reload that is asked for during the start is not lost, and ends nothing
	defer stop()
	path, _, err := configs.Search(f.config, w.getenv)
	if err != nil {
		return err
	}
	file := &configFile{path: path, getenv: w.getenv, flags: f.over}
	cfg, err := file.load()
	if err != nil {
		return w.print(err)
	}
	if open := cfg.OpenListen(); len(open) > 0 {
		fmt.Fprintln(w.stderr, open.Error())
		return errFinding
	}
	warn(cfg, log)
	a, err := newApp(c.Context(), cfg, log)
	if err != nil {
		return err
	}
	a.reloads = newReloads(file, hangups, a.reload, log)
	defer a.reloads.close()
	return a.run(c.Context())
}

// warn logs what is allowed and still worth a look.
func warn(cfg *configs.Config, log *slog.Logger) {
	for _, p := range cfg.Warnings {
		log.Warn(p.String())
	}
	for _, k := range cfg.NotYet {
		log.Warn(k.String())
	}
	if len(cfg.Proxy.Keys) == 0 {
		log.Warn("no client_keys: everybody on this machine may use the proxy plane with any key or none")
	}
}

// newLogger logs on stderr: text on a terminal, else JSON.
func newLogger(w world, f serveFlags) (*slog.Logger, error) {
	format := f.logFormat
	if format == "" {
		format = "json"
		if file, ok := w.stderr.(*os.File); ok {
			if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
				format = "text"
			}
		}
	}
	return telemetry.NewLogger(w.stderr, f.logLevel, format)
}
