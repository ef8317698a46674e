package hub

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"hermes-hub/quota"
)

// quotaTTL is how long a measurement counts as fresh.
const quotaTTL = 300

// Why there is nothing to show, where no look has said so.
const (
	notConfiguredRU = "Аккаунт не настроен"
	notConfiguredEN = "The account is not configured"
	notLookedRU     = "Данные лимитов ещё не получены"
	notLookedEN     = "No data about limits has come yet"
)

// quota is what is known of one account's quota: the windows that its provider is known to have, and what else was
// measured. What was not measured is null, and there is a reason where nothing was, or nothing since the last look failed.
func (b *builder) quota(i int, auth AuthState) *QuotaSnapshot {
	p, look := b.table.Profiles[i], b.src.Looks[b.table.Profiles[i].ID]
	s := &QuotaSnapshot{
		AccountID: p.ID, Provider: p.Provider.ID, Buckets: []QuotaBucket{}, StaleAfterSeconds: quotaTTL,
		FetchedAt: published(cmp.Or(look.At, b.now)),
	}
	if auth == NotConfigured {
		s.Source, s.IsEstimated = QuotaUnconfigured, true
		s.UnavailableReason, s.UnavailableReasonEN = Known(notConfiguredRU), Known(notConfiguredEN)
		return s
	}
	measured := append(b.src.Router.Standings[i].Buckets(), b.refused(i)...)
	s.Buckets = b.buckets(p.Provider.ID, measured)
	newest, any := newestOf(measured)
	switch {
	case any:
		s.FetchedAt, s.Source = published(newest.SeenAt), sourceOf(newest.Source)
	case look.Outcome == LookNotExposed, look.Outcome == LookEntitlement, look.Outcome == LookForbidden:
		s.Source = QuotaFromProvider // it has answered: that it tells nothing
	default:
		s.Source = QuotaBaseline
	}
	s.IsEstimated = s.Source == QuotaBaseline || s.Source == QuotaSimulated
	switch {
	case any && (look.Outcome == LookMeasured || look.Outcome == LookNotExposed || !look.At.After(newest.SeenAt)):
	case look.UnavailableRU != "":
		s.UnavailableReason, s.UnavailableReasonEN = Known(look.UnavailableRU), Known(cmp.Or(look.UnavailableEN, look.UnavailableRU))
	case !any:
		s.UnavailableReason, s.UnavailableReasonEN = Known(notLookedRU), Known(notLookedEN)
	}
	return s
}

// refused are the pools that calls were refused for which nothing was measured of and nobody has named: a refusal says that
// nothing is left, and maybe until when. A pool is named as if only its models were known.
func (b *builder) refused(i int) []quota.Bucket {
	prefix := b.table.Profiles[i].Provider.ID
	if own := windows[prefix]; len(own) > 0 {
		prefix, _, _ = strings.Cut(own[0], ".")
	}
	var pools []quota.Bucket
	for _, block := range b.src.Router.Standings[i].Blocks(b.now) {
		if block.State != quota.StateQuota || block.Bucket != "" {
			continue
		}
		id := prefix + ".quota"
		if family, ok := strings.CutPrefix(block.Key, "family:"); ok {
			id = prefix + "." + family + ".model_pool"
		} else if model, ok := strings.CutPrefix(block.Key, "model:"); ok {
			id = prefix + "." + quota.Family(model) + "." + model
		}
		pool := quota.Bucket{ID: id, UsedPercent: quota.Known(100), RemainingPercent: quota.Known(0), SeenAt: block.Since, Source: block.Source}
		if block.Stated {
			pool.ResetAt = block.Until
		}
		pools = append(pools, pool)
	}
	return pools
}

// newestOf is the bucket that was measured last.
func newestOf(measured []quota.Bucket) (newest quota.Bucket, ok bool) {
	for _, b := range measured {
		if !ok || b.SeenAt.After(newest.SeenAt) {
			newest, ok = b, true
		}
	}
	return newest, ok
}

// sourceOf is where a measurement comes from, in the words of the contract.
func sourceOf(s quota.Source) QuotaSource {
	switch QuotaSource(s) {
	case QuotaFromRefusal, QuotaSimulated:
		return QuotaSource(s)
	default:
		return QuotaFromProvider
	}
}

// buckets are the provider's own windows in the order of the contract, then whatever else was measured, by id.
func (b *builder) buckets(provider string, measured []quota.Bucket) []QuotaBucket {
	own := windows[provider]
	var more []quota.Bucket
	for _, m := range measured {
		if !slices.Contains(own, m.ID) {
			more = append(more, m)
		}
	}
	all := make([]QuotaBucket, 0, len(own)+len(more))
	for _, id := range own {
		m := quota.Bucket{ID: id}
		if at := slices.IndexFunc(measured, func(o quota.Bucket) bool { return o.ID == id }); at >= 0 {
			m = measured[at]
		}
		all = append(all, b.bucket(m))
	}
	for _, m := range more {
		all = append(all, b.bucket(m))
	}
	return all
}

