package telemetry

import "strings"

// Price is what one model costs, in USD per million tokens. A nil rate is not declared: what it would price is unknown,
// not free. A rate of 0 is declared, and free.
type Price struct {
	Model       string // a model as sent upstream, or the beginning of several models' names
	Input       *float64
	Output      *float64
	CachedInput *float64 // of input read from a cache; nil = Input
}

// Cost is an amount in USD, or unknown. The zero value is unknown.
type Cost struct {
	USD   float64
	Known bool
}

// Prices is the pricing of the configuration, read for one model at a time. Immutable; a nil *Prices knows no price.
type Prices struct {
	byModel map[string]Price
	longest int // bytes of the longest name in byModel: no client's long model name costs more than this to look up
}

// NewPrices takes the pricing of the configuration. Of two prices for one model the last wins.
func NewPrices(prices []Price) *Prices {
	p := &Prices{byModel: make(map[string]Price, len(prices))}
	for _, price := range prices {
		p.byModel[price.Model] = price
		p.longest = max(p.longest, len(price.Model))
	}
	return p
}

// Cost prices the usage of one call of model. It is unknown when no price fits the model, when the provider stated no
// usage, or when tokens were used whose rate is not declared. Tokens written to a cache are priced as other input.
func (p *Prices) Cost(model string, u Usage) (usd float64, known bool) {
	price, ok := p.find(model)
	if !ok || !u.Known {
		return 0, false
	}
	cached, cachedRate := min(u.CacheRead, u.Input), price.CachedInput
	if cachedRate == nil {
		cachedRate = price.Input
	}
	total := 0.0
	for _, part := range [...]struct {
		tokens int64
		rate   *float64
	}{
		{u.Input - cached, price.Input},
		{cached, cachedRate},
		{u.Output, price.Output},
	} {
		if part.tokens <= 0 {
			continue
		}
		if part.rate == nil {
			return 0, false
		}
		total += float64(part.tokens) * *part.rate
	}
	return total / 1e6, true
}

// Charge fills in the cost of every attempt of x.
func (p *Prices) Charge(x *Exchange) {
	for i := range x.Attempts {
		a := &x.Attempts[i]
		a.Cost.USD, a.Cost.Known = p.Cost(a.Model, a.Usage)
	}
}

// find returns the price of exactly this model, else that of the longest priced name the model's name begins with:
// gpt-4o prices gpt-4o-2024-08-06 too, but not gpt-4o-mini where that has a price of its own.
func (p *Prices) find(model string) (Price, bool) {
	if p == nil {
		return Price{}, false
	}
	if price, ok := p.byModel[model]; ok {
		return price, true
	}
	for end := min(len(model)-1, p.longest); end > 0; end-- {
		if !atBoundary(model, end) {
			continue
		}
		if price, ok := p.byModel[model[:end]]; ok {
			return price, true
		}
	}
	return Price{}, false
}

// atBoundary reports whether model[:end] is a whole name and what follows only marks a variant of it: it begins with a
// separator that does not carry on a version number. So gpt-5 is not a beginning of gpt-5.5 or gpt-51, and claude-opus-4
// none of claude-opus-4-5, which is another model at another price; claude-opus-4-20250514 is claude-opus-4 of one day.
func atBoundary(model string, end int) bool {
	rest := model[end:]
	if !strings.ContainsRune("-@:/_.", rune(rest[0])) {
		return false
	}
	if !isDigit(model[end-1]) {
		return true
	}
	digits := 0
	for digits < len(rest)-1 && isDigit(rest[1+digits]) {
		digits++
	}
	const year = 4 // as many digits begin a date; fewer are a part of a version
	return digits == 0 || digits >= year
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
