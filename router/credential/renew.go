package credential

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"hermes-hub/router"
)

// serve does what a flight is for.
func (s *store) serve(ctx context.Context, e errand) {
	k := &s.known
	if e.anew {
		k.refused, k.dead, k.failures, k.nextTry, k.locked = router.Secret{}, router.Secret{}, 0, time.Time{}, ""
	}
	s.look()
	if k.unwritten != nil {
		s.writeLater(ctx)
	}
	if k.reading == nil || k.reading.tokens.kind == APIKey {
		return
	}
	if e.refused && k.reading.tokens.access.Equal(e.used) {
		k.refused = e.used
	}
	if e.renew && !k.has(e.used, s.rig.now()) && s.mayRefresh(s.rig.now()) {
		s.renew(ctx, e.used)
	}
}

// look reads the file again. What was known of it before stays while it cannot be understood: it may be half written. A
// file that has gone is another thing: somebody signed out.
func (s *store) look() {
	k := &s.known
	r, p := readFile(s.key.file, s.key.provider, s.key.keys)
	if p != nil {
		if (k.problem == nil || *k.problem != *p) && !(s.key.keys && p.Reason == ReasonFileMissing) {
			s.rig.log.Warn("credential file cannot be used", "file", s.key.file, "reason", string(p.Reason), "problem", p.Detail)
		}
		k.problem = p
		if p.Reason == ReasonFileMissing {
			*k = known{problem: p}
		}
		return
	}
	k.problem = nil
	if r.mode.Perm()&0o077 != 0 && k.warned != r.mode {
		k.warned = r.mode
		s.rig.log.Warn("others can read a credential file: chmod 600 it", "file", s.key.file, "mode", fmt.Sprintf("%04o", r.mode.Perm()))
	}
	sum := sha256.Sum256(r.content)
	if k.reading != nil && sum == k.sum {
		return
	}
	k.sum = sum
	if k.unwritten != nil && r.tokens.access.Equal(k.onDisk) {
		return // something else in the file has changed; its tokens are those that the unwritten ones replace
	}
	if k.reading == nil || !r.tokens.access.Equal(k.reading.tokens.access) {
		k.givenAt, k.failures, k.nextTry, k.locked = time.Time{}, 0, time.Time{}, ""
	}
	k.reading, k.onDisk, k.unwritten = r, r.tokens.access, nil
}

// renew refreshes the tokens, unless somebody else has done so meanwhile.
func (s *store) renew(ctx context.Context, used router.Secret) {
	k := &s.known
	target := s.target()
	unlock, err := s.lock(ctx, target)
	if err != nil {
		why := err.Error()
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			why += ": let the hub write its folder, or set refresh: off"
		}
		if k.locked != why {
			s.rig.log.Warn("tokens are not refreshed", "file", s.key.file, "error", why)
		}
		k.locked = why
		return
	}
	defer unlock()
	k.locked = ""
	for range 2 { // the second for a file that was given another refresh token while ours was refused
		s.look()
		if now := s.rig.now(); k.reading == nil || k.has(used, now) || !s.mayRefresh(now) {
			return
		}
		if !s.refresh(ctx, target) {
			return
		}
	}
	s.look()
}

// refresh asks the endpoint. again: the refresh token is of no use, and the file may hold a newer one by now.
func (s *store) refresh(ctx context.Context, target string) (again bool) {
	k := &s.known
	t := k.reading.tokens
	o := s.endpoint().refresh(ctx, s.rig, s.key.proxyURL, t.refresh)
	log := s.rig.log.With("file", s.key.file)
	switch o.verdict {
	case granted:
		k.failures, k.nextTry = 0, time.Time{}
		s.take(o.grant, target)
	case dead:
		k.dead, k.deadWhy = t.refresh, o.why
		log.Warn("a refresh token was refused", "reason", o.why)
		return true
	case unavailable:
		k.failures++
		k.failed, k.nextTry = o.why, nextTry(k.failures, o.wait, s.rig.now())
		log.Warn("tokens could not be refreshed", "reason", o.why, "again_at", k.nextTry.UTC().Format(time.RFC3339))
	}
	return false
}

// take makes a grant the store's, and the file's unless its owner has written other tokens meanwhile, which are newer or
// another account's, or has signed out.
func (s *store) take(g grant, target string) {
	k := &s.known
	now := s.rig.now()
	base := k.reading
	switch disk, p := readFile(target, s.key.provider, s.key.keys); {
	case p == nil && disk.format != nil && disk.tokens.access.Equal(k.onDisk):
		base = disk
	case p == nil || p.Reason == ReasonFileMissing:
		s.look()
		return
	}
	r, err := s.with(base, g, now)
	if err != nil {
		s.rig.log.Error("new tokens do not fit their file", "file", s.key.file, "error", err)
		return
	}
	k.reading, k.givenAt, k.unwritten = r, now, &g
	s.write(target, r)
}

// with is the reading of a file in which the grant stands.
func (s *store) with(base *reading, g grant, now time.Time) (*reading, error) {
	content, err := base.format.renewed(base.content, g, now)
	if err != nil {
		return nil, err
	}
	r, p := parseFile(s.key.file, content, s.key.provider, false)
	if p != nil {
		return nil, p
	}
	if g.expires(now).IsZero() {
		r.tokens.expires = time.Time{} // what the file says is of the token before; believed, it would be refreshed at every call
	}
	return r, nil
}

// write brings what is unwritten into the file. When that fails the tokens are kept and the write is tried again.
func (s *store) write(target string, r *reading) {
	k := &s.known
	if err := replaceFile(target, r.content); err != nil {
		s.rig.log.Error("refreshed tokens are not in their file yet: they are kept in memory, and lost when the hub ends", "file", s.key.file, "error", err)
		return
	}
	k.sum, k.onDisk, k.unwritten = sha256.Sum256(r.content), r.tokens.access, nil
	s.rig.log.Info("tokens refreshed", "file", s.key.file)
}

// writeLater tries the write again that failed before.
func (s *store) writeLater(ctx context.Context) {
	k := &s.known
	target := s.target()
	unlock, err := s.lock(ctx, target)
	if err != nil {
		return // the log knows that the tokens are not written
	}
	defer unlock()
	s.look()
	if k.unwritten == nil {
		return // the file has newer tokens
	}
	disk, p := readFile(target, s.key.provider, s.key.keys)
	if p != nil || disk.format == nil {
		return
	}
	if r, err := s.with(disk, *k.unwritten, k.givenAt); err == nil {
		s.write(target, r)
	}
}

// lock takes the file's lock, and its owner's.
func (s *store) lock(ctx context.Context, target string) (unlock func(), err error) {
	var folders []string
	if f := s.known.reading.format; f != nil && f.locked != nil {
		folders = f.locked(target)
	}
	return lockFile(ctx, target, folders)
}

// target is the file itself where the path leads through symbolic links: it is what gets replaced, and never the link.
func (s *store) target() string {
	if real, err := filepath.EvalSymlinks(s.key.file); err == nil {
		return real
	}
	return s.key.file
}