// bucket is the view of one pool. The numbers of a window that has been reset since are not known any more.
func (b *builder) bucket(m quota.Bucket) QuotaBucket {
	d := b.described(m.ID)
	v := QuotaBucket{ID: m.ID, DisplayName: d.display, ModelFamily: d.family, Period: d.period, Status: QuotaUnknown}
	if m.ResetAt.IsZero() || m.ResetAt.After(b.now) {
		v.measure(m)
	}
	if !m.ResetAt.IsZero() {
		left := secondsUntil(m.ResetAt, b.now)
		l := b.resets.of(left, func() label { return resetLabel(left) })
		v.ResetAt, v.ResetInSeconds = instant(m.ResetAt), Known(left)
		v.ResetLabelRU, v.ResetLabelEN = Known(l.ru), Known(l.en)
	}
	l := b.remainders.of(remainder{v.RemainingPercent, v.UsedPercent, v.UsedAbsolute, v.RemainingAbsolute, v.LimitAbsolute}, v.label)
	v.LabelRU, v.LabelEN = l.marked(m.Source)
	if QuotaSource(m.Source) == QuotaSimulated {
		v.DisplayName += simulatedEN
	}
	return v
}

// remainder is what a bucket's label depends on.
type remainder struct {
	percent, usedPercent   Maybe[float64]
	used, remaining, limit Maybe[int64]
}

// measure takes over what was measured.
func (v *QuotaBucket) measure(m quota.Bucket) {
	v.UsedPercent, v.RemainingPercent = percentage(m.UsedPercent), percentage(m.RemainingPercent)
	switch {
	case v.RemainingPercent.Known && !v.UsedPercent.Known:
		v.UsedPercent = Known(tidy(100 - v.RemainingPercent.Value))
	case v.UsedPercent.Known && !v.RemainingPercent.Known:
		v.RemainingPercent = Known(tidy(100 - v.UsedPercent.Value))
	}
	v.LimitAbsolute, v.RemainingAbsolute = whole(m.Limit), whole(m.Remaining)
	if m.Limit.Known && m.Remaining.Known {
		v.UsedAbsolute = whole(quota.Known(max(m.Limit.Value-m.Remaining.Value, 0)))
	}
	v.Status = statusOf(v.RemainingPercent, m.Remaining)
}

// statusOf is how full a pool is by what remains of it.
func statusOf(percent Maybe[float64], absolute quota.Number) QuotaStatus {
	switch {
	case percent.Known && percent.Value <= 0, absolute.Known && absolute.Value <= 0:
		return QuotaExhausted
	case !percent.Known:
		return QuotaUnknown
	case percent.Value < LowPercent:
		return QuotaWarning
	default:
		return QuotaHealthy
	}
}

// percentage is a percentage within its bounds: what is used may exceed a limit that was lowered.
func percentage(n quota.Number) Maybe[float64] {
	if !n.Known || math.IsNaN(n.Value) {
		return Maybe[float64]{}
	}
	return Known(tidy(min(max(n.Value, 0), 100)))
}

// tidy is a percentage without the noise of its arithmetic.
func tidy(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// whole is a count in whole units, rounded down; unknown where it is none that JSON's readers can count with.
func whole(n quota.Number) Maybe[int64] {
	if !n.Known || !(math.Abs(n.Value) <= 1<<53) {
		return Maybe[int64]{}
	}
	return Known(int64(math.Floor(n.Value)))
}

// governing is the view of the pool that bounds calls of a model; of none that is measured it is unknown how full it is.
func (b *builder) governing(i int, model, family string) (v QuotaBucket, ok bool) {
	m, ok := b.src.Router.Standings[i].Governing(model, family, b.now)
	if ok {
		for _, v := range b.views[i].QuotaSnapshot.Buckets {
			if v.ID == m.ID {
				return v, true
			}
		}
	}
	return QuotaBucket{Status: QuotaUnknown}, false
}

// described is describe, once for each id of a picture.
func (b *builder) described(id string) description {
	d, ok := b.ids[id]
	if !ok {
		d = describe(id)
		b.ids[id] = d
	}
	return d
}

// description is what an id tells of its bucket: its name for people, the family of models that it is for, the length of
// its window.
type description struct {
	display        string
	family, period Maybe[string]
}

// describe reads an id. The name of a model stands last and may have dots of its own.
func describe(id string) description {
	var d description
	prefix, rest, _ := strings.Cut(id, ".")
	words := strings.SplitN(rest, ".", 2)
	if len(words) == 2 && slices.Contains(pooled, words[0]) {
		d.family = Known(words[0])
	} else {
		d.family = text(familyOf[prefix])
		words = append([]string{prefix}, words...)
	}
	for n, word := range words {
		if known, ok := periods[word]; ok && n > 0 {
			d.period = Known(known)
		}
		words[n] = titleOf(word)
	}
	if !d.period.Known && isRate(rest) {
		d.period = Known("sliding")
	}
	d.display = strings.TrimSpace(strings.Join(words, " "))
	return d
}

// isRate reports whether a bucket is one of those that fill again all the time: so many requests or tokens a minute.
func isRate(name string) bool {
	return slices.ContainsFunc(rates, func(rate string) bool { return strings.HasPrefix(name, rate) })
}
