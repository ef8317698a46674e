package main

import (
	"context"
	"errors"
	"time"

	"hermes-hub/admin"
	"hermes-hub/admin/hub"
	"hermes-hub/configs"
	"hermes-hub/quota"
	"hermes-hub/quota/probe"
)

// operations carry out what an operator wants of an account. Each returns when the newest picture shows it.
type operations app

// Switch turns an account on or off.
func (o *operations) Switch(ctx context.Context, profile string, on bool) error {
	return o.flip(ctx, profile, func(s *configs.Switches) {
		if s.Enabled == nil {
			s.Enabled = make(map[string]bool)
		}
		s.Enabled[profile] = on
	})
}

// SetMain makes an account the main one.
func (o *operations) SetMain(ctx context.Context, profile string) error {
	return o.flip(ctx, profile, func(s *configs.Switches) { s.Main = o.switches.file.MainOf(profile) })
}

func (o *operations) flip(ctx context.Context, profile string, change func(*configs.Switches)) error {
	if err := (*app)(o).flip(ctx, profile, change); err != nil {
		return err
	}
	return o.picture.store.Publish(ctx)
}

// ClearCooldown forgets what stands against an account.
func (o *operations) ClearCooldown(ctx context.Context, profile string) error {
	return o.told(ctx, o.router.ClearCooldown(profile))
}

// Simulate puts a bucket of an operator's own in the place of what was measured.
func (o *operations) Simulate(ctx context.Context, profile string, b quota.Bucket) error {
	return o.told(ctx, o.router.Simulate(profile, b))
}

// StopSimulation takes out what was simulated, and asks the provider for what is true. Where that fails nothing is known, and
// the picture says why.
func (o *operations) StopSimulation(ctx context.Context, profile string) error {
	if !o.router.StopSimulation(profile) {
		return admin.ErrUnknownProfile
	}
	if err := o.Refresh(ctx, profile); err != nil {
		return o.picture.store.Publish(ctx)
	}
	return nil
}

// told publishes what an operator has changed.
func (o *operations) told(ctx context.Context, known bool) error {
	if !known {
		return admin.ErrUnknownProfile
	}
	return o.picture.store.Publish(ctx)
}

// Refresh looks at an account now, "" = at every one.
func (o *operations) Refresh(ctx context.Context, profile string) error {
	if profile == "" {
		return o.picture.scheduler.RefreshAll(ctx)
	}
	if _, ok := o.router.Snapshot().Table.Profile(profile); !ok {
		return admin.ErrUnknownProfile
	}
	err := o.picture.scheduler.RefreshAccount(ctx, profile)
	if err != nil && ctx.Err() == nil && !errors.Is(err, hub.ErrStopped) {
		return &admin.LookError{Err: err}
	}
	return err
}

// Test finds out whether an account's provider takes its credential, by asking what the prober asks: that spends nothing.
func (o *operations) Test(ctx context.Context, profile string) (admin.TestResult, error) {
	if _, ok := o.router.Snapshot().Table.Profile(profile); !ok {
		return admin.TestResult{}, admin.ErrUnknownProfile
	}
	began := time.Now()
	look, err := o.accounts.prober.Refresh(ctx, profile, true)
	if errors.Is(err, probe.ErrUnknownProfile) {
		return admin.TestResult{
			Outcome: "not_probed", Took: time.Since(began),
			DetailRU: "Проверка отключена: аккаунт выключен или probe.enabled: false",
			DetailEN: "There is nothing to ask: the account is disabled, or probe.enabled is false",
		}, o.picture.store.Publish(ctx)
	}
	if err != nil {
		return admin.TestResult{}, err
	}
	return admin.TestResult{
		OK: look.Outcome == probe.Measured || look.Outcome == probe.NotExposed, Outcome: string(look.Outcome),
		DetailRU: look.UnavailableRU, DetailEN: look.UnavailableEN, Models: look.Models, Took: time.Since(began),
	}, o.picture.store.Publish(ctx)
}
