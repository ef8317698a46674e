package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"sync"

	"hermes-hub/admin"
	"hermes-hub/admin/hub"
	"hermes-hub/configs"
)

// switchesKey is where the switches are kept.
const switchesKey = "switches"

// switches are what operators have set beside the file. They survive a restart, and never touch the file.
type switches struct {
	keep hub.Keep // nil: they are forgotten with the process
	log  *slog.Logger

	mu   sync.Mutex // of whoever puts another configuration in force
	file *configs.Config
	set  configs.Switches
}

// restore takes over what was kept. What cannot be read is left out: the file counts.
func (s *switches) restore(ctx context.Context) {
	if s.keep == nil {
		return
	}
	value, ok, err := s.keep.Load(ctx, switchesKey)
	if err == nil && ok {
		err = json.Unmarshal(value, &s.set)
	}
	if err != nil {
		s.log.Error("what was switched over the admin API is lost: the configuration file counts", "error", err)
		s.set = configs.Switches{}
	}
}

// over is the file with these switches on it, which are kept from then on. It runs under mu.
func (s *switches) over(ctx context.Context, file *configs.Config, set configs.Switches) (*configs.Config, error) {
	next, left, err := file.Switched(set)
	if err != nil {
		return nil, err
	}
	if s.keep != nil && !reflect.DeepEqual(left, s.set) {
		value, err := json.Marshal(left)
		if err != nil {
			return nil, err
		}
		if err := s.keep.Save(ctx, switchesKey, value); err != nil {
			return nil, fmt.Errorf("keep the switches: %w", err)
		}
	}
	s.file, s.set = file, left
	return next, nil
}

// flip changes the switches of an account, and puts what follows in force.
func (a *app) flip(ctx context.Context, profile string, change func(*configs.Switches)) error {
	s := a.switches
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.file.Table().Profile(profile); !ok {
		return admin.ErrUnknownProfile
	}
	set := configs.Switches{Enabled: maps.Clone(s.set.Enabled), Main: s.set.Main}
	change(&set)
	next, err := s.over(ctx, s.file, set)
	if err != nil {
		return err
	}
	a.router.Swap(next.Table())
	if err := a.accounts.configure(next); err != nil {
		return err
	}
	a.cfg.Store(next)
	a.log.Info("accounts switched over the admin API", "profile", profile, "enabled", s.set.Enabled, "main", s.set.Main)
	return nil
}
