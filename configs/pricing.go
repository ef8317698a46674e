package configs

import "hermes-hub/telemetry"

// readPricing reads the block pricing, in file order.
func readPricing(b *block) []telemetry.Price {
	var prices []telemetry.Price
	for model, n := range b.each() {
		entry := n.block()
		prices = append(prices, telemetry.Price{
			Model:       model,
			Input:       rate(entry.get("input_cost_per_m")),
			Output:      rate(entry.get("output_cost_per_m")),
			CachedInput: rate(entry.get("cached_input_cost_per_m")),
		})
		entry.done()
	}
	return prices
}

// maxRate is far above any price and catches a slip of the unit.
const maxRate = 1e6

// rate reads USD per million tokens; nil is not declared.
func rate(n node) *float64 {
	if v, ok := n.number("number of USD per million tokens", 0, maxRate); ok {
		return &v
	}
	return nil
}
