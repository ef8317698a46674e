package credential

import (
	"context"
	"time"
)

const (
	lookEvery = 30 * time.Second       // what no watch tells: other machines' writes, folders made later, writes to try again
	settle    = 100 * time.Millisecond // after a touch: a file that is being written is looked at when it is whole
)

// Run watches the files until ctx is done, and then waits for the refreshes under way: a token that was asked for has to
// get into its file. No other starts after that; Current goes on with what there is.
func (k *Keyring) Run(ctx context.Context) error {
	w := newWatch(k.rig.log)
	defer w.close()
	defer k.rig.stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	retry := time.NewTicker(firstWait)
	defer retry.Stop()
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.changed:
			w.follow(k.paths())
			k.touch(ctx) // what happened before the watch began
		case e := <-w.stirs():
			if settled == nil && w.concerns(e.Name) {
				settled = time.After(settle)
			}
		case <-w.losses():
			k.touch(ctx)
		case <-tick.C:
			w.follow(k.paths())
			k.touch(ctx)
		case <-retry.C:
			k.retry(ctx)
		case <-settled:
			settled = nil
			w.follow(k.paths()) // a link may lead elsewhere now
			k.touch(ctx)
		}
	}
}

// touch has every file looked at again.
func (k *Keyring) touch(ctx context.Context) {
	for _, s := range k.files() {
		s.touch(ctx)
	}
}

// retry asks again for tokens that could not be had when they were last asked for. An account without a credential is not
// called, so nobody else would ask: an endpoint that was away for a moment would leave the account out for good.
func (k *Keyring) retry(ctx context.Context) {
	now := k.rig.now()
	for _, a := range *k.accounts.Load() {
		if v, s := a.now(); s != nil && a.renew && !v.again.IsZero() && !now.Before(v.again) {
			s.send(ctx, errand{used: v.credential.Token, renew: true})
		}
	}
}

func (k *Keyring) paths() []string {
	var paths []string
	for _, s := range k.files() {
		paths = append(paths, s.key.file)
	}
	return paths
}
