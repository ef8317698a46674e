package quota

import "github.com/tidwall/gjson"

// deepSeekRules are DeepSeek's (api-docs.deepseek.com/quick_start/error_codes): 402 is the balance, 503 is the provider's
// own trouble, and "invalid_request_error" stands on everything.
var deepSeekRules = rules{usage: deepSeekUsage}

// deepSeekUsage reads GET /user/balance: amounts are strings, one for each currency.
func deepSeekUsage(a *answer, v gjson.Result) []Bucket {
	var buckets []Bucket
	for _, info := range v.Get("balance_infos").Array() {
		if left := numberOf(info.Get("total_balance")); left.Known {
			buckets = append(buckets, balanceBucket(a.dialect.bucketPrefix()+".balance_"+codeName(info.Get("currency").Str), left.Value))
		}
	}
	return buckets
}
